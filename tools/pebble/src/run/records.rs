//! Reads threads and their invocation stacks out of a dump of the nucleus objects.
//!
//! Every number in the dump is an allegation: the system may be broken, that is why somebody looks. Nothing here
//! fails; what makes no sense is left out.

use std::mem::offset_of;

use pebble_abi::layout::{MAX_THREADS, PHYSMAP};
use pebble_abi::object::{self, Domain, Frame, FrameKind, FrameName, Thread};

/// A dump of the object region.
pub struct Dump {
    /// Its physical address.
    pub physical: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A thread.
#[derive(Debug, PartialEq)]
pub struct ThreadRecord {
    /// Its number.
    pub number: u64,
    /// The domain that it was made in.
    pub home: u64,
    /// The domain that it executes in.
    pub domain: u64,
    /// It had the processor.
    pub running: bool,
    /// Its invocation stack, newest first.
    pub frames: Vec<FrameRecord>,
}

/// One frame: a domain that waits for a call to come back.
#[derive(Debug, PartialEq)]
pub struct FrameRecord {
    /// The invoking domain.
    pub domain: u64,
    /// The portal's slot.
    pub slot: u64,
    /// Where the invoker goes on.
    pub pc: u64,
    /// `pc` is an instruction that was stopped, not a return address.
    pub exact: bool,
    /// The invoker's stack pointer.
    pub sp: u64,
    /// The invoker's address space.
    pub satp: u64,
}

impl Dump {
    fn word(&self, offset: u64) -> Option<u64> {
        let start = usize::try_from(offset).ok()?;
        let bytes = self.bytes.get(start..start.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    fn half(&self, offset: u64) -> Option<u64> {
        self.word(offset & !7).map(|word| {
            if offset & 4 == 0 {
                word & 0xffff_ffff
            } else {
                word >> 32
            }
        })
    }

    /// Offset in the dump of a privileged address.
    fn offset(&self, address: u64) -> Option<u64> {
        address.checked_sub(PHYSMAP)?.checked_sub(self.physical)
    }

    fn domain(&self, address: u64) -> Option<u64> {
        self.word(self.offset(address)? + offset_of!(Domain, asid) as u64)
    }

    fn satp(&self, domain: u64) -> Option<u64> {
        self.word(self.offset(domain)? + offset_of!(Domain, satp) as u64)
    }

    /// All threads.
    pub fn threads(&self) -> Vec<ThreadRecord> {
        (0..MAX_THREADS as u64)
            .filter_map(|index| {
                let address = self.word(object::THREADS + index * 8)?;
                (address != 0).then(|| self.thread(address))?
            })
            .collect()
    }

    fn thread(&self, address: u64) -> Option<ThreadRecord> {
        let base = self.offset(address)?;
        let field = |offset: usize| self.word(base + offset as u64);
        Some(ThreadRecord {
            number: self.half(base + offset_of!(Thread, number) as u64)?,
            home: self.half(base + offset_of!(Thread, home) as u64)?,
            domain: self.domain(field(offset_of!(Thread, domain))?).unwrap_or(0),
            running: field(offset_of!(Thread, state))? != object::PARKED,
            frames: self.frames(base, self.offset(field(offset_of!(Thread, invocation))?)?),
        })
    }

    fn frames(&self, base: u64, mut at: u64) -> Vec<FrameRecord> {
        let end = base + object::THREAD_BYTES;
        let mut frames = Vec::new();
        while at >= base && at + object::FRAME_HEADER <= end {
            let field = |offset: usize| self.word(at + offset as u64);
            let (Some(name), Some(pc), Some(invoker)) = (
                field(offset_of!(Frame, name)),
                field(offset_of!(Frame, pc)),
                field(offset_of!(Frame, domain)),
            ) else {
                break;
            };
            let name = FrameName(name);
            if name.bytes() < object::FRAME_HEADER {
                break;
            }
            // A floating-point frame belongs to the frame beneath it and names no place of its own; one without
            // a place to go on is the thread's first.
            if name.kind() != FrameKind::Floating as u64 && pc != 0 {
                let exact = name.kind() == FrameKind::Full as u64;
                frames.push(FrameRecord {
                    domain: self.domain(invoker).unwrap_or(0),
                    slot: name.slot(),
                    pc,
                    exact,
                    sp: field(offset_of!(Frame, sp)).unwrap_or(0),
                    satp: self.satp(invoker).unwrap_or(0),
                });
            }
            at += name.bytes();
        }
        frames
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const PHYSICAL: u64 = 0x8040_0000;

    fn put(bytes: &mut [u8], offset: u64, value: u64) {
        bytes[offset as usize..offset as usize + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// A dump with one thread, number 5 of domain 9, parked in the scheduler by a call through slot 37.
    pub fn sample() -> Dump {
        let mut bytes = vec![0; object::REGION as usize];
        let thread = object::POOL.next_multiple_of(4096);
        let frame = thread + object::THREAD_BYTES - 160;
        let domain = object::DOMAINS + 9 * object::DOMAIN_BYTES;
        let address = |offset: u64| PHYSMAP + PHYSICAL + offset;
        put(&mut bytes, object::THREADS + 5 * 8, address(thread));
        put(
            &mut bytes,
            thread + offset_of!(Thread, number) as u64,
            5 | 9 << 32,
        );
        put(
            &mut bytes,
            thread + offset_of!(Thread, domain) as u64,
            address(domain),
        );
        put(
            &mut bytes,
            thread + offset_of!(Thread, state) as u64,
            object::PARKED,
        );
        put(
            &mut bytes,
            thread + offset_of!(Thread, invocation) as u64,
            address(frame),
        );
        put(&mut bytes, domain + offset_of!(Domain, asid) as u64, 9);
        put(
            &mut bytes,
            domain + offset_of!(Domain, satp) as u64,
            0x8000_9000_0008_0400,
        );
        let name = FrameName::new(1, 9, 37, FrameKind::Scheduler, 160);
        put(&mut bytes, frame + offset_of!(Frame, name) as u64, name.0);
        put(&mut bytes, frame + offset_of!(Frame, pc) as u64, 0x10_0040);
        put(
            &mut bytes,
            frame + offset_of!(Frame, domain) as u64,
            address(domain),
        );
        put(
            &mut bytes,
            frame + offset_of!(Frame, sp) as u64,
            0x4000_8000,
        );
        Dump {
            physical: PHYSICAL,
            bytes,
        }
    }

    #[test]
    fn a_parked_thread_and_its_frame_are_found() {
        let frame = FrameRecord {
            domain: 9,
            slot: 37,
            pc: 0x10_0040,
            exact: false,
            sp: 0x4000_8000,
            satp: 0x8000_9000_0008_0400,
        };
        let thread = ThreadRecord {
            number: 5,
            home: 9,
            domain: 9,
            running: false,
            frames: vec![frame],
        };
        assert_eq!(sample().threads(), [thread]);
    }

    #[test]
    fn nonsense_is_left_out() {
        for pattern in [0u8, 0xff, 0x55] {
            let dump = Dump {
                physical: PHYSICAL,
                bytes: vec![pattern; object::REGION as usize],
            };
            assert_eq!(dump.threads(), []);
        }
        let mut dump = sample();
        dump.bytes.truncate(object::POOL as usize);
        assert_eq!(dump.threads(), []);
    }
}
