//! What two domains do with the same page: clones, stacks, windows, given pages, pagers.

mod world;

use virtual_memory::abi::entry::vm;
use virtual_memory::abi::errno::Errno;
use virtual_memory::abi::layout::{PAGE, STACKS, STACK_AREA, STACK_SLOT};
use virtual_memory::{Fault, Name, Outcome, Supply};
use world::{World, DATA, HEAP};

const A: usize = 20;
const B: usize = 21;
const C: usize = 22;

fn clone(world: &mut World, parent: usize, child: usize) {
    let root = world
        .server
        .space_clone(parent, child)
        .expect("space_clone");
    world.roots.insert(child, root);
    world.check();
}

#[test]
fn a_clone_has_a_copy_that_parts_at_the_first_store() {
    let mut world = World::new(300);
    world.component(A, 100);
    assert!(world.store(A, DATA, 1) && world.store(A, DATA + PAGE, 2));
    clone(&mut world, A, B);
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
    clone(&mut world, B, C);
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
    clone(&mut world, A, B);
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
    clone(&mut world, A, B);
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
    clone(&mut world, A, C);
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
    clone(&mut world, B, C);
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
fn a_call_for_a_clone_is_done_for_both() {
    let mut world = World::new(300);
    world.component(A, 100);
    world.server.sbrk(A, A, 100).unwrap();
    clone(&mut world, A, B);
    clone(&mut world, B, C);
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
fn a_pager_answers_faults_with_its_own_pages() {
    let mut world = World::new(300);
    world.component(A, 100);
    world.component(B, 100);
    let name = Name::new(b"/pager/test\0").unwrap();
    assert_eq!(Name::new(b"/other/test\0"), Err(Errno::Access));
    assert_eq!(Name::new(&[b'/'; 64]), Err(Errno::NameTooLong));
    assert_eq!(
        world.server.vm_pager(A, A, 9 * PAGE, &name, 7, None),
        Ok(None)
    );
    let region = world
        .server
        .vm_pager(A, A, 9 * PAGE, &name, 7, Some(70))
        .unwrap()
        .unwrap();
    assert!(world
        .server
        .vm_pager(A, A, PAGE, &name, 8, None)
        .unwrap()
        .is_some());
    let pool = world.server.vm_map(B, B, 4 * PAGE).unwrap();
    let supply = Supply {
        pager: B,
        thread: 1,
        asid: A,
        address: region,
        page: pool,
        flags: vm::SUPPLY_WRITE,
    };
    assert_eq!(
        world.server.vm_supply(supply),
        Err(Errno::PermissionDenied),
        "nobody asked"
    );
    let fault = Fault {
        thread: 1,
        asid: A,
        cause: 13,
        address: region + 5,
    };
    let Outcome::Ask(question) = world.server.fault(&fault) else {
        panic!("no question")
    };
    assert_eq!((question.portal, question.cookie), (70, 7));
    assert_eq!((question.page, question.access), (region, vm::READ));
    for wrong in [
        Supply {
            thread: 2,
            ..supply
        },
        Supply {
            address: region + PAGE,
            ..supply
        },
        Supply {
            thread: usize::MAX,
            ..supply
        },
    ] {
        assert_eq!(world.server.vm_supply(wrong), Err(Errno::PermissionDenied));
    }
    assert_eq!(
        world.server.vm_supply(Supply { pager: A, ..supply }),
        Err(Errno::Invalid)
    );
    assert_eq!(
        world.server.vm_supply(Supply { flags: 4, ..supply }),
        Err(Errno::Invalid)
    );
    assert_eq!(
        world.server.vm_supply(Supply {
            page: world::TEXT,
            ..supply
        }),
        Err(Errno::Fault)
    );
    assert_eq!(
        world.server.answered(&fault, &question, 0),
        Outcome::Report,
        "it supplied nothing"
    );

    assert!(world.store(B, pool, 1));
    let read_only = Supply { flags: 0, ..supply };
    assert_eq!(
        world.page_in(A, region, vm::READ, read_only),
        Outcome::Retry
    );
    assert_eq!(world.load(A, region), Some(1));
    assert_eq!(
        world.page_in(A, region, vm::WRITE, supply),
        Outcome::Retry,
        "asked again to store"
    );
    assert!(world.store(A, region, 2));
    assert_eq!(world.load(B, pool), Some(2), "the page is in both");
    let moved = Supply {
        address: region + PAGE,
        page: pool + PAGE,
        flags: vm::SUPPLY_MOVE | vm::SUPPLY_WRITE,
        ..supply
    };
    assert!(world.store(B, pool + PAGE, 3));
    assert_eq!(
        world.page_in(A, region + PAGE, vm::READ, moved),
        Outcome::Retry
    );
    assert_eq!(
        (world.load(A, region + PAGE), world.load(B, pool + PAGE)),
        (Some(3), Some(0))
    );
    world.check();

    // A copy of the pager has its own page; a copy of its client asks anew.
    clone(&mut world, B, C);
    assert!(world.store(A, region, 4));
    assert_eq!(
        (world.load(B, pool), world.load(C, pool)),
        (Some(4), Some(2))
    );
    world.destroy(C);
    clone(&mut world, A, C);
    assert!(!world.entry(C, region).is_valid());
    world.destroy(A);
    assert_eq!(
        world.server.take_idle_pager(),
        None,
        "the clone still has the region"
    );
    world.destroy(C);
    assert_eq!(world.server.take_idle_pager(), Some(70));
    assert_eq!(world.server.take_idle_pager(), None);
    world.end();
}

#[test]
fn a_dead_pager_is_opened_anew_and_an_old_question_answers_nothing() {
    let mut world = World::new(300);
    world.component(A, 100);
    world.component(B, 100);
    let name = Name::new(b"/pager/test\0").unwrap();
    let region = world
        .server
        .vm_pager(A, A, PAGE, &name, 0, Some(70))
        .unwrap()
        .unwrap();
    let pool = world.server.vm_map(B, B, PAGE).unwrap();
    let fault = Fault {
        thread: 1,
        asid: A,
        cause: 8,
        address: region,
    };
    let Outcome::Ask(question) = world.server.fault(&fault) else {
        panic!("no question")
    };
    let dead = Errno::OwnerDead.negated();
    let refused = Outcome::Refuse(Errno::Fault);
    assert_eq!(world.server.answered(&fault, &question, dead), refused);
    assert_eq!(world.server.vm_pager(A, A, PAGE, &name, 0, None), Ok(None));

    let Outcome::Ask(_) = world.server.fault(&fault) else {
        panic!("no question")
    };
    world.destroy(A);
    world.component(A, 100);
    let again = world
        .server
        .vm_pager(A, A, PAGE, &name, 0, Some(71))
        .unwrap();
    assert_eq!(again, Some(region));
    let supply = Supply {
        pager: B,
        thread: 1,
        asid: A,
        address: region,
        page: pool,
        flags: 0,
    };
    assert_eq!(world.server.vm_supply(supply), Err(Errno::PermissionDenied));
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
        assert_eq!(world.server.sbrk(core, core, 5), Ok(0x20_0000));
    }
    for bad in [0, 128, usize::MAX] {
        assert_eq!(world.server.space_create(bad, 1), Err(Errno::Invalid));
        assert_eq!(world.server.space_destroy(bad), Err(Errno::NoSuchProcess));
    }
    assert_eq!(world.server.space_destroy(A), Err(Errno::NoSuchProcess));
    world.end();
}
