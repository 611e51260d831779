//! What stays of the boot image: resident code as small and plain as promised, and boot code's memory for components.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{pebble, root, text, with_machine, Answer};
use object::{Object, ObjectSection, ObjectSymbol};

/// The nucleus, built.
fn nucleus() -> Answer<PathBuf> {
    let folder = tempfile::tempdir()?;
    let minimal = root().join("systems/minimal.toml");
    let done = pebble(
        folder.path(),
        &[
            "build",
            "--system",
            &minimal.to_string_lossy(),
            "-o",
            "bundle",
        ],
    )?;
    assert!(done.status.success(), "{}", text(&done.stderr));
    let said = text(&done.stdout);
    let line = said.lines().find_map(|line| line.strip_prefix("nucleus "));
    Ok(line.ok_or("no nucleus")?.trim().into())
}

/// Instructions of a section, compressed ones too.
fn instructions(bytes: &[u8]) -> Vec<(usize, u32)> {
    let (mut at, mut found) = (0, Vec::new());
    while at + 2 <= bytes.len() {
        let low = u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        if low & 3 == 3 && at + 4 <= bytes.len() {
            let high = u32::from(u16::from_le_bytes([bytes[at + 2], bytes[at + 3]]));
            found.push((at, high << 16 | low));
            at += 4;
        } else {
            found.push((at, low));
            at += 2;
        }
    }
    found
}

/// Within 4 KiB; no loop, no call, so no panic path; no floating point; nothing that is not meant to be there.
#[test]
fn resident_code_is_the_trampoline_alone() -> Answer {
    let file = std::fs::read(nucleus()?)?;
    let file = object::File::parse(&*file)?;
    let section = file.section_by_name(".resident").ok_or("no .resident")?;
    let bytes = section.data()?;
    assert!(!bytes.is_empty() && bytes.len() <= 4096, "{}", bytes.len());
    let names: Vec<&str> = file
        .symbols()
        .filter(|symbol| symbol.section_index() == Some(section.index()))
        .filter(|symbol| symbol.address() < section.address() + section.size())
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| !name.starts_with(['$', '.']) && !name.is_empty())
        .collect();
    for name in &names {
        assert!(
            ["_start", "trampoline", "__resident_start"].contains(name),
            "`{name}` is resident"
        );
    }
    for (at, word) in instructions(bytes) {
        let opcode = word & 0x7f;
        match opcode {
            // jal: only the first instruction, which enters boot code once; jalr: a jump, never a call.
            0x6f => assert_eq!((at, word >> 7 & 31), (0, 0), "a jump at {at:#x}"),
            0x67 => assert_eq!(word >> 7 & 31, 0, "a call at {at:#x}"),
            // Branches go forward: no loop.
            0x63 => assert_eq!(word >> 31, 0, "a loop at {at:#x}"),
            0x07 | 0x27 | 0x53 => panic!("floating point at {at:#x}"),
            _ => {}
        }
        // Compressed: no c.j but the first, no backward c.beqz and c.bnez, no c.jalr.
        let (quadrant, function, sign) = (word & 3, word >> 13 & 7, word >> 12 & 1);
        match (quadrant, function) {
            (1, 5) => assert_eq!(at, 0, "a jump at {at:#x}"),
            (1, 6 | 7) => assert_eq!(sign, 0, "a loop at {at:#x}"),
            (2, 4) => assert!(sign == 0 || word >> 2 & 31 != 0, "a call at {at:#x}"),
            _ => {}
        }
    }
    Ok(())
}

/// Every privileged instruction of the nucleus says in its line what it is for.
#[test]
fn privileged_instructions_have_their_reason_beside_them() -> Answer {
    let mut seen = 0;
    for file in ["trampoline.S", "start.S"] {
        let source = std::fs::read_to_string(root().join("nucleus/riscv64").join(file))?;
        for line in source.lines() {
            let code = line.split('#').next().unwrap_or_default().trim();
            let word = code.split_whitespace().next().unwrap_or_default();
            if word.starts_with("csr") || ["sret", "wfi", "sfence.vma"].contains(&word) {
                seen += 1;
                let reason = line.split("# privileged: ").nth(1).unwrap_or_default();
                assert!(!reason.trim().is_empty(), "{file}: {line}");
            }
        }
    }
    assert!(seen >= 3);
    Ok(())
}

/// Reads physical memory of a machine that runs, through its control socket.
fn memory(socket: &Path, physical: u64, bytes: u64) -> Answer<Vec<u8>> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let file = socket.with_extension("memory");
    let mut line = String::new();
    answers.read_line(&mut line)?;
    for command in [
        "{\"execute\":\"qmp_capabilities\"}".to_string(),
        format!(
            "{{\"execute\":\"pmemsave\",\"arguments\":{{\"val\":{physical},\"size\":{bytes},\"filename\":\"{}\"}}}}",
            file.display()
        ),
    ] {
        writeln!(stream, "{command}")?;
        loop {
            line.clear();
            if answers.read_line(&mut line)? == 0 {
                return Err("the control connection closed".into());
            }
            if line.contains("\"return\"") {
                break;
            }
            if line.contains("\"error\"") {
                return Err(line.into());
            }
        }
    }
    Ok(std::fs::read(file)?)
}

/// A program touches all memory there is, until it is refused; then nothing of boot code is left, and the resident
/// code is as it was.
#[test]
fn boot_code_s_memory_belongs_to_components() -> Answer {
    let folder = tempfile::tempdir()?;
    let image = std::fs::read(nucleus()?)?;
    let image = object::File::parse(&*image)?;
    let source = "#include <pebble.h>\nint main(void)\n{\n\tlong pages = 0;\n\tvolatile long *page;\n\
        \twhile (!VM_FAILED(page = vm_map(1 << 20)) && pages < 4000) {\n\
        \t\tfor (int i = 0; i < 256 && pages < 4000; i++, pages++)\n\t\t\tpage[i * 512] = 0x5a5a5a5a;\n\t}\n\
        \tprintf(\"filled\\n\");\n\tfor (;;)\n\t\t;\n}\n";
    std::fs::write(folder.path().join("fill.c"), source)?;
    let arguments = folder.path().join("arguments");
    let script = format!(
        "echo \"$*\" > '{}.new'; mv '{0}.new' '{0}'; exec $qemu \"$@\"",
        arguments.display()
    );
    let started = Instant::now();
    let path = folder.path().to_path_buf();
    let run = std::thread::spawn(move || {
        with_machine(
            &path,
            &script,
            &["run", "fill.c", "--memory", "32", "--timeout", "12"],
        )
        .map_err(|error| error.to_string())
    });
    let socket = loop {
        assert!(
            started.elapsed() < Duration::from_secs(300),
            "the machine does not start"
        );
        std::thread::sleep(Duration::from_millis(100));
        if let Ok(words) = std::fs::read_to_string(&arguments) {
            let after = words
                .split("-qmp unix:")
                .nth(1)
                .ok_or("no control socket")?;
            break PathBuf::from(after.split([',', ' ']).next().unwrap_or_default());
        }
    };
    std::thread::sleep(Duration::from_secs(6));
    let section = |name: &str| -> Answer<(u64, Vec<u8>)> {
        let section = image.section_by_name(name).ok_or("no section")?;
        Ok((
            section.address() - pebble_abi::layout::NUCLEUS + pebble_abi::layout::RAM,
            section.data()?.to_vec(),
        ))
    };
    let (resident_at, resident) = section(".resident")?;
    let (boot_at, boot) = section(".text")?;
    // One connection at a time, and `pebble` itself needs it at the end: read all at once.
    let found = memory(
        &socket,
        resident_at,
        boot_at + boot.len() as u64 - resident_at,
    )?;
    let done = run.join().map_err(|_| "the run panicked")??;
    assert_eq!(text(&done.stdout), "filled\n", "{}", text(&done.stderr));
    assert_eq!(
        &found[..resident.len()],
        &resident[..],
        "resident code has changed"
    );
    let left = (boot_at - resident_at) as usize;
    let same = found[left..]
        .chunks(4096)
        .zip(boot.chunks(4096))
        .filter(|(now, then)| now == then)
        .count();
    assert_eq!(
        same,
        0,
        "of {} pages of boot code",
        boot.len().div_ceil(4096)
    );
    Ok(())
}
