//! Amounts of memory as people write them: `"256 KiB"`, `"16 MiB"`, or a number of pages.

use pebble_abi::layout::PAGE;
use serde::Deserialize;

/// An amount of memory in a description.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Memory {
    /// Pages.
    Pages(u64),
    /// A number and a unit.
    Text(String),
}

impl Memory {
    /// Whole pages, rounded up.
    pub fn pages(&self) -> Result<u32, String> {
        let bytes = match self {
            Memory::Pages(pages) => pages.checked_mul(PAGE),
            Memory::Text(text) => parse(text)?,
        };
        let pages = bytes.ok_or("too much memory to count")?.div_ceil(PAGE);
        match u32::try_from(pages) {
            Ok(0) => Err("no memory at all".into()),
            Ok(pages) => Ok(pages),
            Err(_) => Err("more memory than pages can be counted".into()),
        }
    }
}

fn parse(text: &str) -> Result<Option<u64>, String> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = text[digits.len()..].trim();
    let number: u64 = digits
        .trim()
        .parse()
        .map_err(|_| format!("`{text}` is not an amount of memory"))?;
    let factor = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "pages" | "page" => PAGE,
        _ => return Err(format!("`{text}` has no unit of memory")),
    };
    Ok(number.checked_mul(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_pages() {
        for (text, pages) in [
            ("256 KiB", 64),
            ("1 B", 1),
            ("64MiB", 16384),
            ("3 pages", 3),
        ] {
            assert_eq!(Memory::Text(text.into()).pages(), Ok(pages), "{text}");
        }
        assert_eq!(Memory::Pages(5).pages(), Ok(5));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "KiB",
            "12",
            "-1 KiB",
            "1 kb",
            "99999999999999999999 B",
            "0 B",
            "18446744073709551615 GiB",
        ] {
            assert!(Memory::Text(text.into()).pages().is_err(), "{text}");
        }
    }
}
