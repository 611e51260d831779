//! What documents print is what happens: runs the `console` blocks of README and book, and compares.
//!
//! A reader types in the checkout's folder, and so does the test. What a document makes, it makes in `/tmp`; the test
//! puts a folder of its own in that place, and throws it away.

mod document;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use self::document::{Block, Document, Step};
use super::{tree, Outcome, Session};
use crate::process;

/// Time for one block: it may build programs, and others use the machine too.
const LIMIT: Duration = Duration::from_secs(600);
/// Ends a command's output; its status follows.
const MARK: char = '\x1e';
/// Shows the status of the command before it; never varies.
const STATUS: &str = "echo $?";
/// Where documents make things.
const TEMPORARY: &str = "/tmp/";
/// Where documents have their checkout.
const CHECKOUT: &str = "/home/you/pebble/";

/// One test for each document that shows commands.
pub fn run(session: &Session<'_>) -> Vec<Outcome> {
    let files = match tree::files(session.repository) {
        Ok(files) => files,
        Err(error) => return vec![Outcome::failed("tour", format!("{error:#}"))],
    };
    files
        .iter()
        .filter(|file| shows_commands(file))
        .map(|file| (format!("tour/{}", file.display()), file))
        .filter(|(name, _)| session.wants(name))
        .map(|(name, file)| Outcome::of(&name, one(session, file)))
        .collect()
}

fn shows_commands(file: &Path) -> bool {
    file == Path::new("README.md")
        || file.starts_with("docs/book") && file.extension().is_some_and(|end| end == "md")
}

fn one(session: &Session<'_>, file: &PathBuf) -> Result<()> {
    let text = std::fs::read_to_string(session.repository.path(file))?;
    let document = Document::read(&text).with_context(|| file.display().to_string())?;
    if document.blocks.is_empty() {
        bail!(
            "{}: no ```console block; show how to try it",
            file.display()
        );
    }
    let folder = tempfile::tempdir()?;
    for (name, text) in &document.files {
        let here = format!("{}/", folder.path().display());
        std::fs::write(folder.path().join(name), text.replace(TEMPORARY, &here))?;
    }
    let mut stale = Vec::new();
    for block in &document.blocks {
        let outputs = typed(block, session.repository.root(), folder.path())
            .with_context(|| format!("{}:{}", file.display(), block.line))?;
        stale.extend(outputs.into_iter().filter(|(step, output)| {
            let varies = block.varies && step.command != STATUS;
            !document::agrees(&step.output, output, varies)
        }));
    }
    if session.bless {
        std::fs::write(
            session.repository.path(file),
            document::with_outputs(&text, &stale),
        )?;
        return Ok(());
    }
    let complaints = stale.iter().map(|(step, output)| {
        format!(
            "{}:{}: `{}` says\n{output}but the document shows\n{}\n",
            file.display(),
            step.line,
            step.command,
            step.output.join("\n")
        )
    });
    let complaints: Vec<String> = complaints.collect();
    match complaints.is_empty() {
        true => Ok(()),
        false => bail!(
            "{}`./pebble test tour --bless` writes what comes out",
            complaints.concat()
        ),
    }
}

/// Runs a block in one shell, as it is typed; answers what each command says.
fn typed<'a>(block: &'a Block, checkout: &Path, folder: &Path) -> Result<Vec<(&'a Step, String)>> {
    let temporary = format!("{}/", folder.display());
    let mut script = String::from("exec 2>&1\n");
    for step in &block.steps {
        script.push_str(&format!(
            "{}\nstatus=$?; printf '\\036%d\\n' \"$status\"; (exit \"$status\")\n",
            step.command.replace(TEMPORARY, &temporary)
        ));
    }
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(checkout);
    command.env_remove("PEBBLE_ROOT");
    let done = process::capture(&mut command, LIMIT)?;
    let text = done
        .stdout_text()
        .replace(&temporary, TEMPORARY)
        .replace(&format!("{}/", checkout.display()), CHECKOUT);
    let mut rest = text.as_str();
    let mut outputs = Vec::new();
    for (index, step) in block.steps.iter().enumerate() {
        let Some((output, after)) = rest.split_once(MARK) else {
            bail!("the shell ended in `{}`:\n{rest}", step.command);
        };
        let (status, after) = after.split_once('\n').unwrap_or((after, ""));
        rest = after;
        let next = block.steps.get(index + 1);
        if status != "0" && next.is_none_or(|next| next.command != STATUS) {
            bail!(
                "`{}` ended with status {status}, which the document does not show:\n{output}",
                step.command
            );
        }
        outputs.push((step, output.to_string()));
    }
    Ok(outputs)
}
