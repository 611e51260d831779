//! The generated C header and reference are the ones in the tree; `PEBBLE_BLESS=1 cargo test` writes them.

use std::fmt::{self, Write};
use std::path::Path;

fn check(relative: &str, render: fn(&mut dyn Write) -> fmt::Result) {
    let mut expected = String::new();
    render(&mut expected).expect("a String takes everything");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(relative);
    if std::env::var_os("PEBBLE_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("the tree is writable");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{relative} differs from interfaces/; run `PEBBLE_BLESS=1 cargo test -p pebble-interfaces` and look at the difference"
    );
}

#[test]
fn the_c_header_is_current() {
    check(
        "sdk/c/include/pebble/services.h",
        pebble_interfaces::header::write_header,
    );
}

#[test]
fn the_reference_is_current() {
    check(
        "docs/reference/services.md",
        pebble_interfaces::header::write_reference,
    );
}

#[test]
fn every_name_is_absolute_unique_and_short() {
    let mut names: Vec<&str> = Vec::new();
    for service in pebble_interfaces::ALL.iter().copied().flatten() {
        assert!(
            service.name.starts_with('/') && service.name.len() < 64,
            "{service:?}"
        );
        assert!(!names.contains(&service.name), "{service:?} twice");
        names.push(service.name);
    }
    assert!(names.len() >= 10);
}
