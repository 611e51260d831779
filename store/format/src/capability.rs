//! Capabilities on disk: 24 bytes each, and pages of them.

use alloc::boxed::Box;

use pebble_store_device::Frame;
use pebble_store_object::{Capability, Kind, ObjectId, Rights, Version};

use crate::bytes::{get_u64, pack, put_u64, unpack, zero_frame};
use crate::DecodeError;

/// Bytes of a capability: object 8, version 6, kind 1, rights 1, data 8.
pub const CAPABILITY_BYTES: usize = 24;

/// Capabilities of a capability page. 16 bytes at its end are zero.
pub const PAGE_CAPABILITIES: usize = 170;

/// The contents of a capability page.
pub type CapabilityPage = [Capability; PAGE_CAPABILITIES];

/// Writes a capability into its 24 bytes, from `at` on. The version's bits from 48 on are cut off; none has them.
pub fn encode_capability(capability: &Capability, bytes: &mut [u8], at: usize) {
    put_u64(bytes, at, capability.object.0);
    let word = pack(
        capability.version.0,
        capability.kind as u8,
        capability.rights.bits(),
    );
    put_u64(bytes, at + 8, word);
    put_u64(bytes, at + 16, capability.data);
}

/// Reads a capability from the 24 bytes from `at` on. Kinds and rights without a meaning are refused.
pub fn decode_capability(bytes: &[u8], at: usize) -> Result<Capability, DecodeError> {
    let (version, kind, rights) = unpack(get_u64(bytes, at + 8));
    let error = |offset, field, found, allowed| {
        DecodeError::value("capability", at + offset, field, u64::from(found), allowed)
    };
    Ok(Capability {
        kind: Kind::from_number(kind).ok_or(error(14, "kind", kind, "0 to 10"))?,
        rights: Rights::from_bits(rights).ok_or(error(15, "rights", rights, "0 to 7"))?,
        object: ObjectId(get_u64(bytes, at)),
        version: Version(version),
        data: get_u64(bytes, at + 16),
    })
}

/// Writes a capability page.
pub fn encode_capability_page(page: &CapabilityPage) -> Box<Frame> {
    let mut frame = zero_frame();
    for (slot, capability) in page.iter().enumerate() {
        encode_capability(capability, &mut frame[..], slot * CAPABILITY_BYTES);
    }
    frame
}

/// Reads a capability page.
pub fn decode_capability_page(frame: &Frame) -> Result<Box<CapabilityPage>, DecodeError> {
    let mut page = Box::new([Capability::VOID; PAGE_CAPABILITIES]);
    for (slot, capability) in page.iter_mut().enumerate() {
        *capability = decode_capability(frame, slot * CAPABILITY_BYTES)?;
    }
    let end = PAGE_CAPABILITIES * CAPABILITY_BYTES;
    for at in [end, end + 8] {
        let found = get_u64(frame, at);
        if found != 0 {
            return Err(DecodeError::value(
                "capability page",
                at,
                "rest",
                found,
                "0",
            ));
        }
    }
    Ok(page)
}
