//! Device registers and interrupts: each belongs to one component.

use pebble_abi::bundle;
use pebble_abi::layout::{PAGE, RAM};
use toml::Spanned;

use super::super::description::{DeviceEntry, Entry};
use super::super::model::Device;
use super::Checker;

/// Interrupt sources of the `virt` machine's controller.
const SOURCES: u32 = 95;

impl Checker<'_> {
    /// The records of one component.
    pub(super) fn device_records(&mut self, entries: &[Spanned<DeviceEntry>]) -> Vec<Device> {
        if let Some(extra) = entries.get(bundle_devices()) {
            self.complain(
                extra.span(),
                "too many devices for one component",
                format!("at most {}: split the driver", bundle_devices()),
            );
        }
        entries
            .iter()
            .map(|entry| self.device_record(entry))
            .collect()
    }

    fn device_record(&mut self, entry: &Spanned<DeviceEntry>) -> Device {
        let raw = entry.get_ref();
        let (base, bytes) = (*raw.base.get_ref(), *raw.bytes.get_ref());
        if base % PAGE != 0 {
            self.complain(
                raw.base.span(),
                format!("{base:#x} is not the start of a page"),
                format!("base = {:#x}", base - base % PAGE),
            );
        }
        if bytes == 0 || bytes % PAGE != 0 {
            self.complain(
                raw.bytes.span(),
                format!("{bytes:#x} bytes are not whole pages"),
                format!("bytes = {:#x}", bytes.max(1).next_multiple_of(PAGE)),
            );
        }
        if base.saturating_add(bytes) > RAM {
            self.complain(
                raw.base.span(),
                "these registers would lie in memory",
                format!("devices of the `virt` machine are below {RAM:#x}"),
            );
        }
        let interrupt = raw.interrupt.as_ref().map_or(0, |number| *number.get_ref());
        if interrupt > SOURCES {
            self.complain(
                entry.span(),
                format!("interrupt {interrupt} does not exist"),
                format!("1 to {SOURCES}, or none"),
            );
        }
        Device {
            base,
            bytes,
            interrupt,
        }
    }

    /// No register page and no interrupt has two owners.
    pub(super) fn devices(&mut self, entries: &[Spanned<Entry>]) {
        let all: Vec<(&str, &Spanned<DeviceEntry>)> = entries
            .iter()
            .flat_map(|entry| {
                let name = entry.get_ref().name.get_ref().as_str();
                entry
                    .get_ref()
                    .devices
                    .iter()
                    .map(move |device| (name, device))
            })
            .collect();
        for (index, (name, device)) in all.iter().enumerate() {
            for (other_name, other) in &all[..index] {
                let (one, two) = (device.get_ref(), other.get_ref());
                let start = *one.base.get_ref().max(two.base.get_ref());
                let end = |device: &DeviceEntry| {
                    device
                        .base
                        .get_ref()
                        .saturating_add(*device.bytes.get_ref())
                };
                if start < end(one).min(end(two)) {
                    self.complain(
                        one.base.span(),
                        format!(
                            "`{name}` and `{other_name}` (line {}) would both own {start:#x}",
                            self.source.line(other.span().start)
                        ),
                        "give the device to one of them; the other calls it through a portal",
                    );
                }
                if let (Some(one), Some(two)) = (&one.interrupt, &two.interrupt) {
                    if one.get_ref() == two.get_ref() && *one.get_ref() != 0 {
                        self.complain(
                            one.span(),
                            format!(
                                "interrupt {} already belongs to `{other_name}` (line {})",
                                one.get_ref(),
                                self.source.line(two.span().start)
                            ),
                            "one component waits for an interrupt",
                        );
                    }
                }
            }
        }
    }
}

fn bundle_devices() -> usize {
    let records = std::mem::size_of_val(&[bundle::Device::default(); 4]);
    records / std::mem::size_of::<bundle::Device>()
}
