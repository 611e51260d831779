//! Words as assembly, by the disassembler that comes with the C compiler.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Result};

use crate::process;

/// Assembly of instructions, each an address and a word. All are laid one behind the other in a file of 4 bytes each, so targets of jumps, which are
/// relative, are put right afterwards.
pub fn of(steps: &[(u64, u32)]) -> Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("code");
    let short = |word: u32| word & 3 != 3;
    let mut bytes = Vec::new();
    for &(_, word) in steps {
        // A short instruction is followed by one that does nothing.
        let word = if short(word) {
            word & 0xffff | 0x0001 << 16
        } else {
            word
        };
        bytes.extend(word.to_le_bytes());
    }
    std::fs::write(&file, bytes)?;
    let mut command = Command::new("riscv64-unknown-elf-objdump");
    command.args(["-D", "-b", "binary", "-m", "riscv:rv64"]);
    let done = process::capture(command.arg(&file), Duration::from_secs(60))?;
    if !done.status.success() {
        bail!("objdump failed: {}", done.stderr_text());
    }
    let mut texts: BTreeMap<u64, String> = BTreeMap::new();
    for line in done.stdout_text().lines() {
        let mut parts = line.split('\t');
        let Some(at) = parts.next().map(str::trim) else {
            continue;
        };
        let Some(at) = at
            .strip_suffix(':')
            .and_then(|at| u64::from_str_radix(at, 16).ok())
        else {
            continue;
        };
        parts.next();
        let words: Vec<&str> = parts.collect();
        texts.insert(at, words.join(" "));
    }
    let text = |(index, &(address, _)): (usize, &(u64, u32))| {
        let at = 4 * index as u64;
        let text = texts.get(&at).cloned().unwrap_or_else(|| "?".into());
        relocated(&text, at, address)
    };
    Ok(steps.iter().enumerate().map(text).collect())
}

/// A jump's target moves with its instruction.
fn relocated(text: &str, from: u64, to: u64) -> String {
    let jumps = ["b", "j", "c.b", "c.j"];
    let name = text.split_whitespace().next().unwrap_or_default();
    let text = text.split(" #").next().unwrap_or_default().trim_end();
    let place = text.rfind([',', ' ']).map(|at| at + 1);
    let (Some(place), true) = (place, jumps.iter().any(|jump| name.starts_with(jump))) else {
        return text.to_string();
    };
    match u64::from_str_radix(text[place..].trim_start_matches("0x"), 16) {
        Ok(target) if name != "jr" && name != "jalr" => {
            let target = to.wrapping_add(target.wrapping_sub(from));
            format!("{}{target:x}", &text[..place])
        }
        _ => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_move_with_their_jumps() {
        assert_eq!(relocated("bnez a0,0x10", 8, 0x1000), "bnez a0,1008");
        assert_eq!(relocated("j 0x4", 8, 0x1000), "j ffc");
        assert_eq!(
            relocated("addi a0,a0,16 # 0x10", 8, 0x1000),
            "addi a0,a0,16"
        );
        assert_eq!(relocated("jr t0", 8, 0x1000), "jr t0");
    }
}
