//! Moving a stack: words that point into the old place are made to point into the new one.

use core::ops::Range;

/// Adds `delta` to each word whose value lies in `old`; answers how many there were.
#[cfg_attr(not(target_arch = "riscv64"), allow(dead_code))]
pub(crate) fn relocate(words: &mut [u64], old: Range<u64>, delta: u64) -> usize {
    let mut moved = 0;
    for word in words {
        if old.contains(word) {
            *word = word.wrapping_add(delta);
            moved += 1;
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_point_into_the_old_stack_move() {
        let old = 0x4400_8000..0x4404_0000;
        let mut words = [
            0x4400_7fff,
            0x4400_8000,
            0x4403_fff8,
            0x4404_0000,
            0,
            u64::MAX,
            0x10_0000,
        ];
        assert_eq!(relocate(&mut words, old, 0x4_0000), 2);
        assert_eq!(
            words,
            [
                0x4400_7fff,
                0x4404_8000,
                0x4407_fff8,
                0x4404_0000,
                0,
                u64::MAX,
                0x10_0000
            ]
        );
    }

    #[test]
    fn a_stack_can_move_down() {
        let mut words = [0x4408_0010];
        relocate(&mut words, 0x4408_0000..0x440c_0000, (-0x4_0000_i64) as u64);
        assert_eq!(words, [0x4404_0010]);
    }

    /// A chain of frames, each with the address of the one before: after the move it has the same shape.
    #[test]
    fn a_chain_of_frames_stays_a_chain() {
        let (base, delta) = (0x4402_0000_u64, 0x8_0000_u64);
        let mut words: Vec<u64> = (0..256).map(|index| index * 3).collect();
        for index in (8..256).step_by(8) {
            words[index] = base + (index as u64 - 8) * 8;
        }
        let before = words.clone();
        assert_eq!(relocate(&mut words, base..base + 2048, delta), 31);
        let mut position = 248;
        while position >= 8 {
            assert_eq!(words[position], before[position] + delta);
            position = ((words[position] - base - delta) / 8) as usize;
        }
        assert_eq!(position, 0);
        assert!((0..256)
            .filter(|index| index % 8 != 0)
            .all(|index| words[index] == before[index]));
    }
}
