//! QEMU's debugger connection, as far as single steps need it: the remote protocol of gdb, spoken directly.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, Context, Result};

/// A program may run for a while before it comes to a breakpoint.
const LIMIT: Duration = Duration::from_secs(60);

/// Number of the program counter in the protocol; general registers have their own.
pub const PC: u32 = 32;

/// A stopped machine.
pub struct Debugger(UnixStream);

impl Debugger {
    /// Connects; the machine waits before its first instruction.
    pub fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("cannot reach QEMU's debugger socket")?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        let mut debugger = Debugger(stream);
        debugger.ask("?")?;
        Ok(debugger)
    }

    /// Sends a packet; answers the contents of the next one that is not empty of meaning.
    fn ask(&mut self, request: &str) -> Result<String> {
        self.send(request)?;
        self.receive()
    }

    fn send(&mut self, request: &str) -> Result<()> {
        let sum = request
            .bytes()
            .fold(0u8, |sum, byte| sum.wrapping_add(byte));
        write!(self.0, "${request}#{sum:02x}")?;
        Ok(())
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.0
            .read_exact(&mut byte)
            .context("QEMU's debugger connection ended")?;
        Ok(byte[0])
    }

    fn receive(&mut self) -> Result<String> {
        while self.byte()? != b'$' {}
        let mut text = String::new();
        loop {
            match self.byte()? {
                b'#' => break,
                letter => text.push(char::from(letter)),
            }
        }
        // The sum: the connection is a local socket, nothing gets lost.
        self.byte()?;
        self.byte()?;
        self.0.write_all(b"+")?;
        Ok(text)
    }

    fn command(&mut self, request: &str) -> Result<()> {
        match self.ask(request)?.as_str() {
            "OK" => Ok(()),
            answer => bail!("QEMU's debugger answers `{answer}` to `{request}`"),
        }
    }

    /// Runs to the instruction at `address`, in whatever component. Answers false when the machine ended first.
    pub fn run_to(&mut self, address: u64) -> Result<bool> {
        self.command(&format!("Z0,{address:x},2"))?;
        let stopped = self.ask("c")?;
        if stopped.starts_with('W') || stopped.starts_with('X') {
            return Ok(false);
        }
        self.command(&format!("z0,{address:x},2"))?;
        Ok(true)
    }

    /// Executes one instruction; interrupts wait.
    pub fn step(&mut self) -> Result<()> {
        let stopped = self.ask("s")?;
        if stopped.starts_with('T') || stopped.starts_with('S') {
            Ok(())
        } else {
            bail!("the machine did not stop after a step: `{stopped}`")
        }
    }

    /// A register.
    pub fn register(&mut self, number: u32) -> Result<u64> {
        // All general registers at once: QEMU answers for a single one only to those who asked for its description.
        let text = self.ask("g")?;
        let at = 16 * number as usize;
        let bytes = text.get(at..at + 16).and_then(unhex);
        let bytes = bytes.with_context(|| format!("register {number} in `{text}`"))?;
        let bytes: [u8; 8] = bytes.try_into().ok().context("a register of 64 bits")?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Memory as the running component sees it; none where there is none.
    pub fn memory(&mut self, address: u64, length: usize) -> Result<Option<Vec<u8>>> {
        let text = self.ask(&format!("m{address:x},{length:x}"))?;
        Ok(unhex(&text).filter(|bytes| bytes.len() == length))
    }
}

/// Bytes of hexadecimal text.
fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stub that answers one packet after the other.
    fn stub(answers: &'static [&'static str]) -> Result<(Debugger, std::thread::JoinHandle<()>)> {
        let (ours, mut theirs) = UnixStream::pair()?;
        let handle = std::thread::spawn(move || {
            for answer in answers {
                let mut byte = [0];
                let mut hashes = 0;
                // A request ends with `#` and two digits.
                while hashes < 3 && theirs.read_exact(&mut byte).is_ok() {
                    if byte[0] == b'#' || hashes > 0 {
                        hashes += 1;
                    }
                }
                let _ = write!(theirs, "+${answer}#00");
            }
        });
        Ok((Debugger(ours), handle))
    }

    #[test]
    fn registers_are_little_endian() -> Result<()> {
        let (mut debugger, handle) = stub(&["00000000000000003412000000000000", "E01", "OK"])?;
        assert_eq!(debugger.register(1)?, 0x1234);
        assert_eq!(debugger.memory(0, 4)?, None);
        assert!(debugger.step().is_err());
        drop(debugger);
        assert!(handle.join().is_ok());
        Ok(())
    }
}
