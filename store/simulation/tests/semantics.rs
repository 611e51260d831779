//! The simulated disk does what the device trait promises, and no more.

use pebble_store_device::{BlockDevice, Completion, Error, Frame, Request, Tag, FRAME_SIZE};
use pebble_store_simulation::{Disk, Fates, Fault, Faults, Image, Machine, Order, Random, Sectors};

fn machine(order: Order) -> (Machine, Disk) {
    let machine = Machine::new(&[Image::new(16)], 1, order, 8);
    let disk = machine.disk(0);
    (machine, disk)
}

fn contents(byte: u8) -> Box<Frame> {
    Box::new([byte; FRAME_SIZE])
}

fn write(disk: &mut Disk, tag: u64, at: u64, byte: u8) {
    let buffer = contents(byte);
    disk.submit(Tag(tag), Request::Write { at, buffer })
        .expect("there is room in the queue");
}

/// Waits for everything in flight.
fn settle(disk: &mut Disk, machine: &Machine) -> Vec<Completion> {
    let mut done = Vec::new();
    while machine.busy() {
        done.extend(disk.poll());
    }
    done
}

fn flush(disk: &mut Disk, machine: &Machine) -> Result<(), Error> {
    disk.submit(Tag(99), Request::Flush).expect("there is room");
    settle(disk, machine).pop().expect("one answer").result
}

fn read(disk: &mut Disk, machine: &Machine, at: u64) -> Result<u8, Error> {
    let buffer = contents(0);
    disk.submit(Tag(98), Request::Read { at, buffer })
        .expect("there is room");
    let done = settle(disk, machine).pop().expect("one answer");
    done.result.map(|()| done.buffer.expect("the buffer")[0])
}

/// What a cut now leaves of frame `at`, over all subsets.
fn left(machine: &Machine, at: u64) -> Vec<u8> {
    let cut = machine.cut();
    let mut found: Vec<_> = (0..1 << cut.volatile())
        .map(|kept| cut.images(&Fates::subset(kept))[0].read(at)[0])
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn only_a_flush_after_the_completion_makes_a_write_stable() {
    let (machine, mut disk) = machine(Order::Submission);
    write(&mut disk, 1, 3, 7);
    assert_eq!(left(&machine, 3), [0, 7]);
    // Submitted while the write is in flight: says nothing about it.
    assert_eq!(disk.submit(Tag(2), Request::Flush), Ok(()));
    assert_eq!(settle(&mut disk, &machine).len(), 2);
    assert_eq!(left(&machine, 3), [0, 7]);
    assert_eq!(read(&mut disk, &machine, 3), Ok(7));
    assert_eq!(flush(&mut disk, &machine), Ok(()));
    assert_eq!(left(&machine, 3), [7]);
}

#[test]
fn of_two_writes_of_a_frame_any_may_be_left() {
    let (machine, mut disk) = machine(Order::Submission);
    write(&mut disk, 1, 3, 7);
    settle(&mut disk, &machine);
    write(&mut disk, 2, 3, 8);
    settle(&mut disk, &machine);
    assert_eq!(left(&machine, 3), [0, 7, 8]);
    assert_eq!(flush(&mut disk, &machine), Ok(()));
    assert_eq!(left(&machine, 3), [8]);
    assert_eq!(machine.hazards(), 0);
}

#[test]
fn two_writes_of_a_frame_at_once_are_a_hazard() {
    let (machine, mut disk) = machine(Order::Random);
    write(&mut disk, 1, 3, 7);
    write(&mut disk, 2, 3, 8);
    assert_eq!(machine.hazards(), 1);
}

#[test]
fn a_failed_flush_is_not_mended_by_a_good_one() {
    let (machine, mut disk) = machine(Order::Submission);
    write(&mut disk, 1, 3, 7);
    settle(&mut disk, &machine);
    machine.inject(0, Faults::once(Fault::FlushError, 0));
    assert_eq!(flush(&mut disk, &machine), Err(Error::Medium));
    assert_eq!(flush(&mut disk, &machine), Ok(()));
    assert_eq!(left(&machine, 3), [0, 7]);
    // Writing it again is what mends it.
    write(&mut disk, 1, 3, 8);
    settle(&mut disk, &machine);
    assert_eq!(flush(&mut disk, &machine), Ok(()));
    assert_eq!(left(&machine, 3), [8]);
}

#[test]
fn a_failed_write_leaves_anything() {
    let (machine, mut disk) = machine(Order::Submission);
    machine.inject(0, Faults::once(Fault::WriteError, 0));
    write(&mut disk, 1, 3, 7);
    let done = settle(&mut disk, &machine);
    assert_eq!(done[0].result, Err(Error::Medium));
    assert_eq!(flush(&mut disk, &machine), Ok(()));
    assert_eq!(left(&machine, 3), [0, 7]);
}

#[test]
fn completions_come_in_any_order_and_the_seed_decides() {
    let order = |seed| {
        let machine = Machine::new(&[Image::new(16)], seed, Order::Random, 8);
        let mut disk = machine.disk(0);
        (0..8).for_each(|tag| write(&mut disk, tag, tag, 1));
        let done = settle(&mut disk, &machine);
        done.iter().map(|done| done.tag.0).collect::<Vec<_>>()
    };
    assert_eq!(order(5), order(5));
    assert!((0..20).any(|seed| order(seed) != order(5)));
}

#[test]
fn a_full_queue_gives_the_request_back() {
    let (_, mut disk) = machine(Order::Submission);
    (0..8).for_each(|tag| write(&mut disk, tag, tag, 1));
    let request = Request::Write {
        at: 9,
        buffer: contents(1),
    };
    assert_eq!(disk.submit(Tag(8), request.clone()), Err(request));
}

#[test]
fn reads_can_be_wrong_in_each_way() {
    for (fault, expected) in [
        (Fault::StaleRead, Ok(1)),
        (Fault::ReadError, Err(Error::Medium)),
    ] {
        let (machine, mut disk) = machine(Order::Submission);
        for byte in [1, 2] {
            write(&mut disk, 1, 3, byte);
            settle(&mut disk, &machine);
            assert_eq!(flush(&mut disk, &machine), Ok(()));
        }
        machine.inject(0, Faults::once(fault, 0));
        assert_eq!(read(&mut disk, &machine, 3), expected);
        assert_eq!(read(&mut disk, &machine, 3), Ok(2));
    }
}

#[test]
fn a_misdirected_write_is_reported_done_and_is_elsewhere() {
    let (machine, mut disk) = machine(Order::Submission);
    let faults = Faults {
        random: vec![(Fault::MisdirectedWrite, 1)],
        ..Faults::none()
    };
    machine.inject(0, faults);
    for at in 0..4 {
        write(&mut disk, 1, at, 7);
        assert_eq!(settle(&mut disk, &machine)[0].result, Ok(()));
    }
    machine.inject(0, Faults::once(Fault::LostWrite, 0));
    write(&mut disk, 1, 4, 8);
    assert_eq!(settle(&mut disk, &machine)[0].result, Ok(()));
    assert_eq!(flush(&mut disk, &machine), Ok(()));
    let image = &machine.cut().images(&Fates::subset(0))[0];
    let found = (0..16).filter(|at| image.read(*at)[0] == 7).count();
    assert!((1..=4).contains(&found));
    assert!((0..16).all(|at| image.read(at)[0] != 8));
    assert!((0..4).any(|at| image.read(at)[0] != 7), "all went right");
}

#[test]
fn a_lost_disk_answers_that_it_is_gone() {
    let (machine, mut disk) = machine(Order::Submission);
    machine.lose(0);
    assert_eq!(read(&mut disk, &machine, 3), Err(Error::Gone));
    assert_eq!(flush(&mut disk, &machine), Err(Error::Gone));
    assert!(machine.cut().gone(0));
}

#[test]
fn tears_are_by_sector_and_by_byte() {
    let (machine, mut disk) = machine(Order::Submission);
    write(&mut disk, 1, 3, 7);
    let torn = Sectors {
        written: 0b101,
        within: Some(512 + 100),
    };
    let image = &machine.cut().images(&Fates::subset(0).tear(0, torn))[0];
    let frame = image.read(3);
    let new = |range: std::ops::Range<usize>| frame[range].iter().all(|byte| *byte == 7);
    let old = |range: std::ops::Range<usize>| frame[range].iter().all(|byte| *byte == 0);
    assert!(new(0..612) && old(612..1024) && new(1024..1536) && old(1536..4096));
}

#[test]
fn cuts_one_after_another_try_every_subset_once() {
    let (machine, mut disk) = machine(Order::Random);
    machine.record();
    (0..5).for_each(|tag| write(&mut disk, tag, tag, 1));
    let mut random = Random::new(1);
    let mut states = Vec::new();
    for cut in machine.cuts() {
        for fates in Fates::every(&cut, &mut random) {
            let image = &cut.images(&fates)[0];
            let bytes = (0..5).map(|at| image.read(at)[0]);
            let whole = (0..5).all(|at| image.read(at).iter().all(|b| *b == image.read(at)[0]));
            if whole {
                states.push(bytes.collect::<Vec<_>>());
            }
        }
    }
    states.sort();
    states.dedup();
    // All but the one in which nothing was written, which is there before the first event.
    assert_eq!(states.len(), 31);
}
