//! Policy: what rules, grants and deaths add up to, by example and against a simple model.

use name_server::{parse_rule, Pattern, Policy, Rule, Text};
use pebble::interfaces::name_server::Right;
use pebble::Errno;

fn name(text: &str) -> Text {
    Text::name(text.as_bytes()).unwrap()
}

fn rule(text: &str) -> Rule {
    parse_rule(text.as_bytes()).unwrap()
}

fn policy(rules: &[(usize, &str)]) -> Box<Policy> {
    let mut policy = Box::new(Policy::new());
    for (domain, text) in rules {
        policy.allow(*domain, rule(text)).unwrap();
    }
    policy
}

#[test]
fn only_what_is_allowed_is_allowed() {
    let policy = policy(&[(10, "+open /console/*"), (11, "+register /console/*")]);
    assert!(policy.may(10, Right::Open, &name("/console/write")));
    assert!(!policy.may(10, Right::Register, &name("/console/write")));
    assert!(!policy.may(10, Right::Open, &name("/power/off")));
    assert!(policy.may(11, Right::Register, &name("/console/write")));
    assert!(!policy.may(11, Right::Open, &name("/console/write")));
    assert!(!policy.may(12, Right::Open, &name("/console/write")));
    assert!(!policy.may(4096, Right::Open, &name("/console/write")));
}

#[test]
fn a_third_party_decides_over_its_subtree_only() {
    let mut policy = policy(&[(20, "+decide /games/*")]);
    assert_eq!(policy.grant(20, 21, rule("+open /games/chess")), Ok(()));
    assert!(policy.may(21, Right::Open, &name("/games/chess")));
    assert!(
        !policy.may(20, Right::Open, &name("/games/chess")),
        "deciding is not opening"
    );
    for beyond in [
        "+open /console/write",
        "+open /*",
        "+open /games",
        "+decide /*",
    ] {
        assert_eq!(
            policy.grant(20, 21, rule(beyond)),
            Err(Errno::Access.into()),
            "{beyond}"
        );
    }
    assert_eq!(
        policy.grant(21, 22, rule("+open /games/chess")),
        Err(Errno::Access.into())
    );
}

#[test]
fn a_right_to_decide_can_be_handed_on_and_ends_with_its_giver() {
    let mut policy = policy(&[(20, "+decide /games/*")]);
    policy
        .grant(20, 21, rule("+decide /games/chess/*"))
        .unwrap();
    policy
        .grant(21, 22, rule("+open /games/chess/board"))
        .unwrap();
    assert!(policy.may(22, Right::Open, &name("/games/chess/board")));
    policy.forget(20);
    assert!(!policy.may(22, Right::Open, &name("/games/chess/board")));
    assert_eq!(
        policy.grant(21, 22, rule("+open /games/chess/clock")),
        Err(Errno::Access.into())
    );
}

#[test]
fn a_circle_of_givers_gains_nothing() {
    let mut policy = policy(&[(20, "+decide /a/*")]);
    policy.grant(20, 21, rule("+decide /a/*")).unwrap();
    policy.grant(21, 20, rule("+decide /a/*")).unwrap();
    policy.grant(21, 23, rule("+open /a/b")).unwrap();
    assert!(policy.may(23, Right::Open, &name("/a/b")));
    policy.forget(20);
    assert!(!policy.may(23, Right::Open, &name("/a/b")));
}

#[test]
fn a_new_domain_of_an_old_number_has_nothing() {
    let mut policy = policy(&[(20, "+decide /a/*"), (21, "+open /b")]);
    policy.grant(20, 21, rule("+open /a/b")).unwrap();
    policy.forget(21);
    assert!(!policy.may(21, Right::Open, &name("/a/b")));
    assert!(!policy.may(21, Right::Open, &name("/b")));
}

#[test]
fn a_giver_exhausts_only_its_own_record() {
    let mut policy = policy(&[(20, "+decide /*"), (30, "+decide /*")]);
    let mut given = 0;
    while policy
        .grant(20, 21, rule(&format!("+open /n/{given}")))
        .is_ok()
    {
        given += 1;
    }
    assert!(given >= 16);
    assert_eq!(
        policy.grant(20, 22, rule("+open /x")),
        Err(Errno::TooManyOpen.into())
    );
    assert_eq!(
        policy.grant(20, 21, rule("+open /n/0")),
        Ok(()),
        "what is known needs no room"
    );
    assert_eq!(policy.grant(30, 22, rule("+open /x")), Ok(()));
}

/// The model: a list of all rules with their giver (`None`: init), searched by recursion.
#[derive(Default)]
struct Model {
    rules: Vec<(Option<usize>, usize, Rule)>,
}

impl Model {
    fn may(
        &self,
        domain: usize,
        right: Right,
        wide: &dyn Fn(&Pattern) -> bool,
        depth: usize,
    ) -> bool {
        depth < 8
            && self.rules.iter().any(|(giver, to, rule)| {
                *to == domain
                    && rule.right == right
                    && wide(&rule.pattern)
                    && giver.is_none_or(|giver| self.may(giver, Right::Decide, wide, depth + 1))
            })
    }
}

#[test]
fn random_histories_agree_with_the_model() {
    const PATTERNS: [&str; 7] = ["/*", "/a/*", "/a/b", "/a/b/*", "/a/b/c", "/d", "/d/*"];
    const NAMES: [&str; 6] = ["/a/x", "/a/b", "/a/b/c", "/a/b/c/d", "/d", "/d/e"];
    const WORDS: [&str; 3] = ["+open", "+register", "+decide"];
    let mut seed = 0x9e37_79b9_u64;
    let mut random = move |below: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let (mut allowed, mut refused) = (0, 0);
    for _ in 0..300 {
        let (mut policy, mut model) = (Box::new(Policy::new()), Model::default());
        for _ in 0..25 {
            let (giver, to) = (random(5) + 1, random(5) + 1);
            let word = if random(2) == 0 {
                "+decide"
            } else {
                WORDS[random(3)]
            };
            let given = rule(&format!("{word} {}", PATTERNS[random(PATTERNS.len())]));
            match random(8) {
                0 => {
                    policy.forget(to);
                    model
                        .rules
                        .retain(|(giver, holder, _)| *giver != Some(to) && *holder != to);
                }
                1 | 2 => {
                    if policy.allow(to, given).is_ok() {
                        model.rules.push((None, to, given));
                    }
                }
                _ => {
                    let expected = model.may(
                        giver,
                        Right::Decide,
                        &|wide| wide.includes(&given.pattern),
                        0,
                    );
                    let result = policy.grant(giver, to, given);
                    if result == Err(Errno::TooManyOpen.into()) {
                        continue;
                    }
                    assert_eq!(result.is_ok(), expected);
                    if expected {
                        model.rules.push((Some(giver), to, given));
                    }
                }
            }
            for domain in 1..6 {
                for text in NAMES {
                    for right in [Right::Open, Right::Register] {
                        let name = name(text);
                        let expected = model.may(domain, right, &|wide| wide.covers(&name), 0);
                        assert_eq!(
                            policy.may(domain, right, &name),
                            expected,
                            "{domain} {right:?} {text}"
                        );
                        *if expected { &mut allowed } else { &mut refused } += 1;
                    }
                }
            }
        }
    }
    assert!(
        allowed > 1000 && refused > 1000,
        "the histories are worth something: {allowed} {refused}"
    );
}
