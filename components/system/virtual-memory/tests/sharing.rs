//! Clones, stacks that are shown to others, and calls for a clone.

mod world;

use virtual_memory::abi::errno::Errno;
use virtual_memory::abi::layout::{PAGE, STACKS, STACK_AREA, STACK_SLOT};
use world::{World, DATA, HEAP};

const A: usize = 20;
const B: usize = 21;
const C: usize = 22;

#[test]
fn a_clone_has_a_copy_that_parts_at_the_first_store() {
    let mut world = World::new(300);
    world.component(A, 100);
    assert!(world.store(A, DATA, 1) && world.store(A, DATA + PAGE, 2));
    world.fork(A, B);
    let free = world.server.frames.free_count();
    assert_eq!(
        (world.load(B, DATA), world.load(B, DATA + PAGE)),
        (Some(1), Some(2))
    );
    assert_eq!(world.server.frames.free_count(), free, "loads copy nothing");
    assert!(world.store(A, DATA, 10), "the parent writes first");
    assert_eq!(
        (world.load(A, DATA), world.load(B, DATA)),
        (Some(10), Some(1))
    );
    assert!(world.store(B, DATA + PAGE, 20), "the clone writes first");
    assert_eq!(
        (world.load(A, DATA + PAGE), world.load(B, DATA + PAGE)),
        (Some(2), Some(20))
    );
    assert_eq!(world.server.frames.free_count(), free - 2);
    assert!(world.store(B, DATA, 11) && world.store(A, DATA + PAGE, 12));
    assert_eq!(
        world.server.frames.free_count(),
        free - 2,
        "the last holder copies nothing"
    );
    world.fork(B, C);
    world.destroy(B);
    world.check();
    assert_eq!(
        (world.load(C, DATA), world.load(A, DATA)),
        (Some(11), Some(10))
    );
    world.end();
}

#[test]
fn a_clone_keeps_its_parents_stack_addresses() {
    let mut world = World::new(300);
    world.component(A, 100);
    world.component(C, 100);
    let slot = STACKS + A as u64 * STACK_AREA;
    let top = slot + STACK_SLOT;
    world.server.stack_prepare(A, slot, 1).unwrap();
    assert_eq!(world.server.stack_share(A, C), Ok(()));
    assert!(world.store(A, top - 8, 5));
    assert_eq!(world.load(C, top - 8), Some(5));
    assert!(
        world.store(C, top - 8, 6),
        "the callee works on its caller's stack"
    );
    world.fork(A, B);
    assert_eq!(world.server.stack_share(B, C), Err(Errno::Exists));
    assert!(
        world.store(C, top - 8, 7),
        "a store of the callee's breaks the share for its caller"
    );
    assert_eq!(
        (world.load(A, top - 8), world.load(B, top - 8)),
        (Some(7), Some(6))
    );
    assert!(world.server.stack_prepare(B, slot, 1).is_ok());
    assert!(world.store(B, top - 8, 8) && world.store(B, top - PAGE - 8, 9));
    assert_eq!(world.load(A, top - PAGE - 8), Some(0));
    world.check();
    world.end();
}

#[test]
fn a_shared_stack_area_follows_its_owner_and_ends_with_it() {
    let mut world = World::new(300);
    world.component(A, 100);
    world.component(B, 100);
    assert_eq!(world.server.stack_share(A, A), Err(Errno::Exists));
    assert_eq!(
        world.server.stack_share(A, B),
        Ok(()),
        "nothing to link yet"
    );
    assert_eq!(world.server.stack_share(A, B), Ok(()), "twice is once");
    let slot = STACKS + A as u64 * STACK_AREA + 9 * STACK_SLOT;
    let window = world.server.stack_prepare(A, slot, 0).unwrap();
    assert!(
        world.store(B, slot + STACK_SLOT - 8, 3),
        "the page is made for the owner"
    );
    assert_eq!(world.load(A, slot + STACK_SLOT - 8), Some(3));
    assert_eq!(world.server.memory_info(B), Ok(100 << 32));
    let shown = world.entry(A, slot + STACK_SLOT - PAGE);
    world.server.memory.put(window, shown.0);
    assert!(world.store(B, slot, 4), "a window in the shared slot");
    assert!(!world.store(B, slot + PAGE, 4), "no window, no memory");
    world.check();
    world.destroy(A);
    world.check();
    assert_eq!(world.load(B, slot + STACK_SLOT - 8), None);
    world.component(A, 100);
    assert!(world.store(A, slot + STACK_SLOT - 8, 1));
    assert_eq!(
        world.load(B, slot + STACK_SLOT - 8),
        None,
        "the next domain of that number shares nothing"
    );
    assert_eq!(world.server.stack_share(A, B), Ok(()));
    world.destroy(B);
    world.check();
    assert_eq!(world.load(A, slot + STACK_SLOT - 8), Some(1));
    world.end();
}

#[test]
fn a_call_for_a_clone_is_done_for_both() {
    let mut world = World::new(300);
    world.component(A, 100);
    world.server.sbrk(A, A, 100).unwrap();
    world.fork(A, B);
    world.fork(B, C);
    // The interposer A passes on what C asked for, or needs memory itself: nobody can tell.
    let old = world.server.sbrk(A, C, 2 * PAGE as i64).unwrap();
    assert_eq!(old, HEAP + 100);
    for asid in [A, B, C] {
        assert!(world.store(asid, old + PAGE, asid as u64));
    }
    let map = world.server.vm_map(A, C, PAGE).unwrap();
    assert!(world.store(A, map, 1) && world.store(B, map, 2) && world.store(C, map, 3));
    assert_eq!(
        (world.load(A, map), world.load(C, old + PAGE)),
        (Some(1), Some(C as u64))
    );
    assert_eq!(world.server.vm_unmap(B, C, map), Ok(()));
    assert_eq!(
        (world.load(A, map), world.load(B, map), world.load(C, map)),
        (Some(1), None, None)
    );
    // A thread from elsewhere means the invoker alone.
    assert_eq!(world.server.sbrk(C, A, PAGE as i64), Ok(old + 2 * PAGE));
    assert!(!world.store(A, old + 3 * PAGE, 1) && world.store(C, old + 3 * PAGE, 1));
    assert_eq!(world.server.sbrk(A, C, -(PAGE as i64)), Ok(old + 3 * PAGE));
    assert!(!world.store(C, old + 3 * PAGE, 1) && world.store(A, old + PAGE, 1));
    world.check();
    world.end();
}

#[test]
fn domains_of_boot_code_stay() {
    let mut world = World::new(100);
    for core in [1, 2] {
        assert_eq!(
            world.server.space_destroy(core),
            Err(Errno::PermissionDenied)
        );
        assert_eq!(
            world.server.space_clone(core, A),
            Err(Errno::PermissionDenied)
        );
        assert_eq!(world.server.space_create(core, 1), Err(Errno::Exists));
        assert_eq!(world.server.sbrk(core, core, 5), Ok(0x120_0000));
    }
    for bad in [0, 128, usize::MAX] {
        assert_eq!(world.server.space_create(bad, 1), Err(Errno::Invalid));
        assert_eq!(world.server.space_destroy(bad), Err(Errno::NoSuchProcess));
    }
    assert_eq!(world.server.space_destroy(A), Err(Errno::NoSuchProcess));
    world.end();
}
