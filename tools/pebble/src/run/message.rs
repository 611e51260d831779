//! System messages that this tool understands (`pebble_abi::log::message`).

use pebble_abi::log::message;

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A component was loaded.
    Domain {
        /// Its domain.
        asid: u64,
        /// Its name.
        name: String,
    },
    /// A component is ended by a fault.
    Fault(Fault),
    /// A component ended.
    Exit {
        /// Its name.
        name: String,
        /// Its domain.
        asid: u64,
        /// Its status.
        status: i64,
    },
    /// Where the nucleus objects are.
    Objects(u64),
    /// Something that people must see.
    Error(String),
    /// Anything else.
    Other,
}

/// What a fault message says.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The component.
    pub name: String,
    /// Its domain.
    pub asid: u64,
    /// The processor's cause.
    pub cause: u64,
    /// The address that could not be used.
    pub address: u64,
    /// The instruction.
    pub pc: u64,
}

fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
}

fn decimal(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(_) => hexadecimal(word),
        None => word.parse().ok(),
    }
}

/// Understands a line. One that has the word but not the form of a message is shown as an error, not swallowed.
pub fn parse(line: &str) -> Message {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else {
        return Message::Other;
    };
    if first.eq_ignore_ascii_case("error:") || line.contains("core server stopped") {
        return Message::Error(line.to_string());
    }
    let parsed = match *first {
        message::DOMAIN => domain(rest),
        message::FAULT => fault(rest),
        message::EXIT => exit(rest),
        message::OBJECTS => rest
            .first()
            .and_then(|word| Some(Message::Objects(hexadecimal(word)?))),
        _ => return Message::Other,
    };
    parsed.unwrap_or_else(|| Message::Error(format!("system message not understood: {line}")))
}

fn domain(words: &[&str]) -> Option<Message> {
    let [asid, name] = words else { return None };
    Some(Message::Domain {
        asid: decimal(asid)?,
        name: name.to_string(),
    })
}

fn fault(words: &[&str]) -> Option<Message> {
    let [name, asid, cause, address, pc] = words else {
        return None;
    };
    Some(Message::Fault(Fault {
        name: name.to_string(),
        asid: hexadecimal(asid)?,
        cause: hexadecimal(cause)?,
        address: hexadecimal(address)?,
        pc: hexadecimal(pc)?,
    }))
}

fn exit(words: &[&str]) -> Option<Message> {
    let [name, asid, status] = words else {
        return None;
    };
    let status = status
        .parse()
        .ok()
        .or_else(|| hexadecimal(status.strip_prefix("0x")?).map(|status| status as i64))?;
    Some(Message::Exit {
        name: name.to_string(),
        asid: decimal(asid)?,
        status,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_understood() {
        assert_eq!(
            parse("domain 12 hello"),
            Message::Domain {
                asid: 12,
                name: "hello".into()
            }
        );
        assert_eq!(parse("objects 0x80400000"), Message::Objects(0x8040_0000));
        assert_eq!(parse("objects 80400000"), Message::Objects(0x8040_0000));
        assert_eq!(
            parse("exit hello 12 -3"),
            Message::Exit {
                name: "hello".into(),
                asid: 12,
                status: -3
            }
        );
        let fault = Fault {
            name: "hello".into(),
            asid: 12,
            cause: 15,
            address: 0,
            pc: 0x10_00a4,
        };
        assert_eq!(
            parse("fault hello c f 0 1000a4"),
            Message::Fault(fault.clone())
        );
        assert_eq!(
            parse("fault hello 0xc 0xf 0x0 0x1000a4"),
            Message::Fault(fault)
        );
        assert_eq!(
            parse("error: no memory"),
            Message::Error("error: no memory".into())
        );
        assert_eq!(parse("init ready"), Message::Other);
        assert_eq!(parse(""), Message::Other);
    }

    #[test]
    fn half_a_message_is_shown() {
        for line in ["domain x hello", "fault hello c", "exit hello", "objects"] {
            assert!(
                matches!(parse(line), Message::Error(text) if text.contains(line)),
                "{line}"
            );
        }
    }
}
