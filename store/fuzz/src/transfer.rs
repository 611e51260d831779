//! Arbitrary streams, received.

use pebble_store_format::checksum;
use pebble_store_image::{Builder, Fault, Memory, Received, Receiver, Volume};

use crate::base::stream;
use crate::disk::{Disk, Patience};
use crate::edit::Input;

/// Frames of the largest image that is made of a stream here.
const LARGEST: u64 = 2048;
const HEAD: usize = 1024;
const RECORD: usize = 40;

/// A good stream with changes, or the input itself.
fn changed(bytes: &[u8]) -> Vec<u8> {
    let mut input = Input::new(bytes);
    let first = input.byte();
    if first & 3 == 3 {
        return bytes[1..].to_vec();
    }
    let mut stream = stream();
    if first & 4 != 0 {
        // The head has the interesting numbers.
        let (head, _) = stream.split_at_mut(HEAD.min(600));
        input.change(head);
    }
    for _ in 0..8 {
        if input.is_empty() {
            break;
        }
        input.change(&mut stream);
    }
    if first & 8 != 0 {
        let length = (input.word() | input.word() << 16) as usize;
        stream.truncate(length % (stream.len() + 1));
    }
    if first & 1 == 0 {
        reseal(&mut stream);
    }
    stream
}

/// Puts every checksum right, as far as the stream's own structure goes.
fn reseal(stream: &mut [u8]) {
    let Some(head) = stream.get_mut(..HEAD) else {
        return;
    };
    let mut chain = checksum::of_bytes(0, &head[16..]);
    head[8..16].copy_from_slice(&chain.to_le_bytes());
    let mut at = HEAD;
    while let Some(record) = stream.get(at..at + RECORD) {
        let contents = if record[0] == 1 && record[1..8] == [0; 7] {
            4096
        } else {
            0
        };
        chain = checksum::of_bytes(chain, &record[..32]);
        if contents > 0 {
            let Some(contents) = stream.get(at + RECORD..at + RECORD + contents) else {
                return;
            };
            chain = checksum::of_bytes(chain, contents);
        }
        stream[at + 32..at + 40].copy_from_slice(&chain.to_le_bytes());
        at += RECORD + contents;
    }
}

/// A stream that is taken for complete makes an image that can be opened; any other is refused at a place inside it.
pub fn receive(bytes: &[u8]) {
    let stream = changed(bytes);
    let mut rest = &stream[..];
    let mut source = |buffer: &mut [u8]| {
        let count = buffer.len().min(rest.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        Ok::<usize, Fault>(count)
    };
    let Ok((mut receiver, layout)) = Receiver::begin(&mut source) else {
        return;
    };
    if layout.frames() > LARGEST {
        return;
    }
    let patience = Patience::new(100_000);
    let disk = Disk::new(Memory::zeros(layout.frames()), &patience);
    let Ok(mut builder) = Builder::new(vec![disk], layout) else {
        return;
    };
    loop {
        match receiver.receive() {
            Ok(Some(Received::Start(process))) => builder.start(process),
            Ok(Some(Received::Object(frame, kind, version, contents))) => {
                if builder
                    .put(frame, kind, version, contents.as_deref())
                    .is_err()
                {
                    return;
                }
            }
            Ok(None) => break,
            Err(error) => {
                assert!(error.position <= stream.len() as u64, "{error}");
                return;
            }
        }
    }
    if let Ok(media) = builder.finish(&mut |_, _| {}) {
        let mut volume = Volume::open(media).expect("a received image");
        let generations = volume.generations().expect("its log");
        volume
            .snapshot(&generations, None, &mut |_, _| {})
            .expect("its tags");
    }
}
