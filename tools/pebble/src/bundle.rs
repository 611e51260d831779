//! Writes the bundle: the checked description and every image in the layout of `pebble_abi::bundle`.
//!
//! Fields are placed by `offset_of!` on the shared structures, so this file knows no number of the layout.

use std::mem::{offset_of, size_of};

use anyhow::{ensure, Result};
use pebble_abi::bundle::{self, Component as Record, Device as DeviceRecord, Header};
use pebble_abi::layout::PAGE;

use crate::system::{Component, Grants, System};

/// A component with its image.
pub struct Packed<'a> {
    /// Its description.
    pub component: &'a Component,
    /// The ELF file's bytes.
    pub image: Vec<u8>,
    /// Flags of the record.
    pub flags: u32,
}

/// Little-endian bytes with fields at given places.
struct Bytes(Vec<u8>);

impl Bytes {
    fn put(&mut self, offset: usize, value: &[u8]) {
        let end = offset + value.len();
        if self.0.len() < end {
            self.0.resize(end, 0);
        }
        self.0[offset..end].copy_from_slice(value);
    }
    fn put32(&mut self, offset: usize, value: u32) {
        self.put(offset, &value.to_le_bytes());
    }
    fn put64(&mut self, offset: usize, value: u64) {
        self.put(offset, &value.to_le_bytes());
    }
    /// Appends text that a NUL ends; answers where it starts.
    fn text(&mut self, text: &str) -> u64 {
        let start = self.0.len() as u64;
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
        start
    }
}

/// The bundle of a system with these components, in their order.
pub fn write(system: &System, components: &[Packed<'_>], flags: u64) -> Result<Vec<u8>> {
    let records = size_of::<Header>();
    let mut bytes = Bytes(vec![0; records + components.len() * size_of::<Record>()]);
    let name = bytes.text(&system.name);
    for (index, packed) in components.iter().enumerate() {
        let record = records + index * size_of::<Record>();
        write_record(&mut bytes, record, packed)?;
    }
    for (index, packed) in components.iter().enumerate() {
        let record = records + index * size_of::<Record>();
        let image = bytes.0.len().next_multiple_of(PAGE as usize);
        bytes.put64(record + offset_of!(Record, image), image as u64);
        bytes.put64(
            record + offset_of!(Record, image_bytes),
            packed.image.len() as u64,
        );
        bytes.put(image, &packed.image);
    }
    bytes.put64(offset_of!(Header, magic), bundle::MAGIC);
    bytes.put32(offset_of!(Header, version), bundle::VERSION);
    bytes.put32(offset_of!(Header, count), components.len() as u32);
    bytes.put64(offset_of!(Header, bytes), bytes.0.len() as u64);
    bytes.put64(offset_of!(Header, flags), flags);
    bytes.put64(offset_of!(Header, name), name);
    Ok(bytes.0)
}

fn write_record(bytes: &mut Bytes, record: usize, packed: &Packed<'_>) -> Result<()> {
    let component = packed.component;
    let grants = &component.grants;
    ensure!(
        component.name.len() < bundle::NAME,
        "the component name `{}` is longer than {} bytes",
        component.name,
        bundle::NAME - 1
    );
    bytes.put(record + offset_of!(Record, name), component.name.as_bytes());
    bytes.put32(record + offset_of!(Record, role), component.role);
    bytes.put32(record + offset_of!(Record, priority), grants.priority);
    bytes.put32(
        record + offset_of!(Record, memory_pages),
        grants.memory_pages,
    );
    bytes.put32(record + offset_of!(Record, flags), packed.flags);
    bytes.put32(record + offset_of!(Record, quantum), grants.quantum);
    bytes.put32(record + offset_of!(Record, budget), grants.budget);
    bytes.put32(
        record + offset_of!(Record, argc),
        component.args.len() as u32,
    );
    bytes.put32(
        record + offset_of!(Record, devices),
        component.devices.len() as u32,
    );
    for (index, device) in component.devices.iter().enumerate() {
        let place = record + offset_of!(Record, device) + index * size_of::<DeviceRecord>();
        bytes.put64(place + offset_of!(DeviceRecord, base), device.base);
        bytes.put64(place + offset_of!(DeviceRecord, bytes), device.bytes);
        bytes.put32(
            place + offset_of!(DeviceRecord, interrupt),
            device.interrupt,
        );
    }
    let args = bytes.0.len() as u64;
    for argument in &component.args {
        ensure!(
            !argument.contains('\0'),
            "an argument of `{}` holds a NUL byte",
            component.name
        );
        bytes.text(argument);
    }
    bytes.put64(record + offset_of!(Record, args), args);
    let rules = write_rules(bytes, grants);
    bytes.put64(record + offset_of!(Record, rules), rules);
    Ok(())
}

fn write_rules(bytes: &mut Bytes, grants: &Grants) -> u64 {
    let start = bytes.0.len() as u64;
    for pattern in &grants.open {
        bytes.text(&format!("+open {pattern}"));
    }
    for pattern in &grants.register {
        bytes.text(&format!("+register {pattern}"));
    }
    for pattern in &grants.decide {
        bytes.text(&format!("+decide {pattern}"));
    }
    bytes.text("");
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Device;

    fn number(bytes: &[u8], offset: usize) -> usize {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[offset..offset + 8]);
        u64::from_le_bytes(word) as usize
    }

    fn strings(bytes: &[u8], mut offset: usize, count: usize) -> Vec<String> {
        let mut found = Vec::new();
        for _ in 0..count {
            let length = bytes[offset..]
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(0);
            found.push(String::from_utf8_lossy(&bytes[offset..offset + length]).into_owned());
            offset += length + 1;
        }
        found
    }

    fn sample() -> System {
        let grants = Grants {
            priority: 7,
            memory_pages: 99,
            open: vec!["/console/*".into()],
            register: vec!["/echo".into()],
            decide: vec!["/echo".into()],
            quantum: 10,
            budget: 3,
        };
        System {
            name: "sample".into(),
            shell: None,
            program: grants.clone(),
            components: vec![Component {
                name: "echo".into(),
                path: "echo.c".into(),
                role: 0,
                start: true,
                critical: false,
                args: vec!["echo".into(), "two words".into()],
                grants,
                devices: vec![Device {
                    base: 0x1000_0000,
                    bytes: 4096,
                    interrupt: 10,
                }],
                line: 1,
            }],
        }
    }

    #[test]
    fn what_is_written_can_be_read_by_the_shared_layout() -> Result<()> {
        let system = sample();
        let packed = [Packed {
            component: &system.components[0],
            image: vec![0x7f; 5000],
            flags: bundle::START,
        }];
        let bytes = write(&system, &packed, bundle::INTERACTIVE)?;
        assert_eq!(
            number(&bytes, offset_of!(Header, magic)) as u64,
            bundle::MAGIC
        );
        assert_eq!(number(&bytes, offset_of!(Header, bytes)), bytes.len());
        assert_eq!(
            number(&bytes, offset_of!(Header, flags)) as u64,
            bundle::INTERACTIVE
        );
        assert_eq!(
            strings(&bytes, number(&bytes, offset_of!(Header, name)), 1),
            ["sample"]
        );
        let record = size_of::<Header>();
        let image = number(&bytes, record + offset_of!(Record, image));
        assert_eq!(image % PAGE as usize, 0);
        assert_eq!(
            number(&bytes, record + offset_of!(Record, image_bytes)),
            5000
        );
        assert!(bytes[image..image + 5000].iter().all(|byte| *byte == 0x7f));
        let args = number(&bytes, record + offset_of!(Record, args));
        assert_eq!(strings(&bytes, args, 2), ["echo", "two words"]);
        let rules = number(&bytes, record + offset_of!(Record, rules));
        assert_eq!(
            strings(&bytes, rules, 4),
            ["+open /console/*", "+register /echo", "+decide /echo", ""]
        );
        assert_eq!(
            number(&bytes, record + offset_of!(Record, device)),
            0x1000_0000
        );
        assert_eq!(bytes[record + offset_of!(Record, quantum)], 10);
        Ok(())
    }

    #[test]
    fn arguments_with_nul_are_refused() {
        let mut system = sample();
        system.components[0].args.push("a\0b".into());
        let packed = [Packed {
            component: &system.components[0],
            image: vec![],
            flags: 0,
        }];
        assert!(write(&system, &packed, 0).is_err());
    }
}
