//! Decodes exactly the instructions that portal code may contain, each in one encoding, and prints them.
//!
//! Anything else, reserved bits and hints and results thrown away among it, is not an instruction here: what this
//! decoder does not know, the verifier need not have an opinion on.

use core::fmt;

/// Bytes that a load or store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Four bytes; a load extends the sign.
    Word,
    /// Eight bytes.
    Double,
}

/// Operation of a register and an immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Immediate {
    Add,
    AddWord,
    And,
    Or,
    ShiftLeft,
    ShiftRight,
}

/// Operation of two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
}

/// What a branch compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Condition {
    Equal,
    NotEqual,
    Less,
    GreaterEqual,
    LessUnsigned,
    GreaterEqualUnsigned,
}

/// How an instruction accesses a control and status register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Access {
    Write,
    Set,
    Clear,
}

/// One instruction. Registers are numbers 0 to 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Instruction {
    Load {
        width: Width,
        to: u8,
        base: u8,
        offset: i32,
    },
    Store {
        width: Width,
        from: u8,
        base: u8,
        offset: i32,
    },
    LoadFloat {
        to: u8,
        base: u8,
        offset: i32,
    },
    StoreFloat {
        from: u8,
        base: u8,
        offset: i32,
    },
    ClearFloat {
        to: u8,
    },
    Immediate {
        operation: Immediate,
        to: u8,
        from: u8,
        value: i32,
    },
    Operation {
        operation: Operation,
        to: u8,
        left: u8,
        right: u8,
    },
    Upper {
        to: u8,
        value: i32,
    },
    Csr {
        access: Access,
        to: u8,
        csr: u16,
        from: u8,
    },
    Branch {
        condition: Condition,
        left: u8,
        right: u8,
        offset: i32,
    },
    Jump {
        link: u8,
        target: u8,
    },
    Return,
    Wait,
    Firmware,
    FenceInstructions,
    FlushTranslations {
        address: u8,
        asid: u8,
    },
    EndReservation {
        base: u8,
    },
}

/// Decodes `word`; `None` when portal code may not contain it.
#[inline]
pub fn decode(word: u32) -> Option<Instruction> {
    use Instruction as I;
    let to = (word >> 7 & 31) as u8;
    let left = (word >> 15 & 31) as u8;
    let right = (word >> 20 & 31) as u8;
    let function = word >> 12 & 7;
    let upper = word >> 25;
    let signed = word as i32;
    let offset = signed >> 20;
    let store_offset = signed >> 25 << 5 | to as i32;
    match word & 0x7f {
        0x03 if to != 0 => {
            let width = match function {
                2 => Width::Word,
                3 => Width::Double,
                _ => return None,
            };
            Some(I::Load {
                width,
                to,
                base: left,
                offset,
            })
        }
        0x23 => {
            let width = match function {
                2 => Width::Word,
                3 => Width::Double,
                _ => return None,
            };
            Some(I::Store {
                width,
                from: right,
                base: left,
                offset: store_offset,
            })
        }
        0x07 if function == 3 => Some(I::LoadFloat {
            to,
            base: left,
            offset,
        }),
        0x27 if function == 3 => Some(I::StoreFloat {
            from: right,
            base: left,
            offset: store_offset,
        }),
        // fmv.d.x f, zero
        0x53 if word & 0xffff_f000 == 0xf200_0000 => Some(I::ClearFloat { to }),
        0x13 if to != 0 => {
            let (operation, value) = match function {
                0 => (Immediate::Add, offset),
                6 => (Immediate::Or, offset),
                7 => (Immediate::And, offset),
                1 if upper >> 1 == 0 => (Immediate::ShiftLeft, offset),
                5 if upper >> 1 == 0 => (Immediate::ShiftRight, offset),
                _ => return None,
            };
            Some(I::Immediate {
                operation,
                to,
                from: left,
                value,
            })
        }
        0x1b if to != 0 && function == 0 => Some(I::Immediate {
            operation: Immediate::AddWord,
            to,
            from: left,
            value: offset,
        }),
        0x33 if to != 0 && function == 0 => {
            let operation = match upper {
                0 => Operation::Add,
                0x20 => Operation::Subtract,
                1 => Operation::Multiply,
                _ => return None,
            };
            Some(I::Operation {
                operation,
                to,
                left,
                right,
            })
        }
        0x37 if to != 0 => Some(I::Upper {
            to,
            value: (word & 0xffff_f000) as i32,
        }),
        0x63 => {
            let condition = match function {
                0 => Condition::Equal,
                1 => Condition::NotEqual,
                4 => Condition::Less,
                5 => Condition::GreaterEqual,
                6 => Condition::LessUnsigned,
                7 => Condition::GreaterEqualUnsigned,
                _ => return None,
            };
            let offset = signed >> 31 << 12
                | (word << 4 & 0x800) as i32
                | (word >> 20 & 0x7e0) as i32
                | (word >> 7 & 0x1e) as i32;
            Some(I::Branch {
                condition,
                left,
                right,
                offset,
            })
        }
        // jalr with offset 0: a jump, or the call of a shared block with its link in t3.
        0x67 if function == 0 && offset == 0 && (to == 0 || to == 28) => Some(I::Jump {
            link: to,
            target: left,
        }),
        0x73 => system(word, function, to, left, right),
        0x0f if word == 0x0000_100f => Some(I::FenceInstructions),
        // sc.d zero, zero, (base)
        0x2f if word & !(31 << 15) == 0x1800_302f => Some(I::EndReservation { base: left }),
        _ => None,
    }
}

fn system(word: u32, function: u32, to: u8, left: u8, right: u8) -> Option<Instruction> {
    use Instruction as I;
    let access = match function {
        0 if word == 0x1020_0073 => return Some(I::Return),
        0 if word == 0x1050_0073 => return Some(I::Wait),
        0 if word == 0x0000_0073 => return Some(I::Firmware),
        0 if word >> 25 == 9 && to == 0 => {
            return Some(I::FlushTranslations {
                address: left,
                asid: right,
            })
        }
        1 => Access::Write,
        2 => Access::Set,
        3 => Access::Clear,
        _ => return None,
    };
    Some(I::Csr {
        access,
        to,
        csr: (word >> 20) as u16,
        from: left,
    })
}

/// Assembly names of the registers.
pub const REGISTERS: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

/// Name of a control and status register that portal code uses; its number otherwise prints as `csr`.
pub fn csr_name(csr: u16) -> &'static str {
    match csr {
        0x003 => "fcsr",
        0x100 => "sstatus",
        0x104 => "sie",
        0x140 => "sscratch",
        0x141 => "sepc",
        0x142 => "scause",
        0x143 => "stval",
        0x14d => "stimecmp",
        0x180 => "satp",
        0xc00 => "cycle",
        0xc01 => "time",
        _ => "csr",
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let r = |register: u8| REGISTERS[register as usize & 31];
        match *self {
            Instruction::Load {
                width,
                to,
                base,
                offset,
            } => {
                let name = if width == Width::Double { "ld" } else { "lw" };
                write!(f, "{name} {}, {offset}({})", r(to), r(base))
            }
            Instruction::Store {
                width,
                from,
                base,
                offset,
            } => {
                let name = if width == Width::Double { "sd" } else { "sw" };
                write!(f, "{name} {}, {offset}({})", r(from), r(base))
            }
            Instruction::LoadFloat { to, base, offset } => {
                write!(f, "fld f{to}, {offset}({})", r(base))
            }
            Instruction::StoreFloat { from, base, offset } => {
                write!(f, "fsd f{from}, {offset}({})", r(base))
            }
            Instruction::ClearFloat { to } => write!(f, "fmv.d.x f{to}, zero"),
            Instruction::Immediate {
                operation: Immediate::Add,
                to,
                from: 0,
                value,
            } => {
                write!(f, "li {}, {value}", r(to))
            }
            Instruction::Immediate {
                operation: Immediate::Add,
                to,
                from,
                value: 0,
            } => {
                write!(f, "mv {}, {}", r(to), r(from))
            }
            Instruction::Immediate {
                operation,
                to,
                from,
                value,
            } => {
                let name = match operation {
                    Immediate::Add => "addi",
                    Immediate::AddWord => "addiw",
                    Immediate::And => "andi",
                    Immediate::Or => "ori",
                    Immediate::ShiftLeft => "slli",
                    Immediate::ShiftRight => "srli",
                };
                write!(f, "{name} {}, {}, {value}", r(to), r(from))
            }
            Instruction::Operation {
                operation,
                to,
                left,
                right,
            } => {
                let name = match operation {
                    Operation::Add => "add",
                    Operation::Subtract => "sub",
                    Operation::Multiply => "mul",
                };
                write!(f, "{name} {}, {}, {}", r(to), r(left), r(right))
            }
            Instruction::Upper { to, value } => {
                write!(f, "lui {}, {:#x}", r(to), value as u32 >> 12)
            }
            Instruction::Csr {
                access: Access::Write,
                to: 0,
                csr,
                from,
            } => {
                write!(f, "csrw {}, {}", csr_name(csr), r(from))
            }
            Instruction::Csr {
                access: Access::Set,
                to,
                csr,
                from: 0,
            } => {
                write!(f, "csrr {}, {}", r(to), csr_name(csr))
            }
            Instruction::Csr {
                access,
                to,
                csr,
                from,
            } => {
                let name = match access {
                    Access::Write => "csrrw",
                    Access::Set => "csrrs",
                    Access::Clear => "csrrc",
                };
                write!(f, "{name} {}, {}, {}", r(to), csr_name(csr), r(from))
            }
            Instruction::Branch {
                condition,
                left,
                right,
                offset,
            } => {
                let name = match condition {
                    Condition::Equal => "beq",
                    Condition::NotEqual => "bne",
                    Condition::Less => "blt",
                    Condition::GreaterEqual => "bge",
                    Condition::LessUnsigned => "bltu",
                    Condition::GreaterEqualUnsigned => "bgeu",
                };
                write!(f, "{name} {}, {}, {offset:+}", r(left), r(right))
            }
            Instruction::Jump { link: 0, target } => write!(f, "jr {}", r(target)),
            Instruction::Jump { link, target } => write!(f, "jalr {}, {}", r(link), r(target)),
            Instruction::Return => f.write_str("sret"),
            Instruction::Wait => f.write_str("wfi"),
            Instruction::Firmware => f.write_str("ecall"),
            Instruction::FenceInstructions => f.write_str("fence.i"),
            Instruction::FlushTranslations { address, asid } => {
                write!(f, "sfence.vma {}, {}", r(address), r(asid))
            }
            Instruction::EndReservation { base } => write!(f, "sc.d zero, zero, ({})", r(base)),
        }
    }
}
