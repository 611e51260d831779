//! Complaints about a description: file, line and column, what is wrong, and what to try.

use std::fmt;
use std::ops::Range;

/// A text with the name that messages use for it.
pub struct Source<'a> {
    /// Name in messages.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// A second text that follows the first: its name, and where it begins.
    second: Option<(&'a str, usize)>,
}

impl<'a> Source<'a> {
    /// A source.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Source {
            name,
            text,
            second: None,
        }
    }

    /// Two texts, one after the other; the second begins at `start`.
    pub fn joined(name: &'a str, text: &'a str, second: &'a str, start: usize) -> Self {
        Source {
            name,
            text,
            second: Some((second, start)),
        }
    }

    /// Where the second text begins; the end, if there is none.
    pub fn second_part(&self) -> usize {
        self.second.map_or(self.text.len(), |(_, start)| start)
    }

    /// Name and start of the text that an offset is in.
    fn part(&self, offset: usize) -> (&'a str, usize) {
        match self.second {
            Some((name, start)) if offset >= start => (name, start),
            _ => (self.name, 0),
        }
    }

    /// Line of a byte offset, counted from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.before(offset).matches('\n').count() + 1
    }

    fn column(&self, offset: usize) -> usize {
        let before = self.before(offset);
        before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1
    }

    fn before(&self, offset: usize) -> &str {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        &self.text[self.part(end).1..end]
    }

    /// A complaint about the part of the text at `span`.
    pub fn problem(&self, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem {
            place: format!(
                "{}:{}:{}",
                self.part(span.start).0,
                self.line(span.start),
                self.column(span.start)
            ),
            message: message.into(),
            hint: None,
        }
    }
}

/// One thing that is wrong.
#[derive(Debug)]
pub struct Problem {
    place: String,
    message: String,
    hint: Option<String>,
}

impl Problem {
    /// Adds what to try.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.message)?;
        match &self.hint {
            Some(hint) => write!(out, "\n  try: {hint}"),
            None => Ok(()),
        }
    }
}
