//! A second run finds everything in place: it installs nothing, builds nothing, and is over within seconds.

mod common;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant, SystemTime};

use common::{greeting, root, text, Answer};

/// Generous: boot, one line and the end take less than two seconds on a machine that has nothing else to do.
const LIMIT: Duration = Duration::from_secs(10);
/// A machine may be busy; one quick run out of these shows that no set-up takes the time.
const RUNS: usize = 3;

/// The launcher, as people type it, on a machine where installing leaves a trace.
fn launch(folder: &Path, installers: &Path) -> Answer<Output> {
    let mut path = vec![installers.to_path_buf()];
    path.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    Ok(Command::new(root().join("pebble"))
        .args(["run", "again.c"])
        .current_dir(folder)
        .env_remove("PEBBLE_ROOT")
        .env("PATH", std::env::join_paths(path)?)
        .output()?)
}

/// Programs in place of those that install: each call is a line of the file `calls`.
fn installers(folder: &Path) -> Answer<PathBuf> {
    let place = folder.join("installers");
    std::fs::create_dir(&place)?;
    for name in ["apt-get", "sudo"] {
        let script = format!(
            "#!/bin/sh\necho {name} \"$*\" >>'{}'\nexit 1\n",
            folder.join("calls").display()
        );
        std::fs::write(place.join(name), script)?;
        std::fs::set_permissions(place.join(name), PermissionsExt::from_mode(0o755))?;
    }
    Ok(place)
}

/// When what compilers made was made: all that cargo built for the machine, the SDK's objects, the tool.
fn built() -> Answer<BTreeMap<PathBuf, SystemTime>> {
    let mut found = BTreeMap::new();
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root().join("target"))? {
        let folder = entry?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("pebble-") {
            folders.push(folder.clone());
        }
        for target in ["riscv64imac", "riscv64gc"] {
            let deps = format!("{target}-unknown-none-elf/release/deps");
            // Other tests build programs in Rust at the same time: the folder of those is not looked at.
            if ["nucleus", "system"].contains(&name.as_ref()) && folder.join(&deps).exists() {
                folders.push(folder.join(deps));
            }
        }
    }
    for folder in folders {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            found.insert(entry.path(), entry.metadata()?.modified()?);
        }
    }
    Ok(found)
}

#[test]
fn a_second_run_sets_nothing_up_and_is_over_within_seconds() -> Answer {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("again.c"), greeting("again"))?;
    let installers = installers(folder.path())?;
    let first = launch(folder.path(), &installers)?;
    assert_eq!(text(&first.stdout), "again\n", "{}", text(&first.stderr));
    let before = built()?;
    assert!(before.len() > 20, "{before:?}");
    let mut quickest = Duration::MAX;
    for _ in 0..RUNS {
        let started = Instant::now();
        let done = launch(folder.path(), &installers)?;
        quickest = quickest.min(started.elapsed());
        assert_eq!(text(&done.stdout), "again\n");
        // Installing, building the tool, downloading: each says so.
        assert_eq!(text(&done.stderr), "");
        assert_eq!(done.status.code(), Some(0));
        if quickest < LIMIT {
            break;
        }
    }
    assert!(quickest < LIMIT, "the quickest took {quickest:?}");
    assert!(before == built()?, "something was built again");
    assert!(!folder.path().join("calls").exists());
    Ok(())
}
