//! Reads what a document wants to be typed, and what it says comes out.
//!
//! - ```` ```console ````: lines that begin with `$ ` are typed, those below are what comes out. The line `...` stands
//!   for any lines. ```` ```console varies ````: numbers and the width of columns are not compared.
//! - ```` ```c hello.c ````: a file `/tmp/hello.c`.

use anyhow::{bail, Result};

/// A document's files and commands.
#[derive(Debug, Default, PartialEq)]
pub struct Document {
    /// Name and contents.
    pub files: Vec<(String, String)>,
    /// In order.
    pub blocks: Vec<Block>,
}

/// Commands that are typed into one shell.
#[derive(Debug, Default, PartialEq)]
pub struct Block {
    /// Line where it begins, from 1.
    pub line: usize,
    /// Numbers and blanks are not compared.
    pub varies: bool,
    /// What is typed.
    pub steps: Vec<Step>,
}

/// One command.
#[derive(Debug, Default, PartialEq)]
pub struct Step {
    /// Line where it is typed, from 1.
    pub line: usize,
    /// As typed.
    pub command: String,
    /// What comes out.
    pub output: Vec<String>,
}

impl Document {
    /// Reads Markdown.
    pub fn read(text: &str) -> Result<Self> {
        let mut document = Document::default();
        let mut lines = text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            let Some(words) = line.strip_prefix("```") else {
                continue;
            };
            let body: Vec<&str> = lines
                .by_ref()
                .map(|(_, line)| line)
                .take_while(|line| *line != "```")
                .collect();
            let words: Vec<&str> = words.split_whitespace().collect();
            match words[..] {
                ["console"] => document.blocks.push(block(index + 1, false, &body)?),
                ["console", "varies"] => document.blocks.push(block(index + 1, true, &body)?),
                ["console", ..] => bail!("line {}: `console` or `console varies`", index + 1),
                [_, name] => document.files.push((name.into(), body.join("\n") + "\n")),
                _ => {}
            }
        }
        Ok(document)
    }
}

fn block(line: usize, varies: bool, body: &[&str]) -> Result<Block> {
    let mut steps: Vec<Step> = Vec::new();
    for (index, text) in body.iter().enumerate() {
        match (text.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step {
                line: line + 1 + index,
                command: command.into(),
                output: Vec::new(),
            }),
            (None, Some(step)) => step.output.push((*text).into()),
            (None, None) => bail!("line {line}: a console block begins with a line `$ COMMAND`"),
        }
    }
    if steps.is_empty() {
        bail!("line {line}: a console block without a command");
    }
    Ok(Block {
        line,
        varies,
        steps,
    })
}

/// The document with other outputs after the commands in these lines, given in order.
pub fn with_outputs(text: &str, outputs: &[(&Step, String)]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for (step, output) in outputs.iter().rev() {
        lines.splice(step.line..step.line + step.output.len(), output.lines());
    }
    lines.join("\n") + "\n"
}

/// The output is what the document shows.
pub fn agrees(shown: &[String], output: &str, varies: bool) -> bool {
    let plain = |line: &str| if varies { rough(line) } else { line.into() };
    let shown: Vec<String> = shown.iter().map(|line| plain(line)).collect();
    let output: Vec<String> = output.lines().map(plain).collect();
    lines_agree(&shown, &output)
}

fn lines_agree(shown: &[String], output: &[String]) -> bool {
    match shown.split_first() {
        None => output.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=output.len()).any(|skipped| lines_agree(rest, &output[skipped..]))
        }
        Some((first, rest)) => output
            .split_first()
            .is_some_and(|(line, others)| first == line && lines_agree(rest, others)),
    }
}

/// A line with every number as `0` and every run of blanks as one.
fn rough(line: &str) -> String {
    let mut text = String::new();
    for word in line.split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        let mut number = false;
        for character in word.chars() {
            if !character.is_ascii_digit() {
                text.push(character);
            } else if !number {
                text.push('0');
            }
            number = character.is_ascii_digit();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_output_and_files_are_found() -> Result<()> {
        let text = "words\n```c a.c\nint a;\n```\n```console varies\n$ one\nout\n\n$ two\n```\n```\n$ not this\n```\n";
        let document = Document::read(text)?;
        assert_eq!(document.files, [("a.c".into(), "int a;\n".into())]);
        let [block] = &document.blocks[..] else {
            panic!("{document:?}")
        };
        assert!(block.varies && block.line == 5);
        assert_eq!(block.steps[0].command, "one");
        assert_eq!(block.steps[0].output, ["out", ""]);
        assert_eq!(block.steps[1].command, "two");
        Ok(())
    }

    #[test]
    fn outputs_are_exchanged_in_place() -> Result<()> {
        let text = "a\n```console\n$ one\nold\nold\n$ two\n```\nb\n```console\n$ three\nx\n```\n";
        let document = Document::read(text)?;
        let steps: Vec<&Step> = document.blocks.iter().flat_map(|b| &b.steps).collect();
        assert_eq!(
            with_outputs(
                text,
                &[
                    (steps[0], "new\n".into()),
                    (steps[1], "2\n".into()),
                    (steps[2], String::new())
                ]
            ),
            "a\n```console\n$ one\nnew\n$ two\n2\n```\nb\n```console\n$ three\n```\n"
        );
        Ok(())
    }

    #[test]
    fn blocks_that_cannot_be_run_are_refused() {
        for text in [
            "```console\nout\n```",
            "```console\n```",
            "```console later\n$ a\n```",
        ] {
            assert!(Document::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn differences_are_seen() {
        let shown = |text: &str| -> Vec<String> { text.lines().map(String::from).collect() };
        for (document, output, varies, expected) in [
            ("a\nb", "a\nb\n", false, true),
            ("a\nb", "a\nb\nc\n", false, false),
            ("a\nb", "a\n", false, false),
            ("...\nb", "a\nc\nb\n", false, true),
            ("a\n...\nb", "a\nb\n", false, true),
            ("a\n...", "b\n", false, false),
            ("", "", false, true),
            ("", "a\n", false, false),
            ("took 12 of 0x10", "took 345  of 0x7\n", true, true),
            ("took 12", "took 345\n", false, false),
            ("took 12", "took long\n", true, false),
        ] {
            assert_eq!(
                agrees(&shown(document), output, varies),
                expected,
                "{document} against {output}"
            );
        }
    }
}
