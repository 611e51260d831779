//! The portal specification language: grammar and reader (USENIX paper, "Portal Specification").
//!
//! ```text
//! specification = stack state argument*          at most 6 arguments, 63 characters
//! stack         = "s"                            the callee uses the invoker's stack
//!               | "n"                            the callee gets a stack from its stack queue
//! state         = "m"                            minimal: the invoker trusts the callee with its registers
//!               | "p"                            partial: callee-saved registers are saved and cleared
//! argument      = "i" | "c" | "=" | "t" | "d" | "h" | "k"
//!               | ("w" | "r" | "W" | "G" | "T") count?
//! count         = "1" .. "8"                     pages, 1 when absent
//! ```
//!
//! The n-th argument letter says what the callee finds in register `a(n-1)`. `f` (full state) is a
//! letter of the language that ordinary portals cannot use; the reader refuses it with the reason.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod portal;

use core::fmt;

/// Most argument letters: `a0` to `a5`.
pub const MAX_ARGUMENTS: usize = 6;
/// Most characters.
pub const MAX_LENGTH: usize = 63;
/// Most pages that one specification may show through windows.
pub const MAX_WINDOW_PAGES: usize = 8;

/// Whose stack the callee runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// `s`: the invoker's.
    Shared,
    /// `n`: one from the callee's stack queue.
    New,
}

/// How much of the invoker's state the portal keeps safe from the callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `m`: return address and stack pointer; the callee obeys the C calling convention.
    Minimal,
    /// `p`: also the registers that a C function must preserve, which the callee sees cleared.
    Partial,
}

/// What a portal does with one argument register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// `i`: passed as it is.
    Word,
    /// `c`: replaced by the constant that the server registered.
    Constant,
    /// `=`: replaced by the portal's own slot number.
    Slot,
    /// `t`: replaced by the calling thread (number in bits 31..0, home domain in bits 63..32).
    Thread,
    /// `d`: replaced by the number of the invoking domain.
    Domain,
    /// `h`: replaced by a time stamp (`hrtime`).
    Time,
    /// `k`: a slot of the invoker's table, passed as it is; while the call lasts, the callee may take over the portal there.
    Capability,
    /// `w`: the pages that start with the one the argument points into are writable in the callee until it returns.
    Window(u8),
    /// `r`: as `w`, but readable only.
    ReadWindow(u8),
    /// `W`: as `w`, but the pages stay when the callee returns.
    OpenWindow(u8),
    /// `G`: the pages leave the invoker and belong to the callee (tear-away write).
    Give(u8),
    /// `T`: the callee's pages replace the invoker's when it returns (tear-away read).
    Take(u8),
}

/// A specification that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specification {
    /// First letter.
    pub stack: Stack,
    /// Second letter.
    pub state: State,
    arguments: [Argument; MAX_ARGUMENTS],
    count: usize,
}

/// Why a specification was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Fewer than two letters.
    TooShort,
    /// More than [`MAX_LENGTH`] characters.
    TooLong,
    /// Not a stack letter.
    StackLetter,
    /// Not a state letter.
    StateLetter,
    /// `f`: full state is saved only by interrupt and exception portals.
    FullState,
    /// Not an argument letter.
    ArgumentLetter,
    /// More than [`MAX_ARGUMENTS`] letters.
    TooManyArguments,
    /// A count that follows no window letter, or is not 1 to 8.
    Count,
    /// More than [`MAX_WINDOW_PAGES`] pages in all.
    TooManyPages,
    /// A second `G` or a second `T`: one call moves one buffer in each direction, so that no page moves twice.
    SecondMove,
}

/// A refusal: where, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Position of the offending character, from 0.
    pub position: usize,
    /// Why.
    pub reason: Reason,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.reason {
            Reason::TooShort => "a stack letter and a state letter are needed",
            Reason::TooLong => "at most 63 characters",
            Reason::StackLetter => "the stack letter is `s` or `n`",
            Reason::StateLetter => "the state letter is `m` or `p`",
            Reason::FullState => "`f` is kept for interrupts and exceptions; use `p`",
            Reason::ArgumentLetter => "argument letters are `i c = t d h k w r W G T`",
            Reason::TooManyArguments => "at most 6 arguments",
            Reason::Count => "a page count is one digit, 1 to 8, after a window letter",
            Reason::TooManyPages => "at most 8 window pages in all",
            Reason::SecondMove => "at most one `G` and one `T`; a count moves several pages",
        };
        write!(f, "position {}: {}", self.position, why)
    }
}

impl Specification {
    /// Reads a specification.
    pub fn parse(text: &[u8]) -> Result<Self, Refusal> {
        let refuse = |position, reason| Err(Refusal { position, reason });
        if text.len() > MAX_LENGTH {
            return refuse(MAX_LENGTH, Reason::TooLong);
        }
        let stack = match text.first() {
            Some(b's') => Stack::Shared,
            Some(b'n') => Stack::New,
            Some(_) => return refuse(0, Reason::StackLetter),
            None => return refuse(0, Reason::TooShort),
        };
        let state = match text.get(1) {
            Some(b'm') => State::Minimal,
            Some(b'p') => State::Partial,
            Some(b'f') => return refuse(1, Reason::FullState),
            Some(_) => return refuse(1, Reason::StateLetter),
            None => return refuse(1, Reason::TooShort),
        };
        let mut specification = Specification {
            stack,
            state,
            arguments: [Argument::Word; MAX_ARGUMENTS],
            count: 0,
        };
        let mut position = 2;
        let mut pages = 0;
        while let Some(&letter) = text.get(position) {
            let window: Option<fn(u8) -> Argument> = match letter {
                b'w' => Some(Argument::Window),
                b'r' => Some(Argument::ReadWindow),
                b'W' => Some(Argument::OpenWindow),
                b'G' => Some(Argument::Give),
                b'T' => Some(Argument::Take),
                _ => None,
            };
            let mut length = 1;
            let argument = if let Some(window) = window {
                let mut count = 1;
                if let Some(digit) = text.get(position + 1).filter(|c| c.is_ascii_digit()) {
                    count = digit - b'0';
                    length = 2;
                    let more = text.get(position + 2).is_some_and(|c| c.is_ascii_digit());
                    if count == 0 || count as usize > MAX_WINDOW_PAGES || more {
                        return refuse(position + 1, Reason::Count);
                    }
                }
                pages += count as usize;
                if pages > MAX_WINDOW_PAGES {
                    return refuse(position, Reason::TooManyPages);
                }
                window(count)
            } else {
                match letter {
                    b'i' => Argument::Word,
                    b'c' => Argument::Constant,
                    b'=' => Argument::Slot,
                    b't' => Argument::Thread,
                    b'd' => Argument::Domain,
                    b'h' => Argument::Time,
                    b'k' => Argument::Capability,
                    b'0'..=b'9' => return refuse(position, Reason::Count),
                    _ => return refuse(position, Reason::ArgumentLetter),
                }
            };
            if specification.count == MAX_ARGUMENTS {
                return refuse(position, Reason::TooManyArguments);
            }
            let again = specification.arguments().iter().any(|earlier| {
                matches!(
                    (earlier, argument),
                    (Argument::Give(_), Argument::Give(_)) | (Argument::Take(_), Argument::Take(_))
                )
            });
            if again {
                return refuse(position, Reason::SecondMove);
            }
            specification.arguments[specification.count] = argument;
            specification.count += 1;
            position += length;
        }
        Ok(specification)
    }

    /// What happens to `a0`, `a1`, ... in order.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments[..self.count]
    }

    /// Whether the callee gets pages for good (`W` or `G`).
    pub fn gives(&self) -> bool {
        let gives = |a: &Argument| matches!(a, Argument::OpenWindow(_) | Argument::Give(_));
        self.arguments().iter().any(gives)
    }

    /// Whether the invoker passes slots of its portal table (`k`).
    pub fn passes(&self) -> bool {
        self.arguments().contains(&Argument::Capability)
    }

    /// Pages shown through windows for the length of the call (`w` and `r`).
    pub fn window_pages(&self) -> usize {
        self.arguments()
            .iter()
            .map(|a| a.window().map_or(0, |(pages, _)| pages))
            .sum()
    }
}

impl Argument {
    /// Pages and writability of a window that closes on return; `None` for every other argument.
    pub fn window(self) -> Option<(usize, bool)> {
        match self {
            Argument::Window(pages) => Some((pages as usize, true)),
            Argument::ReadWindow(pages) => Some((pages as usize, false)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> (usize, Reason) {
        let refusal = Specification::parse(text.as_bytes()).expect_err(text);
        (refusal.position, refusal.reason)
    }

    #[test]
    fn reads_the_papers_example() {
        let specification = Specification::parse(b"smcwi").unwrap();
        assert_eq!(
            (specification.stack, specification.state),
            (Stack::Shared, State::Minimal)
        );
        assert_eq!(
            specification.arguments(),
            [Argument::Constant, Argument::Window(1), Argument::Word]
        );
        assert_eq!(specification.window_pages(), 1);
    }

    #[test]
    fn reads_every_letter_and_count() {
        let specification = Specification::parse(b"np=tdhr2w6").unwrap();
        assert_eq!(specification.arguments().len(), 6);
        assert_eq!(specification.window_pages(), 8);
        assert_eq!(Specification::parse(b"smWGT").unwrap().window_pages(), 0);
        assert!(Specification::parse(b"smckk").unwrap().passes());
        assert!(!Specification::parse(b"smcii").unwrap().passes());
    }

    #[test]
    fn names_the_position_of_each_error() {
        assert_eq!(refusal(""), (0, Reason::TooShort));
        assert_eq!(refusal("s"), (1, Reason::TooShort));
        assert_eq!(refusal("xm"), (0, Reason::StackLetter));
        assert_eq!(refusal("sx"), (1, Reason::StateLetter));
        assert_eq!(refusal("sf"), (1, Reason::FullState));
        assert_eq!(refusal("smcq"), (3, Reason::ArgumentLetter));
        assert_eq!(refusal("smck2"), (4, Reason::Count));
        assert_eq!(refusal("smi2"), (3, Reason::Count));
        assert_eq!(refusal("smw0"), (3, Reason::Count));
        assert_eq!(refusal("smw9"), (3, Reason::Count));
        assert_eq!(refusal("smw12"), (3, Reason::Count));
        assert_eq!(refusal("smw4r4w"), (6, Reason::TooManyPages));
        assert_eq!(refusal("smiiiiiii"), (8, Reason::TooManyArguments));
        assert_eq!(refusal("smGiG"), (4, Reason::SecondMove));
        assert_eq!(refusal("smT2T"), (4, Reason::SecondMove));
        assert_eq!(refusal(&"s".repeat(64)), (63, Reason::TooLong));
    }

    #[test]
    fn never_panics_and_never_points_beyond_the_text() {
        let mut seed = 1u64;
        for _ in 0..200_000 {
            let mut text = [0u8; 12];
            for byte in &mut text {
                seed = seed
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                *byte = b"snmpfic=tdhwrWGTk0189 \xff"[(seed >> 33) as usize % 22];
            }
            if let Err(refusal) = Specification::parse(&text) {
                assert!(refusal.position <= text.len());
            }
        }
    }
}
