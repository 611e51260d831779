//! Names and patterns of names: `/console/write`, `/console/*`, `/*`.

use pebble_abi::slot::NAMELEN;

/// Why a pattern is none, or `Ok`.
pub fn check(pattern: &str) -> Result<(), String> {
    let name = pattern.strip_suffix('*').unwrap_or(pattern);
    if !pattern.starts_with('/') {
        return Err("a name begins with `/`".into());
    }
    if pattern.len() >= NAMELEN {
        return Err(format!("a name has at most {} bytes", NAMELEN - 1));
    }
    if name.contains('*') || (pattern.ends_with('*') && !name.ends_with('/')) {
        return Err("`*` stands for a whole subtree and only at the end, after `/`".into());
    }
    if pattern == name && name.ends_with('/') {
        return Err("a name does not end with `/`; a subtree ends with `/*`".into());
    }
    if name.contains("//") {
        return Err("a part of the name is empty".into());
    }
    if let Some(bad) = name
        .chars()
        .find(|letter| !letter.is_ascii_alphanumeric() && !"/-_.".contains(*letter))
    {
        return Err(format!("`{bad}` does not belong in a name"));
    }
    Ok(())
}

/// Whether some name matches both patterns.
pub fn overlap(one: &str, other: &str) -> bool {
    match (one.strip_suffix('*'), other.strip_suffix('*')) {
        (None, None) => one == other,
        (Some(prefix), None) => other.starts_with(prefix),
        (None, Some(prefix)) => one.starts_with(prefix),
        (Some(one), Some(other)) => one.starts_with(other) || other.starts_with(one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_patterns() {
        for pattern in ["/console/write", "/console/*", "/*", "/a-b_c.d"] {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
        }
    }

    #[test]
    fn bad_patterns() {
        let long = format!("/{}", "a".repeat(NAMELEN - 1));
        for pattern in [
            "", "console", "/a*", "/*/b", "/a/", "//a", "/a b", "/a\0", "*", &long,
        ] {
            assert!(check(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn overlaps() {
        assert!(overlap("/console/*", "/console/write"));
        assert!(overlap("/console/write", "/*"));
        assert!(overlap("/a/*", "/a/b/*"));
        assert!(!overlap("/a/*", "/ab/*"));
        assert!(!overlap("/a/b", "/a/c"));
        assert!(!overlap("/a/*", "/a"));
    }
}
