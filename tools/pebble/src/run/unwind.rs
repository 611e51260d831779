//! From a stopped place in a component to its callers, by the component's own frame descriptions.
//!
//! A thread mostly waits in a wrapper of the SDK; the line that people look for is the one that called it.

use std::path::Path;

use addr2line::gimli::{
    BaseAddresses, CfaRule, DebugFrame, EhFrame, EndianSlice, LittleEndian, Register, RegisterRule,
    UnwindContext, UnwindSection,
};
use object::{Object, ObjectSection};

/// `ra` and `sp` in the numbering of debug information, which is the processor's.
const RETURN_ADDRESS: Register = Register(1);
const STACK_POINTER: Register = Register(2);
/// Most callers that are looked for.
const DEPTH: usize = 8;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Where a component was stopped.
#[derive(Clone, Copy, Debug)]
pub struct Stopped {
    /// The instruction, or the return address of the call that left the component.
    pub pc: u64,
    /// `pc` is the instruction itself.
    pub exact: bool,
    /// Stack pointer.
    pub sp: u64,
    /// Register `ra`, when known.
    pub ra: Option<u64>,
}

/// Return addresses of the callers, the nearest first. `read` gives a word of the component's memory.
pub fn callers(
    image: &Path,
    stopped: Stopped,
    read: &mut dyn FnMut(u64) -> Option<u64>,
) -> Vec<u64> {
    let mut found = Vec::new();
    let Ok(bytes) = std::fs::read(image) else {
        return found;
    };
    let Ok(file) = object::File::parse(&*bytes) else {
        return found;
    };
    let Stopped {
        mut pc,
        mut exact,
        mut sp,
        mut ra,
    } = stopped;
    while found.len() < DEPTH {
        let Some(step) = step(&file, if exact { pc } else { pc.saturating_sub(1) }) else {
            break;
        };
        let frame = sp.wrapping_add_signed(step.size);
        let caller = match step.return_address {
            Some(offset) => read(frame.wrapping_add_signed(offset)),
            // Not saved: still in its register, which is known only for the innermost function.
            None => ra.take(),
        };
        // A caller cannot have less stack; address 0 ends the chain.
        let Some(caller) = caller.filter(|caller| *caller != 0 && frame >= sp) else {
            break;
        };
        found.push(caller);
        (pc, exact, sp, ra) = (caller, false, frame, None);
    }
    found
}

/// What the description says at one instruction.
struct Step {
    /// Bytes of stack between `sp` and the frame's end.
    size: i64,
    /// Where `ra` is kept, from the frame's end.
    return_address: Option<i64>,
}

fn step(file: &object::File<'_>, address: u64) -> Option<Step> {
    let data = |name: &str| {
        file.section_by_name(name)
            .and_then(|section| section.data().ok())
            .unwrap_or_default()
    };
    let mut bases = BaseAddresses::default();
    if let Some(section) = file.section_by_name(".eh_frame") {
        bases = bases.set_eh_frame(section.address());
    }
    let debug = DebugFrame::new(data(".debug_frame"), LittleEndian);
    let exception = EhFrame::new(data(".eh_frame"), LittleEndian);
    row(&debug, &bases, address).or_else(|| row(&exception, &bases, address))
}

fn row<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    address: u64,
) -> Option<Step> {
    let mut context = UnwindContext::new();
    let row = section
        .unwind_info_for_address(bases, &mut context, address, S::cie_from_offset)
        .ok()?;
    let CfaRule::RegisterAndOffset {
        register: STACK_POINTER,
        offset,
    } = *row.cfa()
    else {
        return None;
    };
    let return_address = match row.register(RETURN_ADDRESS) {
        Some(RegisterRule::Offset(offset)) => Some(offset),
        _ => None,
    };
    Some(Step {
        size: offset,
        return_address,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// `outer` calls `middle`, which has a frame and calls `inner`, a leaf without one.
    const CODE: &str = "
        .globl inner, middle, outer
        inner: .cfi_startproc
        nop
        ret
        .cfi_endproc
        middle: .cfi_startproc
        addi sp, sp, -32
        .cfi_def_cfa_offset 32
        sd ra, 24(sp)
        .cfi_offset ra, -8
        call inner
        ld ra, 24(sp)
        addi sp, sp, 32
        ret
        .cfi_endproc
        outer: .cfi_startproc
        call middle
        ret
        .cfi_endproc
        ";

    #[test]
    fn callers_are_found_through_registers_and_stack() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let (source, image) = (folder.path().join("a.S"), folder.path().join("a.elf"));
        std::fs::write(&source, CODE)?;
        let done = Command::new("riscv64-unknown-elf-gcc")
            .args([
                "-nostdlib",
                "-march=rv64gc",
                "-mabi=lp64d",
                "-Wl,-Ttext=0x100000,-e,inner",
                "-o",
            ])
            .arg(&image)
            .arg(&source)
            .status()?;
        assert!(done.success());
        let bytes = std::fs::read(&image)?;
        let file = object::File::parse(&*bytes)?;
        let address = |name: &str| {
            file.symbol_by_name(name)
                .map_or(0, |symbol| object::ObjectSymbol::address(&symbol))
        };
        let (in_middle, in_outer) = (address("middle") + 8, address("outer") + 2);
        let mut read = |at: u64| (at == 0x8000 + 24).then_some(in_outer);
        let stopped = Stopped {
            pc: address("inner"),
            exact: true,
            sp: 0x8000,
            ra: Some(in_middle),
        };
        assert_eq!(callers(&image, stopped, &mut read), [in_middle, in_outer]);
        let stopped = Stopped {
            pc: in_middle,
            exact: false,
            sp: 0x8000,
            ra: None,
        };
        assert_eq!(callers(&image, stopped, &mut read), [in_outer]);
        assert!(callers(&image, stopped, &mut |_| None).is_empty());
        assert!(callers(Path::new("/nowhere"), stopped, &mut read).is_empty());
        Ok(())
    }
}
