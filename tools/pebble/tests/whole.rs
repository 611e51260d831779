//! The command as people use it: from other folders, with odd names, wrong files, and for machines to read.

mod common;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use common::{greeting, image_of, pebble, root, text, Answer};

#[test]
fn a_program_anywhere_with_any_name_runs_from_anywhere() -> Answer {
    let folder = tempfile::tempdir()?;
    let deep = folder.path().join("a folder/with \"quotes\" & more");
    std::fs::create_dir_all(&deep)?;
    for name in ["two words.c", "grüße.c", "-dash.c", "console.c", "a.b.c"] {
        std::fs::write(deep.join(name), greeting(name))?;
        let path = deep.join(name);
        let done = pebble(Path::new("/"), &["run", &path.to_string_lossy()])?;
        assert_eq!(
            text(&done.stdout),
            format!("{name}\n"),
            "{name}: {}",
            text(&done.stderr)
        );
        assert_eq!(text(&done.stderr), "", "{name}");
        assert_eq!(done.status.code(), Some(0));
    }
    // And by a relative name.
    let done = pebble(&deep, &["run", "./two words.c"])?;
    assert_eq!(
        text(&done.stdout),
        "two words.c\n",
        "{}",
        text(&done.stderr)
    );
    Ok(())
}

#[test]
fn a_folder_of_c_files_and_a_ready_image_run() -> Answer {
    let folder = tempfile::tempdir()?;
    let sources = folder.path().join("sources");
    std::fs::create_dir_all(&sources)?;
    std::fs::write(
        sources.join("main.c"),
        "#include <stdio.h>\n#include \"other.h\"\nint main(void) { printf(\"%d\\n\", other()); return 4; }\n",
    )?;
    std::fs::write(sources.join("other.c"), "int other(void) { return 42; }\n")?;
    std::fs::write(sources.join("other.h"), "int other(void);\n")?;
    let done = pebble(folder.path(), &["run", "sources"])?;
    assert_eq!(text(&done.stdout), "42\n", "{}", text(&done.stderr));
    assert_eq!(done.status.code(), Some(4));

    let program = folder.path().join("ready.c");
    std::fs::write(&program, greeting("ready made"))?;
    let image = image_of(folder.path(), &program)?;
    std::fs::write(folder.path().join("ready"), image)?;
    let done = pebble(folder.path(), &["run", "ready"])?;
    assert_eq!(text(&done.stdout), "ready made\n", "{}", text(&done.stderr));
    Ok(())
}

#[test]
fn what_cannot_run_is_told_with_125_and_nothing_on_standard_output() -> Answer {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("bad.c"), "int main(void)\n{\n\treturn missing;\n}\n")?;
    std::fs::write(
        at("unlinked.c"),
        "int other(void);\nint main(void) { return other(); }\n",
    )?;
    std::fs::write(at("text.txt"), "no program\n")?;
    std::fs::write(at("loose.rs"), "fn main() {}\n")?;
    std::fs::create_dir(at("empty"))?;
    std::fs::write(at("broken.toml"), "[system]\nname = \"x\"\nspeed = 9\n")?;
    std::fs::write(at("good.c"), greeting("x"))?;
    for (arguments, told) in [
        (&["run", "nowhere.c"][..], "there is no nowhere.c"),
        (&["run", "bad.c"], "bad.c:3:"),
        (&["run", "unlinked.c"], "undefined reference to `other'"),
        (&["run", "text.txt"], "text.txt"),
        (&["run", "loose.rs"], "a Rust program is a crate"),
        (&["run", "empty"], "empty"),
        (
            &["run", "good.c", "--system", "nowhere.toml"],
            "nowhere.toml",
        ),
        (
            &["run", "good.c", "--system", "broken.toml"],
            "broken.toml:3:1: ",
        ),
        (
            &["run", "good.c", "--with", "broken.toml"],
            "broken.toml:1:",
        ),
        (&["run", "--", "argument"], "arguments without a program"),
    ] {
        let done = pebble(folder.path(), arguments)?;
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(125), "{arguments:?}: {said}");
        assert_eq!(text(&done.stdout), "", "{arguments:?}");
        assert!(said.contains(told), "{told} in {said}");
    }
    for arguments in [
        &["run", "good.c", "--timeout", "0"][..],
        &["fly"],
        &["new", "x"],
    ] {
        let done = pebble(folder.path(), arguments)?;
        assert!(
            !done.status.success() && !done.stderr.is_empty(),
            "{arguments:?}"
        );
        assert_eq!(text(&done.stdout), "");
    }
    Ok(())
}

#[test]
fn the_time_of_day_in_the_guest_is_the_host_s() -> Answer {
    let program = root().join("tests/services/clock.c");
    let done = pebble(Path::new("/"), &["run", &program.to_string_lossy()])?;
    let said = text(&done.stdout);
    let guest: u64 = said.lines().next().unwrap_or_default().parse()?;
    let host = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    assert!(host.abs_diff(guest) < 60, "guest {guest}, host {host}");
    Ok(())
}

#[test]
fn every_described_system_has_a_graph() -> Answer {
    let folder = tempfile::tempdir()?;
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("systems"))? {
        let file = entry?.path();
        if file.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        seen += 1;
        let file = file.to_string_lossy().into_owned();
        let description: toml::Table = std::fs::read_to_string(&file)?.parse()?;
        let components = description["component"].as_array().ok_or("no components")?;
        let done = pebble(folder.path(), &["graph", &file, "--svg", "picture.svg"])?;
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let (words, picture) = (
            text(&done.stdout),
            std::fs::read_to_string(folder.path().join("picture.svg"))?,
        );
        let machine = pebble(folder.path(), &["graph", &file, "--json"])?;
        let machine: serde_json::Value = serde_json::from_slice(&machine.stdout)?;
        let domains = machine["domains"].as_array().ok_or("no domains")?;
        // The program of `pebble run` has its place as well.
        assert_eq!(domains.len(), components.len() + 1, "{file}");
        for component in components {
            let name = component["name"].as_str().unwrap_or_default();
            assert!(
                words.contains(name) && picture.contains(name),
                "{name} of {file}"
            );
            assert!(
                domains.iter().any(|domain| domain["name"] == name),
                "{name}"
            );
        }
        assert!(words.contains("/console/write"), "{words}");
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    }
    assert!(seen >= 3);
    Ok(())
}

#[test]
fn reports_for_machines_are_json() -> Answer {
    let folder = tempfile::tempdir()?;
    std::fs::write(
        folder.path().join("fault.c"),
        "int main(void) { return *(volatile int *)8; }\n",
    )?;
    let done = pebble(folder.path(), &["run", "fault.c", "--json"])?;
    assert_eq!(done.status.code(), Some(139));
    let said = text(&done.stderr);
    let report: serde_json::Value = serde_json::from_str(said.lines().last().unwrap_or_default())?;
    assert_eq!(report["program"], "fault");
    assert_eq!(report["status"], 139);
    assert_eq!(report["timed_out"], false);
    let fault = report["faults"][0].as_str().unwrap_or_default();
    assert!(
        fault.contains("load from 0x8") && fault.contains("fault.c:1"),
        "{fault}"
    );

    let done = pebble(folder.path(), &["doctor", "--json"])?;
    let report: serde_json::Value = serde_json::from_slice(&done.stdout)?;
    let findings = report.as_array().cloned().unwrap_or_default();
    assert!(findings.len() > 3, "{report}");
    for finding in findings {
        assert!(
            finding["what"].is_string() && finding["good"].is_boolean(),
            "{finding}"
        );
    }
    // The same for people.
    let done = pebble(folder.path(), &["doctor"])?;
    assert_eq!(
        done.status.code(),
        Some(0),
        "{}{}",
        text(&done.stdout),
        text(&done.stderr)
    );
    assert!(text(&done.stdout).contains("qemu"));
    Ok(())
}
