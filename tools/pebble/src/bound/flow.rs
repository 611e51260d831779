//! Where a RISC-V instruction goes next: all that a longest path needs to know of it.

/// What an instruction does to the program counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// There or to the next one.
    Branch(u64),
    /// There.
    Jump(u64),
    /// There, and back to the next one.
    Call(u64),
    /// Back to the caller.
    Return,
    /// To an address in a register, known only if the instruction before put it there.
    Register {
        /// The register.
        from: u32,
        /// What is added to it.
        offset: i64,
        /// It comes back.
        link: bool,
    },
    /// A trap to privileged code.
    Environment,
    /// No way on.
    End,
}

/// The return address register, and the one that calls out of line use.
const RA: u32 = 1;

fn bits(word: u32, high: u32, low: u32) -> u32 {
    (word >> low) & ((1 << (high - low + 1)) - 1)
}

/// A field of the given width as a signed number.
fn signed(value: u32, width: u32) -> i64 {
    i64::from((value << (32 - width)) as i32 >> (32 - width))
}

/// Length in bytes of the instruction that begins with this half word.
pub fn length(half: u16) -> u64 {
    if half & 3 == 3 {
        4
    } else {
        2
    }
}

/// The instruction `word` at `address`.
pub fn of(word: u32, address: u64) -> Flow {
    if length(word as u16) == 2 {
        return compressed(word & 0xffff, address);
    }
    let to = |offset: i64| address.wrapping_add_signed(offset);
    match word & 0x7f {
        0x63 => {
            let offset = bits(word, 31, 31) << 12
                | bits(word, 7, 7) << 11
                | bits(word, 30, 25) << 5
                | bits(word, 11, 8) << 1;
            Flow::Branch(to(signed(offset, 13)))
        }
        0x6f => {
            let offset = bits(word, 31, 31) << 20
                | bits(word, 19, 12) << 12
                | bits(word, 20, 20) << 11
                | bits(word, 30, 21) << 1;
            match bits(word, 11, 7) {
                0 => Flow::Jump(to(signed(offset, 21))),
                _ => Flow::Call(to(signed(offset, 21))),
            }
        }
        0x67 => register(
            bits(word, 19, 15),
            signed(bits(word, 31, 20), 12),
            bits(word, 11, 7) != 0,
        ),
        0x73 if word == 0x0000_0073 => Flow::Environment,
        // `unimp` in its long form: a write to a counter.
        0x73 if word == 0xc000_1073 || word == 0x0010_0073 => Flow::End,
        _ => Flow::Next,
    }
}

fn register(from: u32, offset: i64, link: bool) -> Flow {
    if from == RA && offset == 0 && !link {
        Flow::Return
    } else {
        Flow::Register { from, offset, link }
    }
}

fn compressed(word: u32, address: u64) -> Flow {
    let to = |offset: i64| address.wrapping_add_signed(offset);
    match (word & 3, bits(word, 15, 13)) {
        (0, 0) if word == 0 => Flow::End,
        (1, 5) => {
            let offset = bits(word, 12, 12) << 11
                | bits(word, 8, 8) << 10
                | bits(word, 10, 9) << 8
                | bits(word, 6, 6) << 7
                | bits(word, 7, 7) << 6
                | bits(word, 2, 2) << 5
                | bits(word, 11, 11) << 4
                | bits(word, 5, 3) << 1;
            Flow::Jump(to(signed(offset, 12)))
        }
        (1, 6 | 7) => {
            let offset = bits(word, 12, 12) << 8
                | bits(word, 6, 5) << 6
                | bits(word, 2, 2) << 5
                | bits(word, 11, 10) << 3
                | bits(word, 4, 3) << 1;
            Flow::Branch(to(signed(offset, 9)))
        }
        (2, 4) if bits(word, 6, 2) == 0 => match (bits(word, 12, 12), bits(word, 11, 7)) {
            (1, 0) => Flow::End,
            (link, from) => register(from, 0, link == 1),
        },
        _ => Flow::Next,
    }
}

/// The value that `auipc` at `address` puts into its register, with the register.
pub fn upper(word: u32, address: u64) -> Option<(u32, u64)> {
    (word & 0x7f == 0x17).then(|| {
        let offset = i64::from((word & 0xffff_f000) as i32);
        (bits(word, 11, 7), address.wrapping_add_signed(offset))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings as the GNU assembler makes them.
    #[test]
    fn instructions_go_where_they_say() {
        let at = 0x1000;
        for (word, expected) in [
            (0x0000_0463, Flow::Branch(0x1008)), // beqz zero, +8
            (0xfe05_1ee3, Flow::Branch(0xffc)),  // bnez a0, -4
            (0x0100_006f, Flow::Jump(0x1010)),   // j +16
            (0x0100_00ef, Flow::Call(0x1010)),   // jal +16
            (0x0000_8067, Flow::Return),         // ret
            (0x0000_0073, Flow::Environment),    // ecall
            (0x0000_a001, Flow::Jump(0x1000)),   // c.j .
            (0x0000_8082, Flow::Return),         // c.ret
            (0x0000_c501, Flow::Branch(0x1008)), // c.beqz a0, +8
            (0x0000_fd75, Flow::Branch(0xffc)),  // c.bnez a0, -4
            (0x0000_9002, Flow::End),            // c.ebreak
            (0x0000_0000, Flow::End),            // c.unimp
            (0x00b5_0533, Flow::Next),           // add a0, a0, a1
            (0x0000_952e, Flow::Next),           // c.add a0, a1
        ] {
            assert_eq!(of(word, at), expected, "{word:#010x}");
        }
        let call = Flow::Register {
            from: 6,
            offset: 14,
            link: false,
        };
        assert_eq!(of(0x00e3_0067, at), call, "jr 14(t1)");
        assert_eq!(upper(0x0000_0317, at), Some((6, at)), "auipc t1, 0");
    }
}
