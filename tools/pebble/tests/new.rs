//! `pebble new` makes components outside the tree that build and run at once, in both languages.

use std::path::Path;
use std::process::{Command, Output};

fn pebble(folder: &Path, arguments: &[&str]) -> std::io::Result<Output> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_pebble"));
    command
        .current_dir(folder)
        .env("PEBBLE_ROOT", root)
        .args(arguments);
    command.output()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn made_and_run(language: &str) -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let made = pebble(folder.path(), &["new", "my-first", "--lang", language])?;
    assert!(made.status.success(), "{}", text(&made.stderr));
    // The last line is the command to type next.
    let said = text(&made.stdout);
    let next = said.lines().last().unwrap_or_default();
    let program = next.rsplit(' ').next().unwrap_or_default();
    assert!(
        next.starts_with("next: ") && next.contains("pebble run "),
        "{said}"
    );
    let run = pebble(folder.path(), &["run", program])?;
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(
        text(&run.stdout).contains("my-first"),
        "{}",
        text(&run.stdout)
    );
    assert_eq!(text(&run.stderr), "");
    Ok(())
}

#[test]
fn in_c() -> std::io::Result<()> {
    made_and_run("c")
}

#[test]
fn in_rust() -> std::io::Result<()> {
    made_and_run("rust")
}

#[test]
fn bad_names_and_taken_names_are_refused() -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    for name in [
        "Upper",
        "two words",
        "1st",
        "..",
        "a-name-that-is-longer-than-a-component-may-have",
    ] {
        let done = pebble(folder.path(), &["new", name, "--lang", "c"])?;
        assert_eq!(done.status.code(), Some(125), "{name}");
        assert!(
            text(&done.stderr).contains("is not a component's name"),
            "{name}"
        );
    }
    std::fs::create_dir(folder.path().join("taken"))?;
    let done = pebble(folder.path(), &["new", "taken", "--lang", "c"])?;
    assert!(text(&done.stderr).contains("already there"));
    Ok(())
}
