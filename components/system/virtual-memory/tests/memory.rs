//! One domain's memory: demand-zero pages, images, heap, limits, stacks.

mod world;

use virtual_memory::abi::entry::vm;
use virtual_memory::abi::errno::Errno;
use virtual_memory::abi::layout::{
    DEVICE, GATE, HEAP_LIMIT, PAGE, RAM, STACKS, STACK_AREA, STACK_BOTTOM, STACK_SLOT, START_INFO,
};
use virtual_memory::{Outcome, Segment};
use world::{World, DATA, HEAP, TEXT};

const A: usize = 20;
const AREA: u64 = STACKS + A as u64 * STACK_AREA;

#[test]
fn image_pages_hold_the_file_and_then_zeros() {
    let mut world = World::new(200);
    world.component(A, 50);
    assert_eq!(world.load(A, TEXT + 8), Some(0xb000_0008));
    // The last 100 bytes of the text are in a page of their own, which ends with zeros.
    assert_eq!(
        world.load(A, TEXT + PAGE + 88),
        Some(0xb000_0000 + PAGE + 88)
    );
    assert_eq!(world.load(A, TEXT + PAGE + 104), Some(0));
    assert_eq!(
        world.load(A, TEXT + PAGE + 96),
        Some((0xb000_0000 + PAGE + 96) & 0xffff_ffff)
    );
    assert_eq!(world.load(A, DATA + PAGE), Some(0xb000_0000 + 3 * PAGE));
    assert_eq!(world.load(A, DATA + PAGE + 8), Some(0));
    assert_eq!(world.load(A, DATA + 2 * PAGE), Some(0));
    // The first page of text is the bundle's own; only three pages are ours.
    assert_eq!(world.server.memory_info(A), Ok(3 | 50 << 32));
    assert!(!world.store(A, TEXT, 1) && world.touch(A, DATA, vm::EXECUTE).is_none());
    assert!(world.touch(A, TEXT, vm::EXECUTE).is_some() && world.store(A, DATA, 5));
    assert_eq!(world.load(A, DATA), Some(5));
    world.check();
    world.end();
}

#[test]
fn bad_segments_are_refused() {
    let mut world = World::new(200);
    world.component(A, 50);
    let good = Segment {
        address: 0x120_0000,
        bytes: PAGE,
        offset: 0,
        file_bytes: PAGE,
        protection: vm::READ,
    };
    let bad = [
        Segment {
            protection: vm::WRITE | vm::EXECUTE | vm::READ,
            ..good
        },
        Segment {
            protection: 0,
            ..good
        },
        Segment {
            protection: 8 | vm::READ,
            ..good
        },
        Segment {
            offset: 8 * PAGE,
            ..good
        },
        Segment {
            offset: u64::MAX - 5,
            ..good
        },
        Segment {
            file_bytes: PAGE + 1,
            ..good
        },
        Segment {
            address: HEAP_LIMIT,
            ..good
        },
        Segment {
            address: u64::MAX - 5,
            ..good
        },
        Segment {
            address: GATE,
            ..good
        },
        Segment {
            bytes: 0,
            file_bytes: 0,
            ..good
        },
    ];
    for segment in bad {
        assert_eq!(
            world.server.image_map(A, segment),
            Err(Errno::Invalid),
            "{segment:?}"
        );
    }
    let overlap = Segment {
        address: TEXT + PAGE,
        ..good
    };
    assert_eq!(world.server.image_map(A, overlap), Err(Errno::Exists));
    assert_eq!(
        world.server.image_map(A + 1, good),
        Err(Errno::NoSuchProcess)
    );
    assert_eq!(world.server.image_map(A, good), Ok(()));
    world.end();
}

#[test]
fn the_heap_grows_shrinks_and_stops_at_the_limit() {
    let mut world = World::new(200);
    world.component(A, 20);
    let server = &mut world.server;
    assert_eq!(server.sbrk(A, A, 10), Ok(HEAP));
    assert_eq!(server.sbrk(A, A, 0), Ok(HEAP + 10));
    assert_eq!(server.sbrk(A, A, -11), Err(Errno::Invalid));
    assert_eq!(server.sbrk(A, A, i64::MIN), Err(Errno::Invalid));
    assert_eq!(server.sbrk(A, A, i64::MAX), Err(Errno::NoMemory));
    // Three of the twenty pages are the writable segment's.
    assert_eq!(server.sbrk(A, A, 17 * PAGE as i64), Err(Errno::NoMemory));
    assert_eq!(server.sbrk(A, A, 16 * PAGE as i64), Ok(HEAP + 10));
    assert!(world.store(A, HEAP, 1) && world.store(A, HEAP + 15 * PAGE, 2));
    assert!(!world.store(A, HEAP + 17 * PAGE, 3), "beyond the heap");
    assert_eq!(
        world.server.sbrk(A, A, -(10 * PAGE as i64)),
        Ok(HEAP + 10 + 16 * PAGE)
    );
    assert!(!world.store(A, HEAP + 15 * PAGE, 2), "given back");
    assert_eq!(world.load(A, HEAP), Some(1));
    assert_eq!(
        world.server.sbrk(A, A, 9 * PAGE as i64),
        Ok(HEAP + 10 + 6 * PAGE)
    );
    assert_eq!(
        world.load(A, HEAP + 15 * PAGE),
        Some(0),
        "a page that comes back is zero"
    );
    world.check();
    world.end();
}

#[test]
fn mapped_regions_are_apart_and_can_be_given_back() {
    let mut world = World::new(200);
    world.component(A, 40);
    let first = world.server.vm_map(A, A, 3 * PAGE - 5).unwrap();
    let second = world.server.vm_map(A, A, 1).unwrap();
    assert_eq!(second, first + 3 * PAGE);
    assert!(world.store(A, first + 2 * PAGE, 9) && world.store(A, second, 8));
    assert_eq!(
        world.server.vm_unmap(A, A, first + PAGE),
        Err(Errno::Invalid)
    );
    assert_eq!(world.server.vm_unmap(A, A, TEXT), Err(Errno::Invalid));
    assert_eq!(world.server.vm_unmap(A, A, AREA), Err(Errno::Invalid));
    assert_eq!(world.server.vm_unmap(A, A, first), Ok(()));
    assert_eq!(world.load(A, first + 2 * PAGE), None);
    assert_eq!(world.load(A, second), Some(8));
    assert_eq!(
        world.server.vm_map(A, A, 3 * PAGE),
        Ok(first),
        "the gap is used again"
    );
    assert_eq!(world.load(A, first + 2 * PAGE), Some(0));
    assert_eq!(world.server.vm_map(A, A, 0), Err(Errno::Invalid));
    assert_eq!(world.server.vm_map(A, A, u64::MAX), Err(Errno::NoMemory));
    assert_eq!(world.server.vm_map(A, A, 40 * PAGE), Err(Errno::NoMemory));
    world.check();
    world.end();
}

#[test]
fn a_domain_that_uses_up_its_regions_or_pages_misses_only_its_own() {
    let mut world = World::new(400);
    world.component(A, 100);
    world.component(A + 1, 100);
    let made = (0..100)
        .take_while(|_| world.server.vm_map(A, A, PAGE).is_ok())
        .count();
    assert!((50..64).contains(&made), "{made} regions");
    assert!(world.server.vm_map(A + 1, A + 1, PAGE).is_ok());
    // Stacks are charged as they are touched: the limit is reached by use alone.
    let mut stored = 0;
    while stored < 200
        && world.store(
            A,
            AREA + STACK_BOTTOM + stored % 47 * PAGE + stored / 47 * STACK_SLOT,
            1,
        )
    {
        stored += 1;
    }
    assert_eq!(stored, 100);
    assert_eq!(world.fault(A, DATA, 8), Outcome::Refuse(Errno::NoMemory));
    assert!(world.store(A + 1, DATA, 1));
    world.check();
    world.end();
}

#[test]
fn memory_that_has_run_out_is_an_error_and_comes_back() {
    let mut world = World::new(60);
    world.component(A, 1000);
    let address = world.server.vm_map(A, A, 100 * PAGE).unwrap();
    let stored = (0..100)
        .take_while(|page| world.store(A, address + page * PAGE, 1))
        .count();
    assert!((30..60).contains(&stored), "{stored} pages");
    assert_eq!(world.server.space_create(A + 1, 10), Err(Errno::NoMemory));
    assert_eq!(world.server.space_clone(A, A + 1), Err(Errno::NoMemory));
    world.check();
    assert_eq!(world.server.vm_unmap(A, A, address), Ok(()));
    world.component(A + 1, 10);
    world.check();
    world.end();
}

/// Who holds much, and every clone, gets none of the last frames; they are there for the first pages of others.
#[test]
fn the_last_frames_are_for_those_that_hold_little() {
    let mut world = World::new(1600);
    let reserve = world.server.reserve();
    assert!((60..=100).contains(&reserve));
    let (glutton, clone, driver) = (A, A + 1, A + 2);
    world.component(driver, 10);
    world.component(glutton, 5000);
    let address = world.server.vm_map(glutton, glutton, 2000 * PAGE).unwrap();
    let taken = (0..2000)
        .take_while(|page| world.store(glutton, address + page * PAGE, 1))
        .count() as u64;
    assert!(taken > 1200 && taken + reserve < 1600, "{taken} pages");
    assert_eq!(world.server.frames.free_count(), reserve);
    // No clone can be made, and none that there is gets a page; the glutton stays without.
    assert_eq!(
        world.server.space_clone(glutton, clone),
        Err(Errno::NoMemory)
    );
    assert_eq!(
        world.server.space_clone(driver, clone),
        Err(Errno::NoMemory)
    );
    let fault = world.fault(glutton, address + taken * PAGE, 15);
    assert_eq!(fault, Outcome::OutOfMemory);
    assert_eq!(world.server.frames.free_count(), reserve);
    // The driver's first page and its tables, and a component that starts now.
    let own = world.server.vm_map(driver, driver, 3 * PAGE).unwrap();
    assert!((0..3).all(|page| world.store(driver, own + page * PAGE, 2)));
    world.component(A + 3, 10);
    assert!(world.server.frames.free_count() < reserve);
    // With the glutton gone everybody has memory again, also a clone; whose parent's end does not make it modest.
    world.destroy(glutton);
    let root = world.server.space_clone(driver, clone).unwrap();
    world.roots.insert(clone, root);
    world.destroy(driver);
    world.component(glutton, 5000);
    let address = world.server.vm_map(glutton, glutton, 2000 * PAGE).unwrap();
    let again = (0..2000).take_while(|page| world.store(glutton, address + page * PAGE, 1));
    assert!(again.count() > 1200);
    let heap = world.server.vm_map(clone, clone, PAGE).unwrap();
    assert!(!world.store(clone, heap, 1), "a clone without a parent");
    world.check();
    world.end();
}

#[test]
fn stacks_have_guards_and_windows_are_not_memory() {
    let mut world = World::new(200);
    world.component(A, 100);
    let slot = AREA + 3 * STACK_SLOT;
    let entry = world.server.stack_prepare(A, slot, 2).unwrap();
    assert_eq!(world.server.memory_info(A), Ok(2 | 100 << 32));
    let top = slot + STACK_SLOT;
    assert!(world.entry(A, top - 2 * PAGE).is_writable());
    assert!(!world.entry(A, top - 3 * PAGE).is_valid());
    assert!(world.store(A, top - 3 * PAGE, 1) && world.store(A, slot + STACK_BOTTOM, 1));
    assert!(
        !world.store(A, slot + STACK_BOTTOM - 8, 1),
        "stack overflow"
    );
    assert!(!world.store(A, slot, 1), "a window that is not open");
    world.server.memory.put(entry, world.entry(A, top - PAGE).0);
    assert!(world.store(A, slot, 77), "a window that portal code opened");
    assert_eq!(world.load(A, top - PAGE), Some(77));
    for bad in [slot + PAGE, AREA - STACK_SLOT, AREA + STACK_AREA] {
        assert_eq!(world.server.stack_prepare(A, bad, 1), Err(Errno::Invalid));
    }
    assert_eq!(world.server.stack_prepare(A, slot, 48), Err(Errno::Invalid));
    world.check();
    world.end();
}

#[test]
fn other_exceptions_and_wild_addresses_are_reported() {
    let mut world = World::new(200);
    world.component(A, 100);
    for cause in [1, 2, 3, 4, 5, 6, 7] {
        assert_eq!(world.fault(A, DATA, cause), Outcome::Report);
    }
    for address in [0, 0x4000, GATE, RAM, u64::MAX, HEAP, DEVICE, 0x30_0000_0000] {
        assert!(!world.store(A, address, 1), "{address:#x}");
        assert_eq!(
            world.fault(A, address & !7, 8),
            refused(address),
            "{address:#x}"
        );
    }
    assert!(world.touch(A, GATE, vm::EXECUTE).is_some());
    assert_eq!(world.fault(A + 1, DATA, 15), Outcome::Report);
    world.end();
}

/// The gate page can be read, so a window for reading on it needs no mending.
fn refused(address: u64) -> Outcome {
    if address == GATE {
        Outcome::Retry
    } else {
        Outcome::Refuse(Errno::Fault)
    }
}

#[test]
fn start_information_is_read_only_and_devices_are_never_ram() {
    let mut world = World::new(200);
    world.component(A, 100);
    assert_eq!(world.server.start_info(A, 8), Err(Errno::Invalid));
    assert_eq!(world.server.start_info(A, 0x5000_0000), Ok(()));
    assert_eq!(world.server.start_info(A, 0x5000_0000), Err(Errno::Exists));
    assert_eq!(world.load(A, START_INFO + 800), Some(7));
    assert!(!world.store(A, START_INFO, 1));
    for (base, bytes) in [
        (RAM, PAGE),
        (RAM - PAGE, 2 * PAGE),
        (8, PAGE),
        (0, 8),
        (0, 0),
        (1 << 60, PAGE),
    ] {
        assert_eq!(world.server.device_map(A, base, bytes), Err(Errno::Invalid));
    }
    assert_eq!(world.server.device_map(A, 0x1000_0000, PAGE), Ok(()));
    let at = world.touch(A, DEVICE + 0x1000_0010, vm::WRITE);
    assert_eq!(at, Some(0x1000_0010));
    assert!(world.touch(A, DEVICE + 0x1000_1000, vm::READ).is_none());
    world.check();
    world.end();
}
