//! Inputs: how bytes become changes of something good, and random inputs.

/// What an input says, piece by piece; zeros when it is at its end.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    pub fn word(&mut self) -> u64 {
        u64::from(self.byte()) | u64::from(self.byte()) << 8
    }

    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Changes bytes: where, how many, and then either those bytes or one of the values that find mistakes. Says where.
    pub fn change(&mut self, bytes: &mut [u8]) -> Option<std::ops::Range<usize>> {
        let at = (self.word() | self.word() << 16) as usize % bytes.len().max(1);
        let kind = self.byte();
        let length = match kind & 15 {
            0 => 8,
            length => usize::from(length),
        };
        let end = (at + length).min(bytes.len());
        let target = bytes.get_mut(at..end)?;
        match kind >> 4 {
            0 => target.fill(0),
            1 => target.fill(0xff),
            2 => {
                // The highest bit of a word: sizes and numbers that overflow when something is added.
                target.fill(0);
                if let Some(last) = target.last_mut() {
                    *last = 0x80;
                }
            }
            3 => target
                .iter_mut()
                .for_each(|byte| *byte = byte.wrapping_add(1)),
            4 => target
                .iter_mut()
                .for_each(|byte| *byte = byte.wrapping_sub(1)),
            _ => {
                let given = self.take(target.len());
                target[..given.len()].copy_from_slice(given);
            }
        }
        Some(at..end)
    }
}

/// SplitMix64: the same numbers from a seed everywhere.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// An input of random length up to 160 bytes.
pub fn arbitrary(random: &mut Random) -> Vec<u8> {
    let length = random.number() % 160;
    (0..length).map(|_| random.number() as u8).collect()
}
