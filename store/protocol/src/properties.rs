//! What must hold in every state, and what must happen in some.

use stateright::Property;

use crate::content::Members;
use crate::model::Protocol;
use crate::state::{Phase, State, System};

fn running(state: &State) -> Option<&System> {
    match &state.phase {
        Phase::Running(system) => Some(system),
        _ => None,
    }
}

fn stuck(model: &Protocol, system: &System) -> bool {
    let can_migrate = system.header.records().count() > usize::from(system.migrated);
    system.checkpoint.is_none()
        && system.dirty().next().is_some()
        && !can_migrate
        && !model.fits(system)
        && !model.publishes(system)
}

/// The properties.
pub(crate) fn all() -> Vec<Property<Protocol>> {
    vec![
        Property::always(
            "recovery gives the last committed state or the one in flight",
            |_, state: &State| state.truth.violation.is_none(),
        ),
        Property::always(
            "log frames that the committed header needs are never touched",
            |_, state: &State| {
                !running(state).is_some_and(|system| {
                    let members = system
                        .members
                        .disks()
                        .filter(|disk| state.truth.current.has(*disk));
                    let members = members.fold(Members::NONE, Members::with);
                    Protocol::needed_frame_touched(state, &system.header, members)
                })
            },
        ),
        Property::always("the log never fills up for good", |model, state: &State| {
            !running(state).is_some_and(|system| stuck(model, system))
        }),
        Property::always(
            "a disk that is not current gives an old state or none, never a mixture",
            |model, state: &State| !model.stale_disk_mixes(state),
        ),
        Property::sometimes(
            "every change is committed, migrated and retired",
            |model, state: &State| {
                running(state).is_some_and(|system| {
                    state.budget.next_value > model.bounds.changes
                        && system.memory == state.truth.committed
                        && system
                            .header
                            .records()
                            .all(|record| record.entries().next().is_none())
                })
            },
        ),
        Property::sometimes(
            "both disks are members again after a loss",
            |model, state: &State| {
                state.budget.losses < model.bounds.losses
                    && running(state).is_some_and(|system| {
                        system.members == Members::ALL && system.header.epoch > 1
                    })
            },
        ),
        Property::sometimes(
            "the last crash happens while a system starts with fewer disks",
            |_, state: &State| {
                state.budget.crashes == 1 && matches!(state.phase, Phase::Starting(_))
            },
        ),
    ]
}
