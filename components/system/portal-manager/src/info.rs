//! What the shell and inspectors may read about the system: numbers only, never memory.

use pebble_abi::errno::Errno;
use pebble_abi::layout::MAX_DOMAINS;
use pebble_abi::object::{info, FrameKind, FrameName, InfoRecord, THREAD_BYTES};

use crate::calls;
use crate::domains::{Life, LIMBO};
use crate::names::MAX_SERVICES;
use crate::objects::{boot_info, window_write};
use crate::state::{State, STATE};
use crate::tables::Action;

/// `info`: one record; answers 0, `-ENOENT` for an index without a record, `-EINVAL` past the end.
pub fn answer(kind: usize, index: usize, buffer: usize) -> Result<isize, Errno> {
    let record = STATE.with(|state| match kind {
        info::DOMAIN => state.domain_info(index),
        info::THREAD => state.thread_info(index),
        info::PORTAL => state.portal_info(index),
        info::MEMORY => state.memory_info(index),
        info::SERVICE => state.service_info(index),
        info::SYSTEM => state.system_record(index),
        _ => Err(Errno::Invalid),
    })?;
    window_write(buffer, record)
        .then_some(0)
        .ok_or(Errno::Fault)
}

impl State {
    fn domain_info(&self, asid: usize) -> Result<InfoRecord, Errno> {
        if asid >= LIMBO {
            return Err(Errno::Invalid);
        }
        let domain = &self.domains[asid];
        if domain.life == Life::Free {
            return Err(Errno::NoEntry);
        }
        let memory = calls::memory_info(asid).max(0) as u64;
        Ok(InfoRecord {
            name: domain.description.name,
            values: [
                asid as u64,
                domain.parent as u64,
                domain.threads as u64,
                self.tables.count[domain.table_of] as u64,
                memory & 0xffff_ffff,
                memory >> 32,
                u64::from(domain.life == Life::Alive)
                    | u64::from(domain.description.flags & 0xff) << info::FLAGS_SHIFT
                    | u64::from(domain.description.priority & 0xff) << info::PRIORITY_SHIFT
                    | u64::from(domain.description.role & 0xff) << info::ROLE_SHIFT,
                domain.generation,
            ],
        })
    }

    fn thread_info(&self, number: usize) -> Result<InfoRecord, Errno> {
        let objects = self.objects();
        let thread = self.threads.get(number).ok_or(Errno::Invalid)?;
        let record = objects.thread(number);
        if !thread.used || record == 0 {
            return Err(Errno::NoEntry);
        }
        let known: pebble_abi::object::Thread = objects.read(record);
        let (_, frame) = objects.top_frame(record);
        let scheduling = calls::thread_info(number).max(0) as u64;
        // A frame that blocks in the scheduler names the domain that the thread was in.
        let kind = FrameName(frame.name).kind();
        let parked = kind == FrameKind::Scheduler as u64 || kind == FrameKind::Full as u64;
        let place = if parked { frame.domain } else { known.domain };
        Ok(InfoRecord {
            name: self.domains[known.home as usize].description.name,
            values: [
                number as u64,
                known.home as u64,
                objects.domain_number(place).unwrap_or(0) as u64,
                scheduling & 0xff,
                scheduling >> 8 & 0xff,
                record + THREAD_BYTES - known.invocation,
                scheduling >> 16,
                frame.pc,
            ],
        })
    }

    fn portal_info(&self, index: usize) -> Result<InfoRecord, Errno> {
        let (domain, slot) = (
            index / pebble_abi::slot::NPORTALS,
            index % pebble_abi::slot::NPORTALS,
        );
        if domain >= MAX_DOMAINS {
            return Err(Errno::Invalid);
        }
        let portal = self.tables.get(domain, slot).ok_or(Errno::NoEntry)?;
        let mut name = [0; 32];
        let text = portal.text.as_bytes();
        name[..text.len()].copy_from_slice(text);
        let (kind, target) = match portal.action {
            Action::Call { target, .. } => (info::CALL, target as u64),
            Action::SemaphoreWait { index, .. } => (info::SEMAPHORE_WAIT, index as u64),
            Action::SemaphorePost { index, .. } => (info::SEMAPHORE_POST, index as u64),
            Action::Dead => (info::DEAD, 0),
        };
        let bytes = portal.code.units as u64 * 64;
        Ok(InfoRecord {
            name,
            values: [
                domain as u64,
                slot as u64,
                target,
                bytes,
                kind,
                portal.code.worst as u64,
                0,
                0,
            ],
        })
    }

    fn memory_info(&self, index: usize) -> Result<InfoRecord, Errno> {
        if index != 0 {
            return Err(Errno::Invalid);
        }
        let memory = calls::memory_info(0).max(0) as u64;
        let info = boot_info();
        let pool: u32 = self.pool.iter().map(|bits| bits.count_ones()).sum();
        Ok(InfoRecord {
            name: [0; 32],
            values: [
                memory & 0xffff_ffff,
                memory >> 32,
                self.code.used as u64 * 64,
                pool as u64,
                info.resident_code,
                info.boot_discarded,
                self.tables.all().count() as u64,
                0,
            ],
        })
    }

    fn system_record(&self, index: usize) -> Result<InfoRecord, Errno> {
        if index != 0 {
            return Err(Errno::Invalid);
        }
        let info = boot_info();
        Ok(InfoRecord {
            name: [0; 32],
            values: [
                self.time_offset,
                info.timebase,
                info.features,
                0,
                0,
                0,
                0,
                0,
            ],
        })
    }

    fn service_info(&self, index: usize) -> Result<InfoRecord, Errno> {
        if index >= MAX_SERVICES {
            return Err(Errno::Invalid);
        }
        let service = self.services.get(index).ok_or(Errno::NoEntry)?;
        let mut name = [0; 32];
        let text = service.text.as_bytes();
        name[..text.len()].copy_from_slice(text);
        Ok(InfoRecord {
            name,
            values: [index as u64, service.owner as u64, 0, 0, 0, 0, 0, 0],
        })
    }
}
