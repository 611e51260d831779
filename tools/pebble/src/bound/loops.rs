//! How often loops run at most: `loops.toml` beside a component's sources, with the reason for each number.

use std::path::Path;

use anyhow::{bail, Context, Result};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "loop")]
    loops: Vec<Loop>,
}

/// A loop with its bound.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Loop {
    /// End of the name of the function that it is written in: `Timeline::rise`.
    function: String,
    /// How often its head is executed at most, each time the loop is entered.
    most: u64,
    /// Why: for people.
    #[allow(dead_code)]
    why: String,
    /// Some loop of the machine code is this one.
    #[serde(skip)]
    met: bool,
}

/// Bounds of all loops of a component.
#[derive(Debug)]
pub struct Loops {
    file: String,
    loops: Vec<Loop>,
}

impl Loops {
    /// Reads the file; without one there are no loops.
    pub fn read(file: &Path) -> Result<Self> {
        let text = if file.exists() {
            std::fs::read_to_string(file)?
        } else {
            String::new()
        };
        Self::parse(&text, &file.display().to_string())
    }

    fn parse(text: &str, file: &str) -> Result<Self> {
        let parsed: File = toml::from_str(text).with_context(|| file.to_string())?;
        Ok(Loops {
            file: file.to_string(),
            loops: parsed.loops,
        })
    }

    /// The bound of a loop that is in these functions, the innermost of inlined ones first.
    pub fn bound(&mut self, functions: &[String]) -> Result<u64> {
        for function in functions {
            let found = self
                .loops
                .iter_mut()
                .find(|known| names(function, &known.function));
            if let Some(found) = found {
                found.met = true;
                return Ok(found.most);
            }
        }
        bail!(
            "a loop without a bound in {}; give one in {}, with its reason",
            functions.join(", called by "),
            self.file
        )
    }

    /// Every bound is about a loop that is there.
    pub fn complete(&self) -> Result<()> {
        match self.loops.iter().find(|known| !known.met) {
            None => Ok(()),
            Some(known) => bail!(
                "{}: no loop of `{}` was met; take its bound out, or correct the name",
                self.file,
                known.function
            ),
        }
    }
}

/// A full name ends with the words of a short one; types' parameters do not count.
fn names(full: &str, short: &str) -> bool {
    let mut plain = String::new();
    let mut depth = 0u32;
    for letter in full.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    plain == short
        || plain.ends_with(&format!("::{short}"))
        || full.ends_with(&format!("::{short}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_function_decides() -> Result<()> {
        let text = "[[loop]]\nfunction = 'Heap::rise'\nmost = 9\nwhy = 'a'\n\
                    [[loop]]\nfunction = 'timer'\nmost = 4\nwhy = 'b'";
        let mut loops = Loops::parse(text, "loops.toml")?;
        let inner = ["x::Heap::rise".to_string(), "y::timer".to_string()];
        assert_eq!(loops.bound(&inner)?, 9);
        assert!(loops.complete().is_err(), "timer was not met");
        assert_eq!(loops.bound(&["core::next".into(), "y::timer".into()])?, 4);
        loops.complete()?;
        assert!(loops.bound(&["y::other".into()]).is_err());
        Ok(())
    }

    #[test]
    fn parameters_of_types_do_not_count() {
        assert!(names("s::Scheduler<P,M>::timer", "Scheduler::timer"));
        assert!(names("a::<impl s::Scheduler<P,M>>::timer", "timer"));
        assert!(!names("a::late_timer", "timer"));
    }
}
