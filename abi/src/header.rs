//! Renders the shared numbers as the C header and as the reference's tables.

use core::fmt::{self, Write};

use core::mem::offset_of;

use crate::object::StartInfo;
use crate::{errno, layout, object, slot, wiring};

/// Writes `sdk/c/include/pebble/abi.h`.
pub fn write_header(out: &mut dyn Write) -> fmt::Result {
    writeln!(
        out,
        "/* Numbers that components share with the system. Generated from abi/: do not edit. */"
    )?;
    writeln!(out, "#ifndef PEBBLE_ABI_H\n#define PEBBLE_ABI_H\n")?;
    writeln!(out, "#define NPORTALS {}", slot::NPORTALS)?;
    writeln!(out, "#define NAMELEN {}", slot::NAMELEN)?;
    writeln!(
        out,
        "#define PEBBLE_FIRST_DYNAMIC {}\n",
        slot::FIRST_DYNAMIC
    )?;
    for (name, number, meaning) in slot::STANDARD {
        writeln!(out, "#define {name} {number} /* {meaning} */")?;
    }
    writeln!(out)?;
    // The assembler knows no suffixes.
    writeln!(out, "#ifdef __ASSEMBLER__\n#define PEBBLE_UL(value) value\n#else\n#define PEBBLE_UL(value) value##UL\n#endif\n")?;
    for (name, value) in ADDRESSES {
        writeln!(out, "#define PEBBLE_{name} PEBBLE_UL({value:#x})")?;
    }
    writeln!(
        out,
        "\n/* Offsets in the page at PEBBLE_START_INFO, which begins with PEBBLE_START_MAGIC. */"
    )?;
    writeln!(
        out,
        "#define PEBBLE_START_MAGIC PEBBLE_UL({:#x})",
        object::START_MAGIC
    )?;
    for (name, offset) in START_INFO {
        writeln!(out, "#define PEBBLE_START_{name} {offset}")?;
    }
    writeln!(out)?;
    for (name, number, meaning) in errno::ALL {
        writeln!(out, "#define PEBBLE_{name} {number} /* {meaning} */")?;
    }
    writeln!(out, "\n#endif")
}

/// Writes `docs/reference/abi.md`.
pub fn write_reference(out: &mut dyn Write) -> fmt::Result {
    writeln!(
        out,
        "# Numbers\n\nGenerated from `abi/`; a test holds it in step.\n"
    )?;
    writeln!(
        out,
        "## Portal table\n\n{} slots; names and specifications are at most {} bytes long.\n",
        slot::NPORTALS,
        slot::NAMELEN - 1
    )?;
    writeln!(out, "| slot | C name | meaning |\n|---|---|---|")?;
    for (name, number, meaning) in slot::STANDARD {
        writeln!(out, "| {number} | `{name}` | {meaning} |")?;
    }
    writeln!(
        out,
        "\n## Address space of a component\n\n| address | name |\n|---|---|"
    )?;
    for (name, value) in ADDRESSES {
        writeln!(out, "| `{value:#x}` | `{name}` |")?;
    }
    write_core_portals(out)?;
    writeln!(
        out,
        "\n## Errors\n\nReturned negated.\n\n| name | number | meaning |\n|---|---|---|"
    )?;
    for (name, number, meaning) in errno::ALL {
        writeln!(out, "| `{name}` | {number} | {meaning} |")?;
    }
    Ok(())
}

const START_INFO: &[(&str, usize)] = &[
    ("ASID", offset_of!(StartInfo, asid)),
    ("STACK_AREA", offset_of!(StartInfo, stack_area)),
    ("FLAGS", offset_of!(StartInfo, flags)),
    ("ARGC", offset_of!(StartInfo, argc)),
    ("ARGV_OFFSET", offset_of!(StartInfo, argv_offset)),
    ("IMAGE_END", offset_of!(StartInfo, image_end)),
    ("NAME", offset_of!(StartInfo, name)),
];

const ADDRESSES: &[(&str, u64)] = &[
    ("PAGE", layout::PAGE),
    ("GATE", layout::GATE),
    ("GATE_RETURN", layout::GATE + layout::GATE_RETURN),
    ("GATE_THREAD_EXIT", layout::GATE + layout::GATE_THREAD_EXIT),
    ("START_INFO", layout::START_INFO),
    ("IMAGE", layout::IMAGE),
    ("HEAP_LIMIT", layout::HEAP_LIMIT),
    ("DEVICE", layout::DEVICE),
    ("STACKS", layout::STACKS),
    ("STACK_AREA", layout::STACK_AREA),
    ("STACK_SLOT", layout::STACK_SLOT),
    ("STACK_SLOTS", layout::STACK_SLOTS),
    ("STACK_BOTTOM", layout::STACK_BOTTOM),
    ("USER_LIMIT", layout::USER_LIMIT),
];

/// Names of the core domains by role.
const CORE_NAMES: [&str; 8] = [
    "",
    "virtual-memory",
    "portal-manager",
    "scheduler",
    "interrupt-dispatcher",
    "idle",
    "init",
    "loader",
];

/// What each core server may do, as boot code wires it.
fn write_core_portals(out: &mut dyn Write) -> fmt::Result {
    writeln!(
        out,
        "\n## Portals of core servers\n\nAll that is in their tables when the first thread runs, but for the traps, the way\nback, and the last words (slot {}).\n",
        slot::PUTC
    )?;
    writeln!(out, "| client | slot | what |\n|---|---|---|")?;
    for (role, name) in CORE_NAMES.iter().enumerate().skip(1) {
        for &(_, slot, special) in wiring::SPECIAL.iter().filter(|wire| wire.0 == role as u32) {
            writeln!(out, "| {name} | {slot} | {special:?} |")?;
        }
        for wire in wiring::CORE
            .iter()
            .filter(|wire| wire.client == role as u32)
        {
            let server = CORE_NAMES[wire.server as usize];
            let (slot, entry, text) = (wire.slot, wire.entry, wire.specification);
            writeln!(
                out,
                "| {name} | {slot} | {server}, entry {entry} (`{text}`) |"
            )?;
        }
    }
    for slot in wiring::INIT_STANDARD {
        writeln!(out, "| init | {slot} | standard |")?;
    }
    Ok(())
}
