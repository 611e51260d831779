//! Dependencies point one way: the order of the top folders is the order of trust.

use std::path::Path;

use anyhow::Result;

use super::none;
use crate::test::tree::Member;

/// Which folders a crate of a folder may depend on. The first match counts. A component never depends on another, but
/// may on parts of its own folder and on libraries beside it that are no components (they have no `main`).
const ALLOWED: &[(&str, &[&str])] = &[
    ("abi", &[]),
    // The verifier reads the same wish as the generator (specification and system), and shares no code with it.
    ("portal/verify", &["abi", "portal/spec"]),
    ("portal/spec", &["abi"]),
    ("portal", &["abi", "portal/spec"]),
    ("nucleus", &["abi", "portal"]),
    ("interfaces", &["abi", "interfaces"]),
    ("sdk", &["abi", "interfaces", "sdk"]),
    ("sfi", &["abi", "portal", "sfi"]),
    ("store", &["abi", "store"]),
    (
        "components",
        &["abi", "portal", "interfaces", "sdk", "sfi", "store"],
    ),
    (
        "tests",
        &["abi", "portal", "interfaces", "sdk", "sfi", "store"],
    ),
    (
        "bench",
        &["abi", "portal", "interfaces", "sdk", "sfi", "store"],
    ),
    ("tools", &["abi", "portal", "store", "tools"]),
];

/// Every dependency by path is allowed.
pub fn check(members: &[Member]) -> Result<()> {
    let library = |folder: &Path| {
        let found = members.iter().find(|member| member.folder == folder);
        found.is_some_and(|member| !member.binary)
    };
    none(
        members
            .iter()
            .flat_map(|member| complaints(member, &library))
            .collect(),
    )
}

fn complaints(member: &Member, library: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let rule = ALLOWED
        .iter()
        .find(|(folder, _)| member.folder.starts_with(folder));
    let Some((_, allowed)) = rule else {
        return vec![format!(
            "{}: no rule for crates in this folder; add one to the check",
            member.folder.display()
        )];
    };
    let forbidden = member.dependencies.iter().filter(|dependency| {
        let component =
            member.folder.starts_with("components") && dependency.starts_with("components");
        let own = component
            && (own_folder(&member.folder) == own_folder(dependency) || library(dependency));
        !own && !allowed.iter().any(|folder| dependency.starts_with(folder))
    });
    forbidden
        .map(|dependency| {
            let may = if allowed.is_empty() {
                "nothing".to_string()
            } else {
                allowed.join(", ")
            };
            format!(
                "{} depends on {}; it may depend on {may}",
                member.folder.display(),
                dependency.display()
            )
        })
        .collect()
}

/// `components/KIND/NAME` of a path below it.
fn own_folder(path: &Path) -> Vec<std::path::Component<'_>> {
    path.components().take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(folder: &str, dependency: &str) -> Vec<Member> {
        let library = Member {
            name: "y".into(),
            folder: "components/system/scheduling".into(),
            dependencies: vec![],
            binary: false,
        };
        let member = Member {
            name: "x".into(),
            folder: folder.into(),
            dependencies: vec![dependency.into()],
            binary: true,
        };
        vec![library, member]
    }

    #[test]
    fn the_direction_holds() {
        for (folder, dependency) in [
            ("portal/codegen", "portal/spec"),
            ("portal/verify", "portal/spec"),
            ("components/system/vm", "sdk/server"),
            ("components/system/vm", "components/system/vm/logic"),
            ("tools/pebble", "abi"),
        ] {
            assert!(
                check(&member(folder, dependency)).is_ok(),
                "{folder} -> {dependency}"
            );
        }
        for (folder, dependency) in [
            ("abi", "portal/spec"),
            ("portal/verify", "portal/codegen"),
            ("portal/verify", "portal/model"),
            ("components/system/vm", "components/system/idle"),
            ("sdk/rust", "components/services/pipe"),
            ("components/services/pipe", "tools/pebble"),
            ("sdk/rust", "components/system/scheduling"),
            ("elsewhere/x", "abi"),
        ] {
            assert!(
                check(&member(folder, dependency)).is_err(),
                "{folder} -> {dependency}"
            );
        }
    }
}
