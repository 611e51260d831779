//! Framing: which bytes go over the wire for a piece of one channel's output (see `abi::log`).

use pebble::abi::log::ESCAPE;

/// One or two bytes that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A byte as it is.
    One(u8),
    /// An escape and its second byte.
    Two(u8, u8),
}

/// The wire's bytes for `bytes` on `channel`. The channel is named each time: core servers write to the same wire
/// through the firmware, so nobody knows which channel was current.
pub fn frame(channel: u8, bytes: impl Iterator<Item = u8>) -> impl Iterator<Item = Part> {
    let text = bytes.map(|byte| match byte {
        ESCAPE => Part::Two(ESCAPE, ESCAPE),
        byte => Part::One(byte),
    });
    core::iter::once(Part::Two(ESCAPE, channel)).chain(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pebble::abi::log::{ERROR, OUTPUT};

    fn wire(channel: u8, text: &[u8]) -> Vec<u8> {
        frame(channel, text.iter().copied())
            .flat_map(|part| match part {
                Part::One(byte) => vec![byte],
                Part::Two(first, second) => vec![first, second],
            })
            .collect()
    }

    /// What the host does with it.
    fn unframe(wire: &[u8]) -> Vec<(u8, u8)> {
        let (mut channel, mut found, mut bytes) = (b'?', Vec::new(), wire.iter().copied());
        while let Some(byte) = bytes.next() {
            match (byte, byte == ESCAPE) {
                (_, true) => match bytes.next() {
                    Some(ESCAPE) => found.push((channel, ESCAPE)),
                    Some(digit) => channel = digit,
                    None => panic!("a lone escape at the end"),
                },
                (byte, false) => found.push((channel, byte)),
            }
        }
        found
    }

    #[test]
    fn every_byte_arrives_on_its_channel() {
        let all: Vec<u8> = (0..=255).collect();
        let mut both = wire(OUTPUT, &all);
        both.extend(wire(ERROR, b"x\x10"));
        let found = unframe(&both);
        assert_eq!(
            found[..256],
            all.iter().map(|&byte| (OUTPUT, byte)).collect::<Vec<_>>()[..]
        );
        assert_eq!(found[256..], [(ERROR, b'x'), (ERROR, ESCAPE)]);
    }
}
