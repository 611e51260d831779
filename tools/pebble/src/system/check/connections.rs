//! Who may call whom: every name that somebody may open is a name that somebody may register.

use toml::Spanned;

use super::super::description::Description;
use super::super::pattern;
use super::Checker;

impl Checker<'_> {
    /// Well-formed patterns.
    pub(super) fn patterns(&mut self, patterns: &[Spanned<String>]) -> Vec<String> {
        for given in patterns {
            if let Err(why) = pattern::check(given.get_ref()) {
                self.complain(
                    given.span(),
                    format!("`{}`: {why}", given.get_ref()),
                    "an absolute name such as \"/console/write\", or a subtree such as \"/console/*\"",
                );
            }
        }
        patterns
            .iter()
            .map(|given| given.get_ref().clone())
            .collect()
    }

    /// Nobody may open what nobody offers.
    pub(super) fn connections(&mut self, raw: &Description) {
        let components = raw.component.iter().map(Spanned::get_ref);
        let offered: Vec<&str> = components
            .clone()
            .flat_map(|entry| &entry.register)
            .chain(raw.program.iter().flat_map(|program| &program.register))
            .map(|given| given.get_ref().as_str())
            .collect();
        let wanted = components
            .flat_map(|entry| &entry.open)
            .chain(raw.program.iter().flat_map(|program| &program.open));
        for want in wanted {
            let name = want.get_ref();
            if pattern::check(name).is_err()
                || offered.iter().any(|offer| pattern::overlap(name, offer))
            {
                continue;
            }
            let top = |name: &str| name.split('/').nth(1).map(str::to_string);
            let near: Vec<&str> = offered
                .iter()
                .copied()
                .filter(|offer| top(offer) == top(name))
                .collect();
            let shown = if near.is_empty() { &offered } else { &near };
            self.complain(
                want.span(),
                format!("no component of this system registers `{name}`"),
                if shown.is_empty() {
                    "give some component `register = [...]` with this name".to_string()
                } else {
                    format!("registered are {}", shown.join(", "))
                },
            );
        }
    }
}
