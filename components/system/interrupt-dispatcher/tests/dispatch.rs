//! The dispatcher on a simulated controller: whom an interrupt reaches, and when a source may interrupt again.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use interrupt_dispatcher::{Action, Controller, Dispatcher, DETACH, SOURCES};
use pebble_server::abi::errno::Errno;

/// Registers as the PLIC specification has them.
#[derive(Default)]
struct Registers {
    open: bool,
    raised: BTreeSet<u32>,
    claimed: BTreeSet<u32>,
    priority: std::collections::BTreeMap<u32, u32>,
}

#[derive(Default, Clone)]
struct Simulated(Rc<RefCell<Registers>>);

impl Simulated {
    /// A device raises its line.
    fn raise(&self, source: u32) {
        self.0.borrow_mut().raised.insert(source);
    }

    /// The device was served: its line falls.
    fn lower(&self, source: u32) {
        self.0.borrow_mut().raised.remove(&source);
    }

    fn waiting(&self) -> Option<u32> {
        let registers = self.0.borrow();
        let ready = |source: &&u32| {
            registers.open
                && !registers.claimed.contains(source)
                && registers.priority.get(source).is_some_and(|&p| p > 0)
        };
        registers.raised.iter().find(ready).copied()
    }
}

impl Controller for Simulated {
    fn open(&self) {
        self.0.borrow_mut().open = true;
    }

    fn claim(&self) -> u32 {
        let source = self.waiting().unwrap_or(0);
        if source != 0 {
            self.0.borrow_mut().claimed.insert(source);
        }
        source
    }

    fn complete(&self, source: u32) {
        self.0.borrow_mut().claimed.remove(&source);
    }

    fn set_priority(&self, source: u32, priority: u32) {
        self.0.borrow_mut().priority.insert(source, priority);
    }
}

fn pair() -> (Simulated, Dispatcher<Simulated>) {
    let controller = Simulated::default();
    (controller.clone(), Dispatcher::new(controller))
}

#[test]
fn an_interrupt_reaches_the_semaphore_once_until_acknowledged() {
    let (controller, dispatcher) = pair();
    dispatcher.attach(10, 33).expect("attach");
    dispatcher.attach(11, 34).expect("attach");
    controller.raise(10);
    assert_eq!(dispatcher.external(), Action::Notify(33));
    // The line is still high: the source is quiet, other sources are not.
    assert_eq!(dispatcher.external(), Action::Resume);
    controller.raise(11);
    assert_eq!(dispatcher.external(), Action::Notify(34));
    controller.lower(10);
    dispatcher.acknowledge(10).expect("acknowledge");
    assert_eq!(
        dispatcher.external(),
        Action::Resume,
        "served: nothing to say"
    );
    controller.raise(10);
    assert_eq!(dispatcher.external(), Action::Notify(33), "and again");
}

#[test]
fn a_source_that_is_not_served_interrupts_again_when_acknowledged() {
    let (controller, dispatcher) = pair();
    dispatcher.attach(10, 33).expect("attach");
    controller.raise(10);
    assert_eq!(dispatcher.external(), Action::Notify(33));
    dispatcher.acknowledge(10).expect("acknowledge");
    assert_eq!(dispatcher.external(), Action::Notify(33));
}

#[test]
fn nobody_is_told_of_a_source_without_a_semaphore() {
    let (controller, dispatcher) = pair();
    dispatcher.attach(10, 33).expect("attach");
    controller.raise(10);
    assert_eq!(dispatcher.external(), Action::Notify(33));
    dispatcher.attach(10, DETACH).expect("detach");
    assert_eq!(dispatcher.acknowledge(10), Err(Errno::NoSuchProcess));
    assert_eq!(controller.waiting(), None);
    // The next driver starts with a source that can interrupt, although the one before never acknowledged.
    dispatcher.attach(10, 40).expect("attach");
    assert_eq!(dispatcher.external(), Action::Notify(40));
}

#[test]
fn an_unexpected_source_is_silenced() {
    let (controller, dispatcher) = pair();
    controller.open();
    controller.set_priority(7, 1);
    controller.raise(7);
    assert_eq!(dispatcher.external(), Action::Resume);
    assert_eq!(
        controller.waiting(),
        None,
        "it does not interrupt again and again"
    );
    dispatcher.attach(7, 5).expect("attach");
    assert_eq!(
        dispatcher.external(),
        Action::Notify(5),
        "but can be attached later"
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    let (_, dispatcher) = pair();
    for (interrupt, semaphore) in [
        (0, 1),
        (SOURCES as u64, 1),
        (u64::MAX, 1),
        (10, 1024),
        (10, u64::MAX - 1),
    ] {
        assert_eq!(
            dispatcher.attach(interrupt, semaphore),
            Err(Errno::Invalid),
            "{interrupt} {semaphore}"
        );
    }
    assert_eq!(dispatcher.acknowledge(0), Err(Errno::Invalid));
    assert_eq!(dispatcher.acknowledge(10), Err(Errno::NoSuchProcess));
}
