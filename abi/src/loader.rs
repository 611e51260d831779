//! Why the loader refuses a component, as its answer carries it: `-(256 * reason + errno)`.

use crate::errno::Errno;

/// What was wrong.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    OutsideBundle = 1,
    NotElf = 2,
    NotExecutable = 3,
    NoSegments = 4,
    OutsideArea = 5,
    WritableCode = 6,
    OutsideFile = 7,
    Entry = 8,
    Domain = 9,
    Memory = 10,
    Heap = 11,
    Device = 12,
    Arguments = 13,
    StartPage = 14,
    Thread = 15,
}

/// What to tell people, by the reason's number less one.
const TEXTS: [&str; 15] = [
    "its image lies outside the bundle",
    "its image is not a whole 64-bit ELF file",
    "its image is not a static RISC-V executable; link it with sdk/user.ld",
    "its image has no segments",
    "a segment lies outside the image area; link it with sdk/user.ld",
    "a segment is writable and executable at once",
    "a segment lies outside its file, or not on its page",
    "its entry point is not in its code",
    "no domain can be made",
    "its image does not fit its memory",
    "its heap cannot be placed",
    "its device cannot be mapped",
    "its arguments lie outside the bundle, or are longer than a page",
    "its start page cannot be made",
    "its first thread cannot be made",
];

impl Reason {
    /// The loader's answer for this reason; `error` is a negated error number.
    pub const fn answer(self, error: isize) -> isize {
        error - 256 * self as isize
    }
}

/// What a negative answer of the loader means: words for people, and a negated error number.
pub const fn explain(answer: isize) -> (&'static str, isize) {
    let positive = answer.unsigned_abs();
    let reason = positive / 256;
    if reason == 0 || reason > TEXTS.len() {
        return ("the loader failed", Errno::Invalid.negated());
    }
    (TEXTS[reason - 1], -((positive % 256) as isize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_explained_as_it_was_meant() {
        for reason in [Reason::OutsideBundle, Reason::Entry, Reason::Thread] {
            let answer = reason.answer(Errno::NoExec.negated());
            assert_eq!(explain(answer), (TEXTS[reason as usize - 1], -8));
        }
        assert_eq!(explain(-22).0, "the loader failed");
    }
}
