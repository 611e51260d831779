//! The device tree of the simulated machine: what the boot code wants to know of it.

use anyhow::Result;
use vm_fdt::FdtWriter;

use super::{MEMORY, RAM};

/// Ticks of the timebase per second. A tick is 100 cycles on the RTL and 100 instructions in QEMU: a second is a
/// thousand million of either.
const TIMEBASE: u32 = 10_000_000;

/// The tree as bytes, for a bundle from `bundle` to `end`.
pub fn write(bundle: u64, end: u64) -> Result<Vec<u8>> {
    let mut tree = FdtWriter::new()?;
    let root = tree.begin_node("")?;
    tree.property_u32("#address-cells", 2)?;
    tree.property_u32("#size-cells", 2)?;
    tree.property_string("compatible", "pebble,rocket-simulation")?;
    let chosen = tree.begin_node("chosen")?;
    tree.property_u64("linux,initrd-start", bundle)?;
    tree.property_u64("linux,initrd-end", end)?;
    tree.end_node(chosen)?;
    let processors = tree.begin_node("cpus")?;
    tree.property_u32("#address-cells", 1)?;
    tree.property_u32("#size-cells", 0)?;
    tree.property_u32("timebase-frequency", TIMEBASE)?;
    let processor = tree.begin_node("cpu@0")?;
    tree.property_string("device_type", "cpu")?;
    tree.property_u32("reg", 0)?;
    tree.property_string("compatible", "riscv")?;
    tree.property_string("riscv,isa", "rv64imafdc")?;
    tree.property_string("mmu-type", "riscv,sv39")?;
    // QEMU has ASIDs, and a system that begins there must not count on them.
    tree.property_u32("pebble,asid-bits", 0)?;
    tree.end_node(processor)?;
    tree.end_node(processors)?;
    let memory = tree.begin_node(&format!("memory@{RAM:x}"))?;
    tree.property_string("device_type", "memory")?;
    tree.property_array_u64("reg", &[RAM, MEMORY << 20])?;
    tree.property_null("pebble,zeroed")?;
    tree.end_node(memory)?;
    tree.end_node(root)?;
    Ok(tree.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_says_where_the_bundle_is() -> Result<()> {
        let tree = write(0x8180_1000, 0x8190_0234)?;
        assert_eq!(&tree[..4], &0xd00d_feed_u32.to_be_bytes());
        let total = u32::from_be_bytes(tree[4..8].try_into()?);
        assert_eq!(total as usize, tree.len());
        let holds = |word: u64| {
            let word = word.to_be_bytes();
            tree.windows(8).any(|bytes| bytes == word)
        };
        assert!(holds(0x8180_1000) && holds(0x8190_0234));
        assert!(holds(RAM) && holds(MEMORY << 20));
        Ok(())
    }
}
