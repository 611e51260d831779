//! QEMU's control connection: stop the machine, read registers, save memory.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use serde_json::{json, Value};

const LIMIT: Duration = Duration::from_secs(5);

/// A connection.
pub struct Control {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Control {
    /// Connects and takes the greeting.
    pub fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("cannot reach QEMU's control socket")?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        let reader = BufReader::new(stream.try_clone()?);
        let mut control = Control { stream, reader };
        control.read()?;
        control.execute("qmp_capabilities", json!({}))?;
        Ok(control)
    }

    fn read(&mut self) -> Result<Value> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            bail!("QEMU closed its control socket");
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// Runs a command; events that arrive before its answer are dropped.
    pub fn execute(&mut self, command: &str, arguments: Value) -> Result<Value> {
        let request = json!({"execute": command, "arguments": arguments});
        writeln!(self.stream, "{request}")?;
        loop {
            let answer = self.read()?;
            if let Some(result) = answer.get("return") {
                return Ok(result.clone());
            }
            if let Some(error) = answer.get("error") {
                bail!("QEMU refused {command}: {error}");
            }
        }
    }

    /// `info registers` of the human monitor.
    pub fn registers(&mut self) -> Result<String> {
        let answer = self.execute(
            "human-monitor-command",
            json!({"command-line": "info registers"}),
        )?;
        Ok(answer.as_str().unwrap_or_default().to_string())
    }

    /// Physical memory, by way of a file.
    pub fn memory(&mut self, physical: u64, bytes: u64, file: &Path) -> Result<Vec<u8>> {
        self.save(physical, bytes, file)?;
        Ok(std::fs::read(file)?)
    }

    /// Physical memory into a file.
    pub fn save(&mut self, physical: u64, bytes: u64, file: &Path) -> Result<()> {
        let name = file.display().to_string();
        self.execute(
            "pmemsave",
            json!({"val": physical, "size": bytes, "filename": name}),
        )?;
        Ok(())
    }
}

/// The value of a register in the text of `info registers`.
pub fn register(text: &str, name: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    words.find(|word| *word == name)?;
    u64::from_str_radix(words.next()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_found_by_their_whole_name() {
        let text = " V      =   0\n pc       0000000080200000\n mepc     0000000000000001\n satp     8000900000080400\n x0/zero  0000 x1/ra 0001\n";
        assert_eq!(register(text, "pc"), Some(0x8020_0000));
        assert_eq!(register(text, "satp"), Some(0x8000_9000_0008_0400));
        assert_eq!(register(text, "none"), None);
    }
}
