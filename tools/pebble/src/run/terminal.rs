//! The person's terminal during a shell: keys go to the guest one by one, and it is as before afterwards.

use std::io::IsTerminal;

use rustix::termios::{tcgetattr, tcsetattr, InputModes, LocalModes, OptionalActions, Termios};

/// Control-]: ends this command, as it does with other programs that pass every key on.
pub const LEAVE: u8 = 0x1d;

/// Restores the terminal when dropped.
pub struct RawTerminal {
    before: Termios,
}

impl RawTerminal {
    /// Keys without line editing, echo and signals; output as before. None when standard input is no terminal.
    pub fn enter() -> Option<Self> {
        let input = std::io::stdin();
        if !input.is_terminal() {
            return None;
        }
        let before = tcgetattr(&input).ok()?;
        let mut raw = before.clone();
        raw.local_modes -=
            LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        raw.input_modes -= InputModes::IXON | InputModes::ICRNL | InputModes::INLCR;
        tcsetattr(&input, OptionalActions::Now, &raw).ok()?;
        Some(RawTerminal { before })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that went away.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}
