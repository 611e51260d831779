//! The portal manager installs nothing that the verifier has not seen: what it keeps of every portal as the verifier's
//! worst case is what the verifier says of that specification on the host.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{pebble, root, text, Answer};
use pebble_abi::object::info;

/// Instructions of call and return together, by the name of the golden file, of all portals that a program can have.
fn goldens() -> Answer<BTreeMap<String, u64>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("portal/goldens/riscv64"))? {
        let golden = std::fs::read_to_string(entry?.path())?;
        let name = golden.split(':').next().unwrap_or_default().to_string();
        let most = |what: &str| -> Answer<Option<u64>> {
            let head = format!("{what}: at most ");
            let line = golden.lines().find_map(|line| line.strip_prefix(&head));
            let number = line.and_then(|line| line.split(' ').next());
            Ok(number.map(str::parse).transpose()?)
        };
        let call = most("call")?.ok_or_else(|| format!("{name} has no cost"))?;
        found.insert(name, call + most("return")?.unwrap_or(0));
    }
    Ok(found)
}

/// The name of the golden file for a portal, as INFO tells its specification and kind.
fn golden_of(specification: &str, kind: u64) -> &str {
    match kind {
        info::SEMAPHORE_WAIT => "semaphore-wait",
        info::SEMAPHORE_POST => "semaphore-post",
        info::DEAD => "dead",
        _ => specification,
    }
}

#[test]
fn every_portal_of_a_domain_and_its_child_costs_what_the_verifier_proved() -> Answer {
    let goldens = goldens()?;
    // A specification begins with its letters for stack and state; other names are other kinds of portals.
    let calls: Vec<&str> = goldens
        .keys()
        .map(String::as_str)
        // Some listings are of a portal as another processor has it.
        .filter(|name| !name.contains('-'))
        .filter(|name| {
            ["sm", "sp", "nm", "np"]
                .iter()
                .any(|letters| name.starts_with(letters))
        })
        .collect();
    assert!(calls.len() >= 16, "{calls:?}");
    let program = root().join("tests/portals/costs.c");
    let program = program.to_string_lossy();
    let mut arguments = vec!["run", &program, "--"];
    arguments.extend(&calls);
    let folder = tempfile::tempdir()?;
    let done = pebble(folder.path(), &arguments)?;
    let said = text(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{said}{}", text(&done.stderr));
    let mut seen = BTreeSet::new();
    let mut portals = 0;
    for line in said.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [specification, kind, worst] = words[..] else {
            return Err(line.into());
        };
        let (name, worst) = (golden_of(specification, kind.parse()?), worst.parse()?);
        assert_ne!(worst, 0, "{line}");
        if let Some(golden) = goldens.get(name) {
            assert_eq!(*golden, worst, "{line}");
            seen.insert(name.to_string());
        }
        portals += 1;
    }
    for name in calls.iter().chain(&["semaphore-wait", "semaphore-post"]) {
        assert!(seen.contains(*name), "no portal was {name}: {said}");
    }
    // The stubs of all standard portals are among them.
    let standard = pebble_abi::entry::STANDARD.len();
    assert!(portals >= calls.len() + standard, "{portals} portals");
    Ok(())
}
