//! Contents of a disk, shared with other images until they differ.

use std::rc::Rc;

use pebble_store_device::{Frame, FRAME_SIZE};

/// Frames that are shared together. Copying a group costs as much as this many counters.
const GROUP: usize = 32;

/// Frames side by side; `None` is a frame of zeros.
type Group = [Option<Rc<Frame>>; GROUP];

/// What is on a disk. Cloning costs one counter for each [`GROUP`] of frames, and contents are never copied.
#[derive(Clone, Debug, Default)]
pub struct Image {
    groups: Vec<Option<Rc<Group>>>,
    frames: u64,
}

impl Image {
    /// A disk of this many frames, all of them zeros.
    pub fn new(frames: u64) -> Self {
        Self {
            groups: vec![None; (frames as usize).div_ceil(GROUP)],
            frames,
        }
    }

    /// Frames of the disk.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The contents of frame `at`, which must be below [`Self::frames`].
    pub fn read(&self, at: u64) -> &Frame {
        static ZEROS: Frame = [0; FRAME_SIZE];
        self.shared(at).map_or(&ZEROS, |frame| &**frame)
    }

    /// The contents of frame `at` as they are shared; `None` is zeros.
    pub(crate) fn shared(&self, at: u64) -> Option<&Rc<Frame>> {
        let group = self.groups[at as usize / GROUP].as_ref()?;
        group[at as usize % GROUP].as_ref()
    }

    /// Puts contents into frame `at`, which must be below [`Self::frames`].
    pub fn write(&mut self, at: u64, contents: Frame) {
        self.put(at, Some(Rc::new(contents)));
    }

    /// Shares contents into frame `at`.
    pub(crate) fn put(&mut self, at: u64, contents: Option<Rc<Frame>>) {
        assert!(at < self.frames, "frame {at} of {}", self.frames);
        let group = &mut self.groups[at as usize / GROUP];
        let group = group.get_or_insert_with(|| Rc::new([const { None }; GROUP]));
        Rc::make_mut(group)[at as usize % GROUP] = contents;
    }

    /// Whether both hold the same bytes. What is shared is not looked at.
    pub fn same(&self, other: &Self) -> bool {
        let shared = |at: usize| match (&self.groups[at], &other.groups[at]) {
            (None, None) => true,
            (Some(one), Some(other)) => Rc::ptr_eq(one, other),
            _ => false,
        };
        self.frames == other.frames
            && (0..self.frames)
                .filter(|at| !shared(*at as usize / GROUP))
                .all(|at| self.read(at) == other.read(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_its_contents() {
        let mut one = Image::new(100);
        one.write(70, [7; FRAME_SIZE]);
        let mut other = one.clone();
        other.write(70, [8; FRAME_SIZE]);
        other.write(71, [9; FRAME_SIZE]);
        assert_eq!(one.read(70)[0], 7);
        assert_eq!(one.read(71)[0], 0);
        assert_eq!(other.read(70)[0], 8);
        assert!(!one.same(&other) && one.same(&one.clone()));
    }

    #[test]
    fn zeros_are_the_same_whether_written_or_not() {
        let mut one = Image::new(3);
        one.write(2, [0; FRAME_SIZE]);
        assert!(one.same(&Image::new(3)) && !one.same(&Image::new(4)));
    }
}
