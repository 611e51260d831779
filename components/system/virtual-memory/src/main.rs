//! The VM server: a passive component that threads enter through portals.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("the VM server runs only inside Pebble: build it for riscv64imac-unknown-none-elf");
}

mod entries;
mod faults;
#[path = "riscv64/raw.rs"]
mod raw;

pebble_server::entries! {[
    entries::start,
    faults::fault,
    entries::sbrk,
    entries::vm_map,
    entries::vm_unmap,
    faults::vm_pager,
    entries::vm_supply,
    entries::space_create,
    entries::space_clone,
    entries::space_destroy,
    entries::stack_prepare,
    entries::stack_share,
    entries::image_map,
    entries::start_info,
    entries::device_map,
    entries::image_end,
    entries::memory_info,
    entries::gift_prepare,
]}
