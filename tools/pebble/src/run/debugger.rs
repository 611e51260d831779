//! What a debugger is told: symbols, the machine's socket, and commands that stop one component alone.
//!
//! All components are linked at the same addresses, so a plain breakpoint stops whichever comes there first. These
//! stop under a condition: the address space's number for a core server, the name in the start information for others.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use pebble_abi::layout::START_INFO;
use pebble_abi::object::{role, StartInfo};

use super::{qemu, Plan};

/// The file with commands, beside the socket.
const COMMANDS: &str = "debugger";
/// Words in a component's name.
const WORDS: usize = 4;

const _: () = assert!(core::mem::offset_of!(StartInfo, name) % 8 == 0);
const NAME: u64 = START_INFO + core::mem::offset_of!(StartInfo, name) as u64;

/// Writes the commands and says what is to be typed.
pub fn prepare(plan: &Plan) -> Result<()> {
    let file = plan.folder.path().join(COMMANDS);
    let socket = plan.folder.path().join(qemu::DEBUGGER);
    let first = plan.program.as_ref().or(plan.shell.as_ref());
    let core = |name: &str| plan.core.iter().find(|(_, core)| core == name);
    let components: Vec<_> = plan
        .symbols
        .images()
        .map(|(name, image)| (name, image, core(name).map_or(0, |(role, _)| *role)))
        .collect();
    let text = commands(
        &socket,
        &plan.nucleus,
        &components,
        first.map(String::as_str),
    );
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!(
        "pebble: the machine waits; in another terminal: gdb-multiarch -x {}",
        file.display()
    );
    if let Some(first) = first {
        eprintln!("pebble: there `stop-at FUNCTION` or `stop-at FILE:LINE` stops {first} alone; `component-NAME` chooses another component");
    }
    Ok(())
}

/// Commands for gdb. A component is its name, image, and role if boot code placed it (0: it did not).
fn commands(
    socket: &Path,
    nucleus: &Path,
    components: &[(&str, &Path, u64)],
    first: Option<&str>,
) -> String {
    let mut text = String::from("set confirm off\nset pagination off\n");
    for (name, image, role) in components {
        let _ = writeln!(text, "define component-{name}");
        let _ = writeln!(text, "  delete");
        let _ = writeln!(text, "  symbol-file \"{}\"", image.display());
        let _ = writeln!(text, "  add-symbol-file \"{}\"", nucleus.display());
        let _ = writeln!(text, "  set $component_role = {role}");
        for (index, word) in words(name).into_iter().enumerate() {
            let _ = writeln!(text, "  set $component_name_{index} = {word:#x}");
        }
        let _ = writeln!(text, "end\ndocument component-{name}\nNames and lines are {name}'s from now on; breakpoints are deleted.\nend");
    }
    let number = "($satp >> 44 & 0xffff)";
    let name: String = (0..WORDS)
        .map(|index| {
            let address = NAME + 8 * index as u64;
            format!(" && *(unsigned long *){address:#x} == $component_name_{index}")
        })
        .collect();
    let end = role::CORE_END;
    // The condition is C, whatever the component is written in.
    let _ = writeln!(
        text,
        "define stop-at\n  with language c -- break $arg0 if $component_role != 0 ? {number} == $component_role : {number} >= {end}{name}\nend\n\
         document stop-at\nStops at a function or FILE:LINE of the chosen component alone.\nend"
    );
    let _ = writeln!(text, "target remote {}", socket.display());
    if let Some(first) = first {
        let _ = writeln!(text, "component-{first}");
    }
    text.push_str("set confirm on\nset pagination on\n");
    text
}

/// A name as the start information holds it, in words.
fn words(name: &str) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (index, byte) in name.bytes().take(8 * WORDS - 1).enumerate() {
        words[index / 8] |= u64::from(byte) << (8 * (index % 8));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_words() {
        assert_eq!(words("ab"), [0x6261, 0, 0, 0]);
        assert_eq!(
            words("name-server"),
            [u64::from_le_bytes(*b"name-ser"), 0x0072_6576, 0, 0]
        );
        // The last byte is the closing NUL.
        assert_eq!(words(&"x".repeat(40))[3] >> 56, 0);
    }

    #[test]
    fn each_component_has_a_command_and_the_first_is_chosen() {
        let text = commands(
            Path::new("/t/gdb.sock"),
            Path::new("/n"),
            &[
                ("idle", Path::new("/a b/idle"), 5),
                ("hello", Path::new("/hello"), 0),
            ],
            Some("hello"),
        );
        for part in [
            "define component-idle\n  delete\n  symbol-file \"/a b/idle\"\n",
            "$component_role = 5\n",
            "define component-hello\n",
            "\ntarget remote /t/gdb.sock\ncomponent-hello\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
