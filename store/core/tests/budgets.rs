//! Counts the work of `examples/counted.rs` under valgrind and holds the limits of `budgets.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The figures in `budgets.toml` and their limits.
fn limits() -> BTreeMap<String, f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("budgets.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let mut limits = BTreeMap::new();
    let mut figure = String::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        match line
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
        {
            Some(("figure", value)) => figure = value.trim_matches('"').to_owned(),
            Some(("limit", value)) => {
                limits.insert(figure.clone(), value.parse().unwrap());
            }
            _ => {}
        }
    }
    limits
}

/// Builds the program as it is measured. The features of a test build would be in it otherwise.
fn program() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("counted");
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--release",
            "--locked",
            "-p",
            "pebble-store",
        ])
        .args(["--example", "counted", "--target-dir"])
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(
        built.unwrap().success(),
        "the program to be counted does not build"
    );
    target.join("release/examples/counted")
}

/// Instructions in the region of a mode, none if they cannot be counted here.
fn counted(program: &Path, mode: &str, count: u64) -> f64 {
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--collect-atstart=no",
        ])
        .arg(format!("--toggle-collect=*region_{mode}*"))
        .arg(program)
        .args([mode, &count.to_string()])
        // Memory that is set by one repeated instruction would be counted byte by byte.
        .env(
            "GLIBC_TUNABLES",
            "glibc.cpu.x86_rep_stosb_threshold=0x40000000",
        )
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find_map(|line| line.split_once("Collected :"));
    let figure = line.and_then(|(_, figure)| figure.trim().parse().ok());
    figure.unwrap_or_else(|| panic!("{mode} {count}: nothing was counted:\n{text}"))
}

#[test]
fn counted_work_stays_within_its_limits() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!(
            "valgrind is not installed: instructions were not counted (apt-get install valgrind)"
        );
        return;
    }
    let program = program();
    let frames = Command::new(&program)
        .args(["bytes", "500"])
        .output()
        .unwrap();
    assert!(frames.status.success(), "{frames:?}");
    let frames: f64 = String::from_utf8_lossy(&frames.stdout)
        .trim()
        .parse()
        .unwrap();
    let small = counted(&program, "snapshot", 10);
    let large = counted(&program, "snapshot", 10_000);
    let copies = counted(&program, "copy", 1000) - counted(&program, "page", 1000);
    let recovery = counted(&program, "recovery", 30_000) - counted(&program, "recovery", 10_000);
    let found = [
        ("snapshot-pause", large),
        ("snapshot-growth", large - small),
        ("first-write", copies / 1000.0),
        ("recovery-per-entry", recovery / 20_000.0),
        ("frames-per-page", frames),
    ];
    let limits = limits();
    assert_eq!(limits.len(), found.len(), "every limit has a figure");
    let mut passed = Vec::new();
    for (figure, value) in found {
        let limit = limits[figure];
        println!("{figure}: {value:.2} (limit {limit})");
        if value > limit {
            passed.push(format!("{figure} is {value:.2}, its limit {limit}"));
        }
    }
    assert!(passed.is_empty(), "{passed:?}");
}
