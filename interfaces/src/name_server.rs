//! The name server: which portal a name means, and who may offer or open it.
//!
//! Only the portal manager may call `bind`, `lookup` and `unbind`, and only init `allow`: the invoking domain
//! arrives as first argument (letter `d`) and the server checks it. The portal manager serves these names itself
//! from the registrations of the component with the name server's role. Everyone may call `grant` and `delegate`,
//! which act on what the caller itself was delegated, and
//! `list`, which shows what the caller may open.

use crate::Service;

/// Offer: `bind(a1 = name, a2 = portal id, a3 = owner's domain)`.
pub const BIND: Service = Service {
    c_name: "NAME_BIND",
    name: "/name-server/bind",
    specification: "nmdrii",
    meaning: "portal manager only: (name, portal id, owner's domain); answers 0, -EACCES, -EEXIST, -EMFILE, -ENFILE",
};
/// Find: `lookup(a1 = name, a2 = client's domain)`.
pub const LOOKUP: Service = Service {
    c_name: "NAME_LOOKUP",
    name: "/name-server/lookup",
    specification: "nmdri",
    meaning:
        "portal manager only: (name, client's domain); answers the portal id, -EACCES or -ENOENT",
};
/// Forget a domain that is dead: `unbind(a1 = domain)`.
pub const UNBIND: Service = Service {
    c_name: "NAME_UNBIND",
    name: "/name-server/unbind",
    specification: "nmdi",
    meaning: "portal manager only: (domain): forget its names, rules and delegations; answers how many names",
};
/// First rules of a component: `allow(a1 = domain, a2 = component's name, a3 = rules)`, see [`RULES`].
pub const ALLOW: Service = Service {
    c_name: "NAME_ALLOW",
    name: "/name-server/allow",
    specification: "nmdirr",
    meaning: "init only: (domain, component's name, rules of the system description); answers 0 or -EINVAL",
};
/// One more rule for a component: `grant(a0 = caller, a1 = domain, a2 = rule)`, within the caller's subtrees.
pub const GRANT: Service = Service {
    c_name: "NAME_GRANT",
    name: "/name-server/grant",
    specification: "nmdir",
    meaning: "(domain, rule): give a rule within a subtree that was delegated to the caller; answers 0 or -EACCES",
};
/// Hand on a subtree: `delegate(a0 = caller, a1 = domain, a2 = pattern)`.
pub const DELEGATE: Service = Service {
    c_name: "NAME_DELEGATE",
    name: "/name-server/delegate",
    specification: "nmdir",
    meaning: "(domain, pattern): let that domain decide over a subtree of the caller's own; answers 0 or -EACCES",
};

/// Read the names one by one: `list(a0 = caller, a1 = index, a2 = buffer)`.
pub const LIST: Service = Service {
    c_name: "NAME_LIST",
    name: "/name-server/list",
    specification: "nmdiw",
    meaning: "(index, buffer of NAMELEN bytes): the name there; answers its portal id, -ENOENT: none there that the caller may open, -EINVAL past the last index",
};

/// All of them.
pub const ALL: &[Service] = &[BIND, LOOKUP, UNBIND, ALLOW, GRANT, DELEGATE, LIST];

/// Form of rules: lines that end with NUL, an empty line ends them. A line is a word and a pattern, as
/// `+open /console/*`.
pub const RULES: &[(&str, Right)] = &[
    ("+open", Right::Open),
    ("+register", Right::Register),
    ("+decide", Right::Decide),
];

/// What a rule lets a component do with the names that its pattern covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Open them.
    Open,
    /// Offer services under them.
    Register,
    /// Give others rules about them: policy for this subtree is delegated to the component.
    Decide,
}
