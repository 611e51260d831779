//! The system behind the shell's portals, opened when first used.

use core::cell::Cell;

use alloc::string::String;

use pebble::abi::object::InfoRecord;
use pebble::abi::slot::NAMELEN;
use pebble::interfaces::{init, name_server, power, Service};
use pebble::{answer, invoke_portal, Errno, Error};
use shell_commands::collect::System;

/// A portal's slot; none until it is open.
struct Portal(Cell<Option<usize>>, Service);

impl Portal {
    const fn to(service: Service) -> Self {
        Portal(Cell::new(None), service)
    }

    /// Calls it. A service that died may have a successor of the same name: it is opened anew at the next call.
    fn call(&self, a1: usize, a2: usize) -> Result<usize, Error> {
        let slot = match self.0.get() {
            Some(slot) => slot,
            None => {
                let slot = pebble::portal_open(self.1.name)?;
                self.0.set(Some(slot));
                slot
            }
        };
        let result = answer(invoke_portal(slot, a1, a2, 0, 0, 0));
        if result.is_err_and(|error| error == Errno::OwnerDead) {
            self.0.set(None);
            // It leads nowhere; if it cannot be closed, one slot is lost.
            let _ = pebble::portal_close(slot);
        }
        result
    }
}

/// The shell's portals.
pub struct Portals {
    start: Portal,
    stop: Portal,
    component: Portal,
    list: Portal,
    off: Portal,
}

/// Bytes of a record.
const RECORD: usize = size_of::<InfoRecord>();

/// A buffer that never crosses a page, so that a window shows it.
#[repr(align(128))]
struct Shown<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> Shown<BYTES> {
    fn new() -> Self {
        Shown([0; BYTES])
    }

    fn address(&mut self) -> usize {
        self.0.as_mut_ptr() as usize
    }
}

impl Shown<RECORD> {
    fn record(&self) -> InfoRecord {
        let mut record = InfoRecord::default();
        let (name, values) = self.0.split_at(record.name.len());
        record.name.copy_from_slice(name);
        for (value, bytes) in record.values.iter_mut().zip(values.chunks_exact(8)) {
            *value = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        }
        record
    }
}

/// A component's name with its closing NUL.
fn shown_name(name: &str) -> Result<Shown<NAMELEN>, Error> {
    let mut shown = Shown::new();
    let place = shown.0[..NAMELEN - 1].get_mut(..name.len());
    place
        .ok_or(Errno::NameTooLong)?
        .copy_from_slice(name.as_bytes());
    Ok(shown)
}

impl Portals {
    /// None of them open.
    pub const fn new() -> Self {
        Portals {
            start: Portal::to(init::START),
            stop: Portal::to(init::STOP),
            component: Portal::to(init::COMPONENT),
            list: Portal::to(name_server::LIST),
            off: Portal::to(power::OFF),
        }
    }
}

impl System for Portals {
    fn record(&self, kind: usize, index: usize) -> Result<InfoRecord, Error> {
        let mut shown = Shown::<RECORD>::new();
        pebble::system_info(kind, index, &mut shown.0)?;
        Ok(shown.record())
    }

    fn component(&self, index: usize) -> Result<InfoRecord, Error> {
        let mut shown = Shown::<RECORD>::new();
        self.component.call(index, shown.address())?;
        Ok(shown.record())
    }

    fn name(&self, index: usize) -> Result<(String, usize), Error> {
        let mut shown = Shown::<NAMELEN>::new();
        let service = self.list.call(index, shown.address())?;
        let end = shown.0.iter().position(|&byte| byte == 0);
        let name = String::from_utf8_lossy(&shown.0[..end.unwrap_or(NAMELEN)]).into_owned();
        Ok((name, service))
    }

    fn start(&self, name: &str) -> Result<usize, Error> {
        self.start.call(shown_name(name)?.address(), 0)
    }

    fn stop(&self, name: &str, force: bool) -> Result<(), Error> {
        let mut name = shown_name(name)?;
        self.stop.call(name.address(), force.into()).map(drop)
    }

    fn power_off(&self, status: u8) -> Error {
        match self.off.call(status.into(), 0) {
            Ok(_) => Errno::Io.into(),
            Err(error) => error,
        }
    }

    fn time_of_day(&self) -> u64 {
        pebble::time_of_day()
    }
}
