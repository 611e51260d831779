//! Walks every path of a block: forward branches only, each side with its own state.

use crate::contract::{begin, begins, leave, settle, Part, Way};
use crate::decode::{decode, Instruction};
use crate::machine::Machine;
use crate::offence::{Offence, Reason};
use crate::state::{Fact, Mark, State};
use crate::{Report, MAX_WORDS};

/// Instructions looked at in all, over all paths.
const MAX_STEPS: u32 = 100_000;
/// Branches taken one after the other on a path.
const MAX_DEPTH: u32 = 16;

/// One walk through the code of a block.
pub(crate) struct Walk<'m, 'a> {
    machine: &'m mut Machine<'a>,
    part: Part,
    before: State,
    steps: u32,
    visited: [u64; MAX_WORDS / 64],
    scheduler: bool,
    floats: bool,
    joined: Option<Joined>,
}

/// A point where paths come together, walked on from.
struct Joined {
    index: usize,
    /// The state that stands for all of them, and the facts that it rests on.
    state: State,
    facts: [Option<Fact>; FACTS],
    /// The longest way out from there, in instructions.
    beyond: u32,
}

/// Most facts that such a state may rest on.
const FACTS: usize = 4;

/// Verifies both parts of a block.
pub(crate) fn walk(machine: &mut Machine<'_>, back: Option<usize>) -> Result<Report, Offence> {
    let entry = machine.entry;
    let words = machine.words.len();
    let before = start(machine, Part::Call);
    let mut walk = Walk {
        machine,
        part: Part::Call,
        before,
        steps: 0,
        visited: [0; MAX_WORDS / 64],
        scheduler: false,
        floats: false,
        joined: None,
    };
    let call = walk.path(entry, walk.before.clone(), 0)?;
    let back = match back {
        Some(index) => {
            walk.part = Part::Back;
            walk.before = start(walk.machine, Part::Back);
            walk.joined = None;
            walk.path(index, walk.before.clone(), 0)?
        }
        None => 0,
    };
    for index in entry..words {
        if walk.visited[index / 64] >> (index % 64) & 1 == 0 {
            return Err(walk.offence(index, Reason::Unreachable));
        }
    }
    Ok(Report {
        words: words as u32,
        call,
        back,
        scheduler: walk.scheduler,
        floats: walk.floats,
    })
}

/// The state in which a part begins; terms of one part mean nothing in the other.
fn start(machine: &mut Machine<'_>, part: Part) -> State {
    machine.terms.reset();
    machine.pages.forget();
    machine.log.cut(Mark::default());
    begin(machine, part)
}

impl Walk<'_, '_> {
    fn offence(&self, index: usize, reason: Reason) -> Offence {
        Offence {
            address: self.machine.address.wrapping_add(4 * index as u64),
            word: self.machine.words.get(index).copied().unwrap_or(0),
            reason,
        }
    }

    /// Walks on from where paths come together, or answers the longest way out if another one was here already that
    /// stands for this one too. `None`: this path has to go on by itself.
    fn join(
        &mut self,
        index: usize,
        state: &mut State,
        depth: u32,
    ) -> Option<Result<u32, Offence>> {
        let first = core::mem::take(&mut state.settled_from) as usize;
        if !settle(self.machine, state, self.part, first) {
            return None;
        }
        let mut facts = [None; FACTS];
        for (number, fact) in self.machine.log.facts().enumerate() {
            *facts.get_mut(number)? = Some(fact);
        }
        if let Some(joined) = &self.joined {
            if joined.index == index && joined.state == *state && joined.facts == facts {
                return Some(Ok(joined.beyond));
            }
        }
        let beyond = match self.path(index, state.clone(), depth) {
            Ok(beyond) => beyond,
            Err(offence) => return Some(Err(offence)),
        };
        self.joined = Some(Joined {
            index,
            state: state.clone(),
            facts,
            beyond,
        });
        Some(Ok(beyond))
    }

    /// Walks on from `index`; answers the longest way out in instructions.
    fn path(&mut self, mut index: usize, mut state: State, depth: u32) -> Result<u32, Offence> {
        let mut count = 0;
        let mut longest = 0;
        loop {
            if state.settles_at as usize == index && index != 0 {
                state.settles_at = 0;
                if let Some(answer) = self.join(index, &mut state, depth + 1) {
                    return Ok(longest.max(count + answer?));
                }
            }
            let Some(&word) = self.machine.words.get(index) else {
                return Err(self.offence(index, Reason::End));
            };
            self.visited[index / 64] |= 1 << (index % 64);
            self.steps += 1;
            count += 1;
            if self.steps > MAX_STEPS || depth > MAX_DEPTH {
                return Err(self.offence(index, Reason::TooComplex));
            }
            let refuse = |walk: &Self, reason| walk.offence(index, reason);
            let instruction = decode(word).ok_or_else(|| refuse(self, Reason::Instruction))?;
            match instruction {
                Instruction::Branch {
                    condition,
                    left,
                    right,
                    offset,
                } => {
                    if offset < 8 || offset % 4 != 0 {
                        return Err(refuse(self, Reason::Branch));
                    }
                    let pair = (
                        state.registers[left as usize],
                        state.registers[right as usize],
                    );
                    let known = self.machine.outcome(condition, pair);
                    if begins(self.machine, &state, pair) {
                        state.settles_at = (index + offset as usize / 4) as u16;
                        state.settled_from = self.machine.log.known() as u16;
                    }
                    if known != Some(false) {
                        let begin = self.machine.log.mark();
                        let mut taken = state.clone();
                        self.machine
                            .note(&mut taken, condition, pair, true)
                            .map_err(|reason| refuse(self, reason))?;
                        let beyond = self.path(index + offset as usize / 4, taken, depth + 1)?;
                        longest = longest.max(count + beyond);
                        self.machine.log.cut(begin);
                    }
                    if known == Some(true) {
                        return Ok(longest);
                    }
                    self.machine
                        .note(&mut state, condition, pair, false)
                        .map_err(|reason| refuse(self, reason))?;
                }
                Instruction::Jump { link: 0, target } => {
                    let way = Way::Jump(state.registers[target as usize]);
                    leave(self.machine, &state, (self.part, &self.before), way)
                        .map_err(|reason| refuse(self, reason))?;
                    self.note_exit(&state, way);
                    return Ok(longest.max(count));
                }
                Instruction::Jump { target, .. } => {
                    self.machine
                        .call_float_push(&mut state, target)
                        .map_err(|reason| refuse(self, reason))?;
                    self.floats = true;
                }
                Instruction::Return => {
                    leave(self.machine, &state, (self.part, &self.before), Way::User)
                        .map_err(|reason| refuse(self, reason))?;
                    self.note_exit(&state, Way::User);
                    return Ok(longest.max(count));
                }
                _ => self
                    .machine
                    .step(&mut state, instruction)
                    .map_err(|reason| refuse(self, reason))?,
            }
            index += 1;
        }
    }

    /// Remembers whether a path leads into the scheduler, by its address space or through a shared block.
    fn note_exit(&mut self, state: &State, way: Way) {
        let system = self.machine.policy.system;
        let terms = &mut self.machine.terms;
        let domain = terms.number(system.scheduler.domain);
        let satp = terms.load(
            domain,
            core::mem::offset_of!(pebble_abi::object::Domain, satp) as i32,
        );
        let wait = terms.number(system.stack_wait);
        let free = terms.number(system.stack_free);
        self.scheduler |= state.satp == satp || way == Way::Jump(wait) || way == Way::Jump(free);
    }
}
