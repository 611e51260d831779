//! Log space: who holds how much, and when a checkpoint is due.
//!
//! Space is reserved before an object is changed, and a part is never given out: two checkpoints without objects always
//! fit. The first of them lets every older generation be migrated, the second drops them all; so a full log can always be
//! emptied, and no state of it is a dead end.

use pebble_store_format::{DIRECTORY_ENTRIES, RESTART_ENTRIES};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Log {
    /// Frames that go round.
    pub frames: u64,
    /// The next log number to write.
    pub head: u64,
    /// The oldest log number that a committed header refers to. Everything below may be overwritten.
    pub tail: u64,
    /// Frames for a snapshot that is not placed yet.
    pub frozen: u64,
    /// Frames of the longest restart list.
    pub restart_frames: u64,
}

impl Log {
    /// Frames for restart lists of so many processes.
    pub fn frames_for_restart(processes: usize) -> u64 {
        processes.div_ceil(RESTART_ENTRIES) as u64
    }

    /// Frames that a checkpoint of so many objects takes at most.
    #[inline]
    pub fn need(&self, objects: usize) -> u64 {
        (objects + objects.div_ceil(DIRECTORY_ENTRIES)) as u64 + self.restart_frames + 1
    }

    /// Frames that are never given out.
    pub fn reserve(&self) -> u64 {
        2 * self.need(0)
    }

    /// Frames that the smallest useful log has: one object can be changed while another is being saved.
    pub fn smallest(&self) -> u64 {
        self.reserve() + 2 * self.need(1)
    }

    /// Frames that the generation of this epoch may have.
    #[inline]
    pub fn room(&self) -> u64 {
        let held = self.head.saturating_sub(self.tail) + self.frozen + self.reserve();
        self.frames.saturating_sub(held)
    }

    /// Whether so many changed objects can be saved.
    #[inline]
    pub fn can_hold(&self, objects: usize) -> bool {
        self.need(objects) <= self.room()
    }

    /// Whether so many changed objects take more of the room than they may before a checkpoint is forced (EROS, section
    /// 3.5.2), or one more would not fit.
    pub fn is_due(&self, objects: usize, percent: u64) -> bool {
        let room = self.room();
        objects > 0 && self.need(objects) * 100 > room * percent || self.need(objects + 1) > room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_due_at_its_share_of_the_room() {
        let log = Log {
            frames: 1000,
            head: 101,
            tail: 1,
            restart_frames: 1,
            ..Log::default()
        };
        // 1000, without 100 held and 4 in reserve.
        assert_eq!(log.room(), 896);
        let first = (1..1000).find(|objects| log.is_due(*objects, 65)).unwrap();
        let share = log.need(first) as f64 / log.room() as f64;
        assert!((0.65..0.66).contains(&share), "{share}");
        assert!(log.can_hold(first));
    }

    #[test]
    fn a_full_log_keeps_room_for_two_empty_checkpoints() {
        let log = Log {
            frames: 100,
            head: 1,
            tail: 1,
            ..Log::default()
        };
        let most = (0..200)
            .take_while(|objects| log.can_hold(*objects))
            .last()
            .unwrap();
        let full = Log {
            head: 1 + log.need(most),
            ..log
        };
        assert!(full.frames - (full.head - full.tail) >= 2 * full.need(0));
        assert!(!full.can_hold(1) && full.is_due(0, 65));
    }
}
