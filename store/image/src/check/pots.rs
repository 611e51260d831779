//! Tag pots: each copy on each disk. One bad copy is what a torn write leaves; the store never writes both.

use alloc::format;

use pebble_store_format::{ClusterPlace, RangeKind, TagPot, CLUSTER_DATA, CLUSTER_POTS};

use super::{Report, Severity};
use crate::{Media, Volume};

pub fn check<M: Media>(volume: &mut Volume<M>, report: &mut Report) {
    let key = volume.key;
    for range in 0..volume.ranges.len() {
        let facts = volume.ranges[range].range;
        if facts.kind != RangeKind::Object {
            continue;
        }
        let clusters = ClusterPlace::capacity(facts.frames).div_ceil(CLUSTER_DATA);
        for cluster in 0..clusters {
            for copy in 0..CLUSTER_POTS {
                let place = ClusterPlace { cluster, index: 0 }.pot(copy);
                for disk in volume.holders(range) {
                    report.frames += 1;
                    let frame = volume.read(disk, range, place);
                    let decoded =
                        frame.map(|frame| TagPot::decode(key, facts.number, cluster, &frame));
                    let problem = match decoded {
                        Some(Ok(_)) => continue,
                        Some(Err(error)) => format!("{error}"),
                        None => "it cannot be read".into(),
                    };
                    report.say(
                        Severity::Note,
                        volume.at(disk, range, place).map(|at| (disk, at)),
                        format!("tag pot of cluster {cluster}, copy {}: {problem}", copy + 1),
                        "the other copy is used, as after any write that was cut off; the next one is written over this",
                    );
                }
            }
        }
    }
}
