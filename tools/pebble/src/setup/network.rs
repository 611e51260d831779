//! Tells a library that the network dropped from a mistake in what is built.

/// Words of cargo when a download did not succeed, whatever the reason.
const SIGNS: [&str; 5] = [
    "failed to download",
    "failed to get `",
    "failed to fetch",
    "spurious network error",
    "download of ",
];

/// What to try when cargo's words say that it could not download something.
pub fn advice(said: &str) -> Option<&'static str> {
    SIGNS.iter().any(|sign| said.contains(sign)).then_some(
        "cargo could not download a library that Cargo.lock names; if the network dropped it, try again; \
         behind a proxy or a mirror, set it in ~/.cargo/config.toml",
    )
}

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn a_download_that_failed_is_not_a_mistake_in_the_program() {
        let dropped =
            "error: failed to download from `x/clap`\n\nCaused by:\n  [28] Timeout was reached";
        assert!(advice(dropped).is_some_and(|text| text.contains("try again")));
        let index = "error: failed to get `elf` as a dependency of package `nucleus`";
        assert!(advice(index).is_some());
        assert_eq!(
            advice("error[E0425]: cannot find value `download` in this scope"),
            None
        );
    }
}
