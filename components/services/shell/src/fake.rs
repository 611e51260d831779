//! A small system to test lists and commands against.

use std::cell::RefCell;

use pebble::abi::bundle::{CRITICAL, START};
use pebble::abi::object::{info, role, InfoRecord};
use pebble::abi::slot::NPORTALS;
use pebble::abi::thread_state::{READY, STACK, WAITING};
use pebble::{Errno, Error};

use crate::collect::System;

/// A record with this name and these numbers.
pub fn record(name: &str, values: [u64; 8]) -> InfoRecord {
    let mut record = InfoRecord {
        name: [0; 32],
        values,
    };
    record.name[..name.len()].copy_from_slice(name.as_bytes());
    record
}

/// Init (6), console (9), shell (10) with a child called heartbeat (11); domain 12 is dead.
pub struct Fake {
    /// Every question gets `-EOWNERDEAD`.
    pub broken: bool,
    /// What starting and stopping get.
    pub refuses: Option<Errno>,
    /// What was asked for.
    pub done: RefCell<Vec<String>>,
}

impl Fake {
    /// A system that answers.
    pub fn new() -> Self {
        Fake {
            broken: false,
            refuses: None,
            done: RefCell::default(),
        }
    }

    fn records(kind: usize) -> Vec<(usize, InfoRecord)> {
        let state = |critical: bool, priority: u64| {
            let flags = if critical { u64::from(CRITICAL) } else { 0 };
            info::ALIVE | flags << info::FLAGS_SHIFT | priority << info::PRIORITY_SHIFT
        };
        let portal = |domain: u64, slot: u64, text, target, bytes, action| {
            let index = domain as usize * NPORTALS + slot as usize;
            (
                index,
                record(text, [domain, slot, target, bytes, action, 0, 0, 0]),
            )
        };
        match kind {
            info::DOMAIN => vec![
                (6, record("init", [6, 0, 1, 0, 40, 0, state(true, 40), 1])),
                (
                    9,
                    record("console", [9, 0, 1, 2, 20, 256, state(true, 52), 3]),
                ),
                (
                    10,
                    record("shell", [10, 0, 1, 1, 30, 1024, state(false, 30), 1]),
                ),
                (
                    11,
                    record("heartbeat", [11, 10, 0, 1, 8, 128, state(false, 20), 1]),
                ),
                (12, record("dead", [12, 0, 0, 0, 0, 0, 0, 1])),
            ],
            info::THREAD => vec![
                (3, record("init", [3, 6, 6, 40, READY.into(), 48, 0, 0x10])),
                (
                    4,
                    record("console", [4, 9, 9, 52, WAITING.into(), 144, 17, 0x1234]),
                ),
                (
                    5,
                    record("shell", [5, 10, 11, 30, STACK.into(), 96, 11, 0x20]),
                ),
            ],
            info::PORTAL => vec![
                portal(9, 64, "P", 17, 128, info::SEMAPHORE_WAIT),
                portal(9, 70, "nmci", 6, 640, info::CALL),
                portal(10, 64, "nmcri", 9, 704, info::CALL),
                portal(11, 64, "nm", 0, 0, info::DEAD),
            ],
            info::MEMORY => vec![(0, record("", [30000, 30720, 12345, 30, 1776, 20, 4, 0]))],
            info::SERVICE => vec![
                (0, record("nmd", [0, 6, 0, 0, 0, 0, 0, 0])),
                (3, record("nmcri", [3, 9, 0, 0, 0, 0, 0, 0])),
                (4, record("nmcwi", [4, 9, 0, 0, 0, 0, 0, 0])),
            ],
            _ => vec![(
                0,
                record("", [100_000_000_000, 10_000_000, 0, 0, 0, 0, 0, 0]),
            )],
        }
    }

    fn act(&self, what: String) -> Result<(), Error> {
        self.done.borrow_mut().push(what);
        self.refuses.map_or(Ok(()), |errno| Err(errno.into()))
    }
}

impl System for Fake {
    fn record(&self, kind: usize, index: usize) -> Result<InfoRecord, Error> {
        if self.broken {
            return Err(Errno::OwnerDead.into());
        }
        let records = Fake::records(kind);
        let found = records.iter().find(|(known, _)| *known == index);
        let past = index > records.iter().map(|(known, _)| *known).max().unwrap_or(0) + 3;
        match found {
            Some((_, record)) => Ok(*record),
            None if past && kind != info::PORTAL => Err(Errno::Invalid.into()),
            None => Err(Errno::NoEntry.into()),
        }
    }

    fn component(&self, index: usize) -> Result<InfoRecord, Error> {
        if self.broken {
            return Err(Errno::OwnerDead.into());
        }
        let (start, critical) = (u64::from(START), u64::from(CRITICAL));
        let (init, ordinary) = (u64::from(role::INIT), u64::from(role::ORDINARY));
        let all = [
            record("init", [6, init, 40, 1024, start | critical, 0, 0, 4096]),
            record(
                "console",
                [9, ordinary, 52, 256, start | critical, 0, 1, 4096],
            ),
            record("shell", [10, ordinary, 30, 1024, start, 0, 0, 4096]),
            record("pipe", [0, ordinary, 30, 1024, 0, 0, 0, 4096]),
            record("heartbeat", [0, ordinary, 20, 128, 0, 1, 0, 4096]),
        ];
        all.get(index).copied().ok_or(Errno::Invalid.into())
    }

    fn name(&self, index: usize) -> Result<(String, usize), Error> {
        match index {
            _ if self.broken => Err(Errno::OwnerDead.into()),
            1 => Ok(("/console/write".into(), 3)),
            5 => Ok(("/console/read".into(), 4)),
            0..8 => Err(Errno::NoEntry.into()),
            _ => Err(Errno::Invalid.into()),
        }
    }

    fn start(&self, name: &str) -> Result<usize, Error> {
        self.act(format!("start {name}")).map(|()| 12)
    }

    fn stop(&self, name: &str, force: bool) -> Result<(), Error> {
        self.act(format!("stop {name} {force}"))
    }

    fn power_off(&self, status: u8) -> Error {
        self.done.borrow_mut().push(format!("off {status}"));
        Errno::Io.into()
    }

    fn time_of_day(&self) -> u64 {
        161_500_000_000
    }
}
