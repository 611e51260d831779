//! The campaigns: which stores are tried, and what is done to them.
//!
//! Logs are so small that they wrap every few checkpoints, caches smaller than what is used, and queues short: a roomy
//! store hides mistakes.

use pebble_store::{Mutant, Parameters, Verify};

use crate::real::Shape;
use crate::run::{Choice, Plan, Source};
use crate::scripts::{script, sequences, Operation};
use crate::subject::Subject;
use crate::workload::Weights;
use crate::{graph, real::Real};

/// A store of a few pages and nodes, with a log that is as tight as can be.
pub fn tight() -> Shape {
    Shape {
        log: 28,
        journal: 8,
        pages: 5,
        pots: 1,
        disks: 1,
        parameters: Parameters {
            cache_frames: 5,
            copy_frames: 2,
            pot_slots: 2,
            in_flight: 8,
            forced_percent: 65,
            keep_generations: 2,
            restart_limit: 8,
            step: 3,
            count_boots: false,
            // Whoever compares everything afterwards looks at it anyhow.
            verify: Verify::Lazily,
            ..Parameters::default()
        },
    }
}

fn plan(name: &str, shape: Shape, weights: Weights) -> Plan<Shape> {
    Plan {
        name: name.into(),
        shape,
        lives: 8,
        steps: 40,
        source: Source::Random(weights),
        choice: Choice::Samples { one_in: 6, more: 6 },
    }
}

/// One disk, everything mixed.
pub fn single() -> Plan<Shape> {
    plan("single", tight(), Weights::ORDINARY)
}

/// One disk with a log in which several generations stay, so that migration lags behind.
pub fn lagging() -> Plan<Shape> {
    let mut shape = tight();
    shape.log = 36;
    shape.parameters.keep_generations = 6;
    shape.parameters.cache_frames = 8;
    // No cut may leave a generation that is refused.
    shape.parameters.verify = Verify::First;
    plan("lagging", shape, Weights::ORDINARY)
}

/// One disk and a lot of journaling.
pub fn journal() -> Plan<Shape> {
    let weights = Weights {
        journal: 10,
        checkpoint: 1,
        ..Weights::ORDINARY
    };
    plan("journal", tight(), weights)
}

/// Two disks, of which one may be lost while running or be missing at a start.
pub fn pair() -> Plan<Shape> {
    let mut shape = tight();
    shape.disks = 2;
    let weights = Weights {
        lose: 3,
        settle: 3,
        ..Weights::ORDINARY
    };
    let mut plan = plan("pair", shape, weights);
    plan.lives = 16;
    plan.choice = Choice::Samples {
        one_in: 40,
        more: 3,
    };
    plan
}

/// One disk that does things wrong.
pub fn broken() -> Plan<Shape> {
    let weights = Weights {
        fault: 1,
        ..Weights::ORDINARY
    };
    let mut shape = tight();
    shape.parameters.verify = Verify::Behind;
    plan("broken", shape, weights)
}

/// Two disks, of which one does things wrong.
pub fn broken_pair() -> Plan<Shape> {
    let weights = Weights {
        fault: 1,
        ..Weights::ORDINARY
    };
    let mut shape = tight();
    shape.disks = 2;
    plan("broken-pair", shape, weights)
}

/// Starts are counted, many lives come to no checkpoint, and after three in vain an older generation is started.
pub fn boots() -> Plan<Shape> {
    let mut shape = tight();
    shape.parameters.count_boots = true;
    let weights = Weights {
        checkpoint: 3,
        journal: 0,
        settle: 2,
        ..Weights::ORDINARY
    };
    let mut plan = plan("boots", shape, weights);
    plan.lives = 40;
    plan.steps = 16;
    plan.choice = Choice::Samples {
        one_in: 30,
        more: 3,
    };
    plan
}

/// More objects fit into the cache than into the log.
pub fn narrow() -> Plan<Shape> {
    let mut shape = tight();
    shape.log = 16;
    shape.journal = 0;
    shape.pages = 12;
    shape.parameters.cache_frames = 16;
    shape.parameters.copy_frames = 4;
    let weights = Weights {
        put: 30,
        journal: 0,
        ..Weights::ORDINARY
    };
    plan("narrow", shape, weights)
}

/// Stray stores change objects in memory, which must never be committed.
pub fn memory() -> Plan<Shape> {
    let mut shape = tight();
    shape.log = 40;
    shape.parameters.cache_frames = 12;
    shape.parameters.in_flight = 1;
    shape.parameters.step = 16;
    let weights = Weights {
        damage: 3,
        checkpoint: 6,
        ..Weights::ORDINARY
    };
    plan("memory", shape, weights)
}

/// The capability model makes the changes.
pub fn model() -> Plan<Shape> {
    let mut shape = tight();
    shape.pages = graph::pages();
    shape.pots = graph::pots();
    shape.log = 64;
    shape.parameters.cache_frames = 40;
    shape.parameters.copy_frames = 8;
    let weights = Weights {
        journal: 0,
        put: 20,
        ..Weights::ORDINARY
    };
    let mut plan = plan("model", shape, weights);
    plan.source = Source::Model(weights);
    plan
}

/// Every workload of up to `length` operations on one disk or a pair.
pub fn scripts(disks: usize, length: u32) -> Vec<Plan<Shape>> {
    let mut shape = tight();
    shape.disks = disks;
    shape.pages = 2;
    let world = Real::world(&shape);
    let all = sequences(&Operation::ALL, length);
    let plans = all.iter().enumerate().map(|(number, operations)| Plan {
        name: format!("script-{disks}-{number}"),
        shape: shape.clone(),
        lives: 1,
        steps: 0,
        source: Source::Script(script(&world, operations)),
        choice: Choice::Every(14),
    });
    plans.collect()
}

/// The campaigns with random workloads.
pub fn random() -> Vec<Plan<Shape>> {
    vec![
        single(),
        journal(),
        lagging(),
        boots(),
        narrow(),
        memory(),
        broken(),
        pair(),
        broken_pair(),
        model(),
    ]
}

/// The campaign that notices a mutant soon, and the seed to begin with.
pub fn against(mutant: Mutant) -> (Plan<Shape>, u64) {
    // A disk must be lost, join and be lost in one order out of many.
    let first = match mutant {
        Mutant::OldHeadersLeft => 390,
        _ => 0,
    };
    let mut plan = match mutant {
        Mutant::SupersededByUncommitted
        | Mutant::MigrationBeyondBootable
        | Mutant::GivenUpStayListed
        | Mutant::BootNotCounted => boots(),
        Mutant::NoReserve => narrow(),
        Mutant::CheckSkipped | Mutant::HandOverUnchecked => memory(),
        Mutant::JournalReusedEarly => journal(),
        Mutant::ReadUnchecked
        | Mutant::LossNotRecorded
        | Mutant::StaleReplicaBelieved
        | Mutant::FirstHeaderBelieved
        | Mutant::WriteOneReplica
        | Mutant::OldHeadersLeft
        | Mutant::ResyncSkipsFrames
        | Mutant::ResyncOvertakes
        | Mutant::JoinedEarly => pair(),
        Mutant::VerifiedUnseen
        | Mutant::FlushErrorIgnored
        | Mutant::WriteErrorIgnored
        | Mutant::FlushRetried => broken(),
        _ => single(),
    };
    plan.shape.parameters.mutant = Some(mutant);
    (plan, first)
}

/// The campaign of this name.
pub fn named(name: &str) -> Option<Plan<Shape>> {
    let mut plans = random().into_iter();
    if let Some(plan) = plans.find(|plan| plan.name == name) {
        return Some(plan);
    }
    let rest = name.strip_prefix("script-")?;
    let (disks, number) = rest.split_once('-')?;
    let plans = scripts(disks.parse().ok()?, 3);
    plans.into_iter().nth(number.parse().ok()?)
}
