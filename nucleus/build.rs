//! Links the boot image with its own memory layout.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo:rustc-link-arg-bins=-T{folder}/riscv64/link.ld");
    println!("cargo:rustc-link-arg-bins=--no-relax");
    println!("cargo:rerun-if-changed=riscv64/link.ld");
}
