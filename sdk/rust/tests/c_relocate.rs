//! The C SDK's pure part on the host: compiles `sdk/c/tests/relocate.c` with the host's C compiler and runs it.

use std::path::Path;
use std::process::Command;

#[test]
fn the_c_sdk_moves_stacks_correctly() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/tests/relocate.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("relocate");
    let compiled = Command::new("cc")
        .args(["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-o"])
        .args([&program, &source])
        .output()
        .expect("`cc` is there: cargo itself links with it");
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let ran = Command::new(&program).output().expect("it was just linked");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stdout)
    );
}
