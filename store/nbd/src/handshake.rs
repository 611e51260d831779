//! The negotiation before the first request: one export, whatever name the client gives it.

use std::io;

use crate::wire::*;
use crate::SECTOR_SIZE;

/// Most bytes of an option that are looked at; a name is at most 4096 bytes long.
const OPTION_LIMIT: u32 = 65536;
/// The block sizes that a client is told: smallest, best, largest.
const BLOCKS: [u32; 3] = [SECTOR_SIZE as u32, 4096, crate::server::REQUEST_LIMIT];

/// Negotiates. `Ok(false)`: the client left by the rules.
pub fn negotiate(wire: &mut Wire<'_>, size: u64) -> io::Result<bool> {
    let mut greeting = Vec::new();
    greeting.extend(GREETING.to_be_bytes());
    greeting.extend(OPTION_MAGIC.to_be_bytes());
    greeting.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    wire.write(&greeting)?;
    let flags = wire.word()?;
    if flags & u32::from(FIXED_NEWSTYLE) == 0 {
        return Err(unexpected(
            "a client that knows the fixed newstyle negotiation",
        ));
    }
    loop {
        if wire.long()? != OPTION_MAGIC {
            return Err(unexpected("the mark of an option"));
        }
        let option = wire.word()?;
        let length = wire.word()?;
        if length > OPTION_LIMIT {
            return Err(unexpected("an option of at most 65536 bytes"));
        }
        let mut data = vec![0; length as usize];
        wire.exact(&mut data)?;
        match option {
            OPTION_EXPORT_NAME => {
                wire.write(&size.to_be_bytes())?;
                wire.write(&TRANSMISSION_FLAGS.to_be_bytes())?;
                if flags & u32::from(NO_ZEROES) == 0 {
                    wire.write(&[0; 124])?;
                }
                return Ok(true);
            }
            OPTION_ABORT => {
                reply(wire, option, REPLY_ACK, &[])?;
                return Ok(false);
            }
            OPTION_LIST if data.is_empty() => {
                // One export with an empty name.
                reply(wire, option, REPLY_SERVER, &0_u32.to_be_bytes())?;
                reply(wire, option, REPLY_ACK, &[])?;
            }
            OPTION_INFO | OPTION_GO => {
                let Some(wants_blocks) = wants_block_size(&data) else {
                    reply(wire, option, REPLY_ERROR_INVALID, b"malformed")?;
                    continue;
                };
                let mut export = Vec::new();
                export.extend(INFO_EXPORT.to_be_bytes());
                export.extend(size.to_be_bytes());
                export.extend(TRANSMISSION_FLAGS.to_be_bytes());
                reply(wire, option, REPLY_INFO, &export)?;
                if wants_blocks {
                    let mut blocks = INFO_BLOCK_SIZE.to_be_bytes().to_vec();
                    blocks.extend(BLOCKS.iter().flat_map(|size| size.to_be_bytes()));
                    reply(wire, option, REPLY_INFO, &blocks)?;
                }
                reply(wire, option, REPLY_ACK, &[])?;
                if option == OPTION_GO {
                    return Ok(true);
                }
            }
            _ => reply(wire, option, REPLY_ERROR_UNSUPPORTED, b"not offered")?,
        }
    }
}

/// Whether a well-formed request for information, name and wishes, asks for block sizes.
fn wants_block_size(data: &[u8]) -> Option<bool> {
    let (length, rest) = data.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (count, wishes) = rest.get(length..)?.split_first_chunk::<2>()?;
    if wishes.len() != 2 * usize::from(u16::from_be_bytes(*count)) {
        return None;
    }
    Some(
        wishes
            .chunks_exact(2)
            .any(|wish| wish == INFO_BLOCK_SIZE.to_be_bytes()),
    )
}

fn reply(wire: &mut Wire<'_>, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let mut bytes = OPTION_REPLY_MAGIC.to_be_bytes().to_vec();
    bytes.extend(option.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    wire.write(&bytes)
}

pub fn unexpected(wanted: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the client did not send {wanted}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read_with_suspicion() {
        assert_eq!(
            wants_block_size(&[0, 0, 0, 1, b'x', 0, 1, 0, 3]),
            Some(true)
        );
        assert_eq!(wants_block_size(&[0, 0, 0, 0, 0, 1, 0, 1]), Some(false));
        assert_eq!(wants_block_size(&[0, 0, 0, 9, 0, 1, 0, 3]), None);
        assert_eq!(wants_block_size(&[0, 0, 0, 0, 0, 2, 0, 3]), None);
        assert_eq!(wants_block_size(&[0xff, 0xff, 0xff, 0xff, 0, 0]), None);
    }
}
