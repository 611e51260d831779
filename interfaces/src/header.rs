//! Renders the services as a C header and as the reference's table.

use core::fmt::{self, Write};

use crate::{console, pager, pipe, Service, ALL};

fn services() -> impl Iterator<Item = &'static Service> {
    ALL.iter().copied().flatten()
}

/// Writes `sdk/c/include/pebble/services.h`.
pub fn write_header(out: &mut dyn Write) -> fmt::Result {
    writeln!(
        out,
        "/* Services by name, and their specifications. Generated from interfaces/: do not edit. */"
    )?;
    writeln!(
        out,
        "#ifndef PEBBLE_SERVICES_H\n#define PEBBLE_SERVICES_H\n"
    )?;
    for service in services() {
        writeln!(out, "/* {} */", service.meaning)?;
        writeln!(out, "#define {} \"{}\"", service.c_name, service.name)?;
        writeln!(
            out,
            "#define {}_SPECIFICATION \"{}\"",
            service.c_name, service.specification
        )?;
    }
    writeln!(out, "\n#define CONSOLE_MOST {}", console::MOST)?;
    writeln!(out, "#define PIPE_CAPACITY {}", pipe::CAPACITY)?;
    writeln!(out, "#define PIPE_READING_END {}", pipe::READING_END)?;
    writeln!(out, "#define PIPE_WRITING_END {}", pipe::WRITING_END)?;
    writeln!(
        out,
        "#define PAGER_SPECIFICATION \"{}\"",
        pager::SPECIFICATION
    )?;
    for (name, value) in [
        ("READ", pager::access::READ),
        ("WRITE", pager::access::WRITE),
        ("EXECUTE", pager::access::EXECUTE),
        ("SUPPLY_MOVE", pager::supply::MOVE),
        ("SUPPLY_WRITE", pager::supply::WRITE),
    ] {
        writeln!(out, "#define PAGER_{name} {value}")?;
    }
    writeln!(out, "\n#endif")
}

/// Writes `docs/reference/services.md`.
pub fn write_reference(out: &mut dyn Write) -> fmt::Result {
    writeln!(
        out,
        "# Services\n\nGenerated from `interfaces/`; a test holds it in step. A client opens a name and calls the \
         portal it gets.\n\n| name | C name | specification | arguments and answer |\n|---|---|---|---|"
    )?;
    for service in services() {
        let Service {
            c_name,
            name,
            specification,
            meaning,
        } = service;
        writeln!(
            out,
            "| `{name}` | `{c_name}` | `{specification}` | {meaning} |"
        )?;
    }
    writeln!(
        out,
        "\n## Ends of a pipe\n\n| name | specification |\n|---|---|"
    )?;
    for operation in pipe::Operation::ALL {
        writeln!(
            out,
            "| `/pipe/NUMBER/{}` | `{}` |",
            operation.word(),
            operation.specification()
        )?;
    }
    Ok(())
}
