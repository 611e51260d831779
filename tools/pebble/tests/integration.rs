//! Continuous integration is the test command that everybody types, and nothing else.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A checkout whose `pebble` tells its arguments and ends with status 7.
fn checkout(folder: &Path) -> io::Result<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/run");
    std::fs::create_dir(folder.join(".ci"))?;
    // Contents and permissions: it must be executable as it is in the tree.
    std::fs::copy(source, folder.join(".ci/run"))?;
    let pebble = folder.join("pebble");
    std::fs::write(&pebble, "#!/bin/sh\nprintf '[%s]' \"$@\"\nexit 7\n")?;
    std::fs::set_permissions(pebble, PermissionsExt::from_mode(0o755))
}

#[test]
fn it_runs_the_test_command_of_its_own_checkout_and_passes_its_status_on() -> io::Result<()> {
    let folder = tempfile::Builder::new().prefix("two words ").tempdir()?;
    checkout(folder.path())?;
    // From anywhere, with nothing on PATH that could be meant instead.
    for here in [Path::new("/"), folder.path()] {
        let done = Command::new(folder.path().join(".ci/run"))
            .current_dir(here)
            .output()?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(String::from_utf8_lossy(&done.stdout), "[test]", "{said}");
        assert_eq!(done.status.code(), Some(7), "{said}");
        assert_eq!(said, "");
    }
    Ok(())
}
