//! Rules as text: a word and a pattern, as `+open /console/*`.

use pebble::interfaces::name_server::{Right, RULES};
use pebble::{Errno, Error};

use crate::Pattern;

/// What a component may do, and to which names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What.
    pub right: Right,
    /// To which names.
    pub pattern: Pattern,
}

impl Rule {
    /// A rule that allows nothing; a place for one.
    pub const NONE: Rule = Rule {
        right: Right::Open,
        pattern: Pattern::NONE,
    };
}

/// Reads one rule.
pub fn parse_rule(line: &[u8]) -> Result<Rule, Error> {
    let space = line
        .iter()
        .position(|&byte| byte == b' ')
        .ok_or(Errno::Invalid)?;
    let (word, pattern) = (&line[..space], &line[space + 1..]);
    let (_, right) = RULES
        .iter()
        .find(|(known, _)| known.as_bytes() == word)
        .ok_or(Errno::Invalid)?;
    Ok(Rule {
        right: *right,
        pattern: Pattern::new(pattern)?,
    })
}

/// Reads lines that end with NUL; an empty line, or the end of the bytes, ends them.
pub fn rules(text: &[u8]) -> impl Iterator<Item = Result<Rule, Error>> + '_ {
    text.split(|&byte| byte == 0)
        .take_while(|line| !line.is_empty())
        .map(parse_rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_a_description() {
        let text = b"+open /console/*\0+register /pipe/*\0+decide /games/*\0\0+open /not/read\0";
        let found: Vec<Rule> = rules(text).map(Result::unwrap).collect();
        assert_eq!(
            found.iter().map(|rule| rule.right).collect::<Vec<_>>(),
            [Right::Open, Right::Register, Right::Decide]
        );
        assert_eq!(found[0].pattern, Pattern::new(b"/console/*").unwrap());
        assert_eq!(rules(b"\0").count(), 0);
    }

    #[test]
    fn bad_rules_are_refused() {
        for bad in [
            "open /a",
            "+open",
            "+open  /a",
            "+open a",
            "+close /a",
            "+open /a /b",
            "+open /a/*/b",
        ] {
            assert_eq!(
                parse_rule(bad.as_bytes()),
                Err(Errno::Invalid.into()),
                "{bad}"
            );
        }
    }
}
