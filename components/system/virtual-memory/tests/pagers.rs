//! Faults that a user-level pager answers.

mod world;

use virtual_memory::abi::entry::vm;
use virtual_memory::abi::errno::Errno;
use virtual_memory::abi::layout::PAGE;
use virtual_memory::{Fault, Name, Outcome, Supply};
use world::World;

const A: usize = 20;
const B: usize = 21;
const C: usize = 22;

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
    world.fork(B, C);
    assert!(world.store(A, region, 4));
    assert_eq!(
        (world.load(B, pool), world.load(C, pool)),
        (Some(4), Some(2))
    );
    world.destroy(C);
    world.fork(A, C);
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
