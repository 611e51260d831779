//! Windows and given pages: what portal code does to page tables behind the server's back.

mod world;

use virtual_memory::abi::errno::Errno;
use virtual_memory::abi::layout::{GIFT, PAGE};
use virtual_memory::abi::page_table::BORROWED;
use virtual_memory::Entry;
use world::{World, DATA, HEAP};

const A: usize = 20;
const B: usize = 21;
const C: usize = 22;

#[test]
fn a_page_in_a_window_is_not_given_out() {
    let mut world = World::new(60);
    world.component(A, 60);
    world.component(B, 60);
    let address = world.server.vm_map(A, A, 4 * PAGE).unwrap();
    assert!(world.store(A, address, 42));
    let frame = world.entry(A, address).physical();
    assert!(world.open_window(A, address, 3, true));
    world.server.vm_unmap(A, A, address).unwrap();
    assert_eq!(world.server.frames.dying_count(), 1);
    world.check();
    let map = world.server.vm_map(B, B, 50 * PAGE).unwrap();
    let stored = (0..50)
        .take_while(|page| world.store(B, map + page * PAGE, 1))
        .count();
    assert!(stored < 50, "memory was to run out");
    world.check();
    assert_eq!(
        world.server.memory.get(frame),
        42,
        "the window still shows what it showed"
    );
    world.close_window(3);
    assert!(
        world.store(B, map + stored as u64 * PAGE, 1),
        "now it is free"
    );
    assert_eq!(world.entry(B, map + stored as u64 * PAGE).physical(), frame);
    world.ghosts.clear();
    world.check();
    world.end();
}

#[test]
fn windows_obey_regions_and_break_shares_first() {
    let mut world = World::new(300);
    world.component(A, 100);
    assert!(world.store(A, DATA, 1));
    world.fork(A, B);
    assert!(world.open_window(B, DATA, 0, true));
    assert!(world.entry(B, DATA).is_writable());
    assert_ne!(
        world.entry(A, DATA).physical(),
        world.entry(B, DATA).physical()
    );
    assert!(
        !world.open_window(A, world::TEXT, 1, true),
        "text is not for writing"
    );
    assert!(world.open_window(A, world::TEXT, 1, false));
    assert!(!world.open_window(A, HEAP, 2, false), "no heap yet");
    assert!(
        world.open_window(A, DATA + 2 * PAGE, 2, true),
        "a page never touched before"
    );
    // A clone made while a server writes to a page gets its own copy at once.
    let frame = world.entry(A, DATA + 2 * PAGE).physical();
    world.fork(A, C);
    world.server.memory.put(frame, 99);
    assert_eq!(world.load(C, DATA + 2 * PAGE), Some(0));
    assert_eq!(world.load(A, DATA + 2 * PAGE), Some(99));
    world.check();
    world.end();
}

#[test]
fn a_given_page_belongs_to_its_receiver() {
    let mut world = World::new(300);
    world.component(A, 100);
    world.component(B, 100);
    assert!(world.store(A, DATA, 5) && world.store(A, DATA + PAGE, 6));
    let first = world.give(A, DATA, B).unwrap();
    let second = world.give(A, DATA + PAGE, B).unwrap();
    assert_eq!(
        (first, second),
        (virtual_memory::abi::layout::GIFT, first + PAGE)
    );
    world.check();
    assert_eq!(
        (world.load(B, first), world.load(B, second)),
        (Some(5), Some(6))
    );
    assert_eq!(world.server.memory_info(A), Ok(100 << 32));
    assert_eq!(world.server.memory_info(B), Ok(2 | 100 << 32));
    world.fork(B, C);
    assert_eq!(
        world.give(B, first, A),
        None,
        "shared until written: not to be given"
    );
    assert!(world.store(B, first, 50));
    assert_eq!(
        (world.load(C, first), world.load(B, first)),
        (Some(5), Some(50))
    );
    let next = world.server.gift_prepare(C).unwrap();
    assert_eq!(next % PAGE, 16, "behind the copies of its parent's");
    assert_eq!(world.server.vm_unmap(B, B, second), Ok(()));
    assert_eq!(world.server.vm_unmap(B, B, second), Err(Errno::Invalid));
    assert!(!world.store(B, second, 1));
    world.check();
    world.destroy(A);
    assert_eq!(world.load(B, first), Some(50));
    world.end();
}

#[test]
fn a_window_that_stays_open_keeps_its_page() {
    let mut world = World::new(300);
    world.component(A, 100);
    world.component(B, 100);
    let address = world.server.vm_map(A, A, PAGE).unwrap();
    assert!(world.store(A, address, 42));
    let entry = world.entry(A, address);
    let slot = world.server.gift_prepare(B).unwrap();
    world.server.memory.put(slot, entry.borrowed().0);
    world.destroy(A);
    assert_eq!(world.server.frames.dying_count(), 1);
    assert_eq!(world.load(B, GIFT), Some(42));
    world.fork(B, C);
    assert!(
        !world.entry(C, GIFT).is_valid(),
        "a clone has none of the windows"
    );
    world.check();
    assert_eq!(Entry(world.server.memory.get(slot)).0 & BORROWED, BORROWED);
    assert_eq!(
        world.server.vm_unmap(B, B, GIFT),
        Ok(()),
        "the receiver may close it"
    );
    assert_eq!(world.server.frames.dying_count(), 0);
    world.check();
    world.end();
}

#[test]
fn pages_given_away_make_room_under_the_limit() {
    let mut world = World::new(300);
    world.component(A, 10);
    world.component(B, 10);
    let address = world.server.vm_map(A, A, 7 * PAGE).unwrap();
    assert!((0..7).all(|page| world.store(A, address + page * PAGE, 1)));
    assert!((0..3).all(|page| world.store(A, DATA + page * PAGE, 1)));
    assert!(world.give(A, address, B).is_some());
    assert!(world.store(A, address, 2), "nine pages are in use now");
    assert!(world.give(A, address, B).is_some());
    assert_eq!(world.server.memory_info(B), Ok(2 | 10 << 32));
    world.check();
    world.end();
}

#[test]
fn a_page_given_away_during_a_clone_is_in_one_domain() {
    let mut world = World::new(300);
    world.component(A, 100);
    world.component(B, 100);
    assert!(world.store(A, DATA, 42));
    let (from, to) = (
        world.leaf_slot(A, DATA),
        world.server.gift_prepare(B).unwrap(),
    );
    // The clone is preempted just before it protects the page, by portal code that gives it away.
    GIVEN.with(|given| given.set((from, to)));
    world.server.memory.preemption = Some(|machine| {
        let (from, to) = GIVEN.with(|given| given.get());
        let entry = machine.get(from);
        machine.put(from, 0);
        machine.put(to, entry);
    });
    let root = world.server.space_clone(A, C).unwrap();
    world.roots.insert(C, root);
    world.check();
    assert!(world.entry(B, GIFT).is_writable());
    assert!(!world.entry(A, DATA).is_valid() && !world.entry(C, DATA).is_valid());
    assert_eq!(world.load(B, GIFT), Some(42));
    world.end();
}

thread_local! {
    /// The entries that the preempting portal moves from and to.
    static GIVEN: std::cell::Cell<(u64, u64)> = const { std::cell::Cell::new((0, 0)) };
}
