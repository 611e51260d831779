//! Names for places in a stopped system: component, function, line, and the callers within the component.

use std::collections::BTreeMap;

use pebble_abi::slot;

use super::records::FrameRecord;
use super::symbols::Symbols;
use super::unwind::{self, Stopped};

/// Most callers that one place is told with.
const CALLERS: usize = 4;

/// A place where something was stopped.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The domain.
    pub domain: u64,
    /// Its address space.
    pub satp: u64,
    /// Instruction or return address.
    pub pc: u64,
    /// It is an instruction.
    pub exact: bool,
    /// Stack pointer.
    pub sp: u64,
    /// Register `ra`, when known.
    pub ra: Option<u64>,
}

impl FrameRecord {
    /// Where the frame's invoker goes on.
    pub fn spot(&self) -> Spot {
        Spot {
            domain: self.domain,
            satp: self.satp,
            pc: self.pc,
            exact: self.exact,
            sp: self.sp,
            ra: None,
        }
    }
}

/// What knows the names.
pub struct Places<'a> {
    /// Names of domains.
    pub domains: &'a BTreeMap<u64, String>,
    /// Debug information.
    pub symbols: &'a Symbols,
    /// A word of memory: address space, address.
    pub read: &'a mut dyn FnMut(u64, u64) -> Option<u64>,
}

impl Places<'_> {
    /// A domain's name.
    pub fn name(&self, domain: u64) -> String {
        self.domains
            .get(&domain)
            .cloned()
            .unwrap_or_else(|| format!("domain {domain}"))
    }

    /// Component, place, callers.
    pub fn describe(&mut self, spot: &Spot) -> String {
        let name = self.name(spot.domain);
        // A return address belongs to the call before it, which may be the last of its line.
        let look_up = if spot.exact {
            spot.pc
        } else {
            spot.pc.saturating_sub(1)
        };
        let Some(place) = self.symbols.place(&name, look_up).describe() else {
            return format!("{name}, pc {:#x}", spot.pc);
        };
        let mut text = format!("{name}, {place} (pc {:#x})", spot.pc);
        let Some(image) = self.symbols.image(&name) else {
            return text;
        };
        let stopped = Stopped {
            pc: spot.pc,
            exact: spot.exact,
            sp: spot.sp,
            ra: spot.ra,
        };
        let callers = unwind::callers(image, stopped, &mut |address| {
            (self.read)(spot.satp, address)
        });
        for caller in callers.into_iter().take(CALLERS) {
            match self
                .symbols
                .place(&name, caller.saturating_sub(1))
                .describe()
            {
                Some(place) => text += &format!(" from {place}"),
                None => break,
            }
        }
        text
    }

    /// A place in the nucleus or the firmware, at work for a domain.
    pub fn privileged(&self, domain: u64, pc: u64) -> String {
        let name = self.name(domain);
        match self.symbols.place(&name, pc).describe() {
            Some(place) => format!("{name}: {place} (pc {pc:#x})"),
            None => format!("{name} (pc {pc:#x})"),
        }
    }

    /// What a thread asked for when it left the domain.
    pub fn reason(&self, frame: &FrameRecord) -> String {
        let standard = slot::STANDARD
            .iter()
            .find(|(_, number, _)| *number as u64 == frame.slot);
        match standard {
            Some((name, _, _)) => {
                format!(" for {}", name.trim_start_matches("SYS_").to_lowercase())
            }
            // Interrupted or faulted, not by its own will.
            None if frame.exact && frame.slot < slot::EXIT as u64 => String::new(),
            None => format!(" for portal {}", frame.slot),
        }
    }
}
