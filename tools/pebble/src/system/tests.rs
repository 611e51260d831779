//! Descriptions, good and broken; the messages are part of the contract.

use super::*;
use pebble_abi::object::role;

/// The least system that passes, with room for more text at the end.
fn minimal(more: &str) -> String {
    let mut text = String::from("[system]\nname = \"small\"\n");
    for role in [
        "init",
        "vm",
        "portal-manager",
        "scheduler",
        "interrupt-dispatcher",
        "idle",
        "loader",
    ] {
        text +=
            &format!("[[component]]\nname = \"{role}\"\npath = \"x/{role}\"\nrole = \"{role}\"\n");
    }
    text + more
}

fn complaint(more: &str) -> String {
    match parse(&minimal(more), "small.toml") {
        Ok(_) => panic!("accepted: {more}"),
        Err(problems) => problems,
    }
}

#[test]
fn core_components_come_first_by_role() {
    let system = parse(&minimal("[[component]]\nname=\"a\"\npath=\"a\"\n[[component]]\nname=\"n\"\npath=\"n\"\nrole=\"name-server\"\n"), "s");
    let Ok(system) = system else {
        panic!("{system:?}")
    };
    let names: Vec<&str> = system
        .components
        .iter()
        .map(|component| component.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "vm",
            "portal-manager",
            "scheduler",
            "interrupt-dispatcher",
            "idle",
            "init",
            "loader",
            "n",
            "a"
        ]
    );
    assert_eq!(system.components[4].role, role::IDLE);
    assert_eq!(system.components[4].grants.priority, 0);
    assert!(system.components[0].is_core() && !system.components[7].is_core());
}

#[test]
fn a_second_file_adds_components_and_rights() {
    let base = minimal("[program]\npriority = 3\nopen = [\"/a/*\"]\n");
    let more = "[program]\npriority = 7\nopen = [\"/a/b\"]\n[[component]]\nname = \"a\"\npath = \"a\"\nregister = [\"/a/*\"]\n";
    let system = parse_with(&base, "base.toml", Some(("more.toml", more)));
    let Ok(system) = system else {
        panic!("{system:?}")
    };
    assert_eq!(system.program.priority, 7);
    assert_eq!(system.program.open, ["/a/*", "/a/b"]);
    assert_eq!(system.components.len(), 8);
    for (more, place) in [
        (
            "\n[[component]]\nname = \"vm\"\npath = \"x\"\n",
            "more.toml:3:8: ",
        ),
        ("[program]\nopen = [\"/nobody/*\"]\n", "more.toml:2:9: "),
        ("[system]\nname = \"other\"\n", "more.toml:1:"),
        ("[program\n", "more.toml:1:"),
    ] {
        let told = parse_with(&base, "base.toml", Some(("more.toml", more)));
        assert!(
            told.as_ref().is_err_and(|told| told.contains(place)),
            "{place} in {told:?}"
        );
    }
}

#[test]
fn mistakes_name_file_line_and_column() {
    let text = complaint("[[component]]\nname = \"a\"\npath = \"a\"\npriority = 64\n");
    assert_eq!(
        text,
        "small.toml:34:12: priority 64 does not exist\n  try: 1 (lowest) to 62 (highest); 0 belongs to the idle component"
    );
}

#[test]
fn each_rule_has_its_message() {
    let component = "[[component]]\nname = \"a\"\npath = \"a\"\n";
    for (more, message) in [
        ("[[component]]\nname=\"idle\"\npath=\"a\"\n".to_string(), "a component `idle` is already on line 24"),
        (format!("{component}role = \"vm\""), "the role `vm` is already taken on line 10"),
        (format!("{component}role = \"boss\""), "no role is called `boss`"),
        (format!("{component}open = [\"/nothing\"]"), "no component of this system registers `/nothing`"),
        (format!("{component}open = [\"nothing\"]"), "a name begins with `/`"),
        (format!("{component}priority = 63"), "priority 63 is the portal manager's own"),
        (format!("{component}memory = \"1 kb\""), "`1 kb` has no unit of memory"),
        (format!("{component}colour = \"red\""), "unknown field `colour`"),
        (format!("{component}devices = [{{ base = 0x1001, bytes = 4096 }}]"), "0x1001 is not the start of a page"),
        (format!("{component}devices = [{{ base = 0x80000000, bytes = 4096 }}]"), "would lie in memory"),
        (
            format!("{component}devices = [{{ base = 0x1000, bytes = 8192, interrupt = 3 }}, {{ base = 0x2000, bytes = 4096, interrupt = 3 }}]"),
            "would both own 0x2000",
        ),
        (
            format!("{component}devices = [{{ base = 0x1000, bytes = 4096, interrupt = 3 }}, {{ base = 0x2000, bytes = 4096, interrupt = 3 }}]"),
            "interrupt 3 already belongs to `a`",
        ),
        (format!("{component}budget = 5"), "a budget needs a period"),
        (format!("{component}period = 100\nbudget = 96"), "96.0 % of the processor"),
        ("[[component]]\nname = \"a b\"\npath = \"a\"".to_string(), "`a b` is not a component's name"),
        (format!("{component}role = \"name-server\"\nstart = false"), "has a role but start = false"),
        ("[[component]]\nname = \"a".to_string(), "small.toml:32:"),
    ] {
        let text = complaint(&more);
        assert!(text.contains(message), "{more}\n{text}");
    }
}

#[test]
fn several_mistakes_are_told_at_once() {
    let text =
        complaint("[[component]]\nname = \"a\"\npath = \"a\"\npriority = 0\nopen = [\"/x\"]\n");
    assert!(
        text.contains("priority 0") && text.contains("`/x`"),
        "{text}"
    );
}

#[test]
fn a_missing_role_or_shell_is_told() {
    let Err(text) = parse("[system]\nname = \"none\"\nshell = \"sh\"\n", "s") else {
        panic!("accepted")
    };
    for role in ["vm", "scheduler", "init"] {
        assert!(
            text.contains(&format!("no component has the role `{role}`")),
            "{text}"
        );
    }
    assert!(text.contains("the shell `sh` is not a component"), "{text}");
}

#[test]
fn the_descriptions_of_this_repository_are_good() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systems");
    let mut count = 0;
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if file
            .path()
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            if let Err(error) = load(&file.path(), "", None) {
                panic!("{}: {error}", file.path().display());
            }
            count += 1;
        }
    }
    assert!(count >= 3, "only {count} descriptions found");
}
