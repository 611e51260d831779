//! Builds the harness for the emulator, with whichever Rust builds these tests.
//!
//! rustup's has the library for the bare target; Debian's compiles it once from `rust-web-src`, as `pebble` does for
//! components. A package made here, outside the workspace, is what cargo needs for either.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "riscv64imac-unknown-none-elf";

/// Builds it; answers the ELF. The name of `scratch` is the caller's alone, for what must not be seen half written.
pub fn build(scratch: &Path) -> PathBuf {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("harness/riscv64");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("harness");
    fs::create_dir_all(&folder).expect("a folder for the harness");
    // Debug form quotes a path as TOML does.
    let manifest = format!(
        "[workspace]\n[package]\nname = \"harness\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
         [[bin]]\nname = \"harness\"\npath = {:?}\ntest = false\n\
         [profile.release]\npanic = \"abort\"\nopt-level = 1\n",
        source.join("harness.rs")
    );
    // Several tests build at once: each puts the same text there in one step, and cargo lets one build at a time.
    let own = folder.join(scratch.file_name().expect("a scratch folder has a name"));
    fs::write(&own, manifest).expect("a manifest");
    fs::rename(&own, folder.join("Cargo.toml")).expect("the manifest in its place");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(&folder)
        .args(["build", "--quiet", "--release", "--target", TARGET]);
    cargo.arg("--target-dir").arg(folder.join("target"));
    let flags = [
        "-Crelocation-model=static".into(),
        format!("-Clink-arg=-T{}", source.join("link.ld").display()),
    ];
    // The encoded form lets blanks in paths be.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    if !library_is_here() {
        cargo.env("RUSTC_BOOTSTRAP", "1").args([
            "-Zbuild-std=core,compiler_builtins",
            "-Zbuild-std-features=compiler-builtins-mem",
        ]);
        cargo.env(
            "CARGO_TARGET_RISCV64IMAC_UNKNOWN_NONE_ELF_LINKER",
            "ld.lld-22",
        );
    }
    let done = cargo.output().expect("cargo starts");
    assert!(
        done.status.success(),
        "the harness does not build:\n{}try `./pebble doctor`",
        String::from_utf8_lossy(&done.stderr)
    );
    folder.join("target").join(TARGET).join("release/harness")
}

/// The compiler brings the library for the bare target.
fn library_is_here() -> bool {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = Command::new(compiler)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .expect("rustc starts");
    Path::new(String::from_utf8_lossy(&told.stdout).trim()).is_dir()
}
