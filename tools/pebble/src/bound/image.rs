//! The machine code of a core server: its entries, and the most instructions that each executes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use addr2line::Loader;
use anyhow::{anyhow, bail, Context, Result};
use object::{Object, ObjectSection, ObjectSymbol};
use pebble_abi::{entry, layout};

use super::flow::{self, Flow};
use super::graph::{self, Graph};
use super::loops::Loops;

/// What ends a path besides a return.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// Nothing: a jump through a register is a mistake.
    Never,
    /// A jump through a register: the trampoline leaves so.
    ByRegister,
}

/// An image that is being looked at.
pub struct Image {
    name: String,
    sections: Vec<(u64, Vec<u8>)>,
    /// Functions: first address, and the one behind the last.
    functions: Vec<(u64, u64)>,
    /// Addresses of code that constants hold: tables of `match`.
    constants: BTreeSet<u64>,
    symbols: BTreeMap<String, u64>,
    entries: Vec<u64>,
    lines: Loader,
    /// What a trap to privileged code costs until the next instruction here.
    trap: u64,
    leave: Leave,
    known: BTreeMap<u64, u64>,
    pending: BTreeSet<u64>,
}

impl Image {
    /// Reads an ELF with debug information.
    pub fn read(file: &Path, trap: u64, leave: Leave) -> Result<Self> {
        let name = file.display().to_string();
        let bytes = std::fs::read(file).with_context(|| format!("cannot read {name}"))?;
        let elf = object::File::parse(bytes.as_slice()).with_context(|| name.clone())?;
        let mut sections = Vec::new();
        let mut entries = Vec::new();
        let mut constants = BTreeSet::new();
        for section in elf.sections() {
            // The entry table comes first in an image, whatever section it was linked into.
            if section.address() == layout::IMAGE {
                entries = table(section.data()?).unwrap_or_default();
            }
            if section.kind() == object::SectionKind::Text {
                sections.push((section.address(), section.data()?.to_vec()));
            } else if section.kind() == object::SectionKind::ReadOnlyData {
                constants.extend(words(section.data()?));
            }
        }
        let functions = elf
            .symbols()
            .filter(|symbol| symbol.size() > 0)
            .map(|symbol| (symbol.address(), symbol.address() + symbol.size()))
            .collect();
        let symbols = elf
            .symbols()
            .filter_map(|symbol| Some((symbol.name().ok()?.to_string(), symbol.address())))
            .collect();
        let lines = Loader::new(file).map_err(|error| anyhow!("{name}: {error}"))?;
        Ok(Image {
            name,
            sections,
            functions,
            constants,
            symbols,
            entries,
            lines,
            trap,
            leave,
            known: BTreeMap::new(),
            pending: BTreeSet::new(),
        })
    }

    /// Number of entries; a core server has some.
    pub fn entries(&self) -> Result<usize> {
        if self.entries.is_empty() {
            bail!("{}: no entry table at {:#x}", self.name, layout::IMAGE);
        }
        Ok(self.entries.len())
    }

    /// The most instructions of an entry, its return included.
    pub fn entry(&mut self, index: usize, loops: &mut Loops) -> Result<u64> {
        let address = self.entries.get(index).copied();
        let address = address.with_context(|| format!("{}: no entry {index}", self.name))?;
        self.function(address, loops)
    }

    /// The same for a symbol.
    pub fn symbol(&mut self, symbol: &str, loops: &mut Loops) -> Result<u64> {
        let address = self.symbols.get(symbol).copied();
        let address = address.with_context(|| format!("{}: no symbol {symbol}", self.name))?;
        self.function(address, loops)
    }

    fn word(&self, address: u64) -> Result<(u32, u64)> {
        for (start, bytes) in &self.sections {
            let Some(code) = address
                .checked_sub(*start)
                .and_then(|at| bytes.get(at as usize..))
            else {
                continue;
            };
            if let [low, high, rest @ ..] = code {
                let half = u16::from_le_bytes([*low, *high]);
                if flow::length(half) == 2 {
                    return Ok((u32::from(half), 2));
                }
                if let [third, fourth, ..] = rest {
                    return Ok((u32::from_le_bytes([*low, *high, *third, *fourth]), 4));
                }
            }
        }
        bail!("{}: no code at {address:#x}", self.name)
    }

    /// Where a jump through a table may go: every place in the same function whose address some constant holds. That is
    /// at least the jump's own table.
    fn table(&self, address: u64) -> Vec<u64> {
        let inside = |(first, end): &&(u64, u64)| (*first..*end).contains(&address);
        match self.functions.iter().find(inside) {
            Some(&(first, end)) => self.constants.range(first..end).copied().collect(),
            None => Vec::new(),
        }
    }

    /// Functions that an address is in, innermost first.
    fn functions(&self, address: u64) -> Vec<String> {
        let mut names = Vec::new();
        if let Ok(mut frames) = self.lines.find_frames(address) {
            while let Ok(Some(frame)) = frames.next() {
                if let Some(name) = frame.function {
                    names.push(name.demangle().map(|n| n.into_owned()).unwrap_or_default());
                }
            }
        }
        if names.is_empty() {
            let symbol = self.lines.find_symbol(address);
            names.extend(symbol.map(|name| format!("{:#}", rustc_demangle::demangle(name))));
        }
        names
    }

    fn function(&mut self, address: u64, loops: &mut Loops) -> Result<u64> {
        if let Some(&known) = self.known.get(&address) {
            return Ok(known);
        }
        if !self.pending.insert(address) {
            bail!(
                "{}: {} calls itself: no bound",
                self.name,
                self.functions(address).join(", called by ")
            );
        }
        let graph = self.graph(address, loops)?;
        let functions = |head| self.functions(head);
        let most = graph::longest(&graph, address, &mut |head| loops.bound(&functions(head)))
            .with_context(|| self.functions(address).join(", called by "))?;
        self.pending.remove(&address);
        self.known.insert(address, most);
        Ok(most)
    }

    /// The instructions that can follow `entry` without a call; a call weighs what its function does.
    fn graph(&mut self, entry: u64, loops: &mut Loops) -> Result<Graph> {
        let mut graph = Graph::default();
        let mut open = vec![(entry, None)];
        while let Some((address, upper)) = open.pop() {
            if graph.weight.contains_key(&address) {
                continue;
            }
            let (word, length) = self.word(address)?;
            let after = address + length;
            let (weight, next) = match flow::of(word, address) {
                Flow::Next => (1, vec![after]),
                Flow::Branch(to) => (1, vec![after, to]),
                Flow::Jump(to) => (1, vec![to]),
                Flow::Call(to) => (1 + self.function(to, loops)?, vec![after]),
                Flow::Return | Flow::End => (1, vec![]),
                // A portal goes on at the return address, not behind the trap: a stub ends with it.
                Flow::Environment => (1 + self.trap, vec![]),
                Flow::Register { from, offset, link } => match upper {
                    Some((register, base)) if register == from => {
                        let to = u64::wrapping_add_signed(base, offset);
                        if link {
                            (1 + self.function(to, loops)?, vec![after])
                        } else {
                            (1, vec![to])
                        }
                    }
                    _ if self.leave == Leave::ByRegister && !link => (1, vec![]),
                    _ if !link && !self.table(address).is_empty() => (1, self.table(address)),
                    _ => bail!(
                        "{}: where does the jump at {address:#x} go, in {}?",
                        self.name,
                        self.functions(address).join(", called by ")
                    ),
                },
            };
            graph.weight.insert(address, weight);
            let upper = flow::upper(word, address);
            for &to in &next {
                open.push((to, upper.filter(|_| to == after)));
            }
            graph.next.insert(address, next);
        }
        Ok(graph)
    }
}

/// Aligned words.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()))
}

/// Addresses in an entry table.
fn table(bytes: &[u8]) -> Option<Vec<u64>> {
    let mut words = words(bytes);
    if words.next()? != entry::MAGIC {
        return None;
    }
    let count = words.next()?;
    words.next()?;
    Some(words.take(count as usize).collect())
}
