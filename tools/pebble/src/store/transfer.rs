//! `pebble store send` and `receive`: a generation as a stream, and back.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use anyhow::{anyhow, bail, Context, Result};
use pebble_store_image::{send as send_stream, Builder, Fault, Received, Receiver, SendError};

use super::file::{identity, names, unnamed, volume, NewImages};
use crate::arguments::{ReceiveImage, SendImage};
use crate::report::Report;

/// Writes the stream; a file gets its name only when it is complete.
pub fn send(report: &Report, options: &SendImage) -> Result<u8> {
    let mut volume = volume(&options.images, false)?;
    let named = || names(&options.images);
    let generations = volume.generations().with_context(named)?;
    let mut reading = super::progress(report, "reading");
    let snapshot = volume.snapshot(&generations, options.generation, &mut reading);
    let snapshot = snapshot.with_context(named)?;
    let mut write = |out: &mut dyn Write| -> Result<()> {
        let mut failure = None;
        let mut sink = |bytes: &[u8]| {
            out.write_all(bytes).map_err(|error| {
                failure = Some(error);
                Fault
            })
        };
        let sent = send_stream(
            &mut volume,
            &snapshot,
            &mut sink,
            &mut super::progress(report, "sending"),
        );
        match (sent, failure) {
            (Ok(()), _) => Ok(out.flush()?),
            (Err(SendError::Image(error)), _) => Err(anyhow!("{}: {error}", named())),
            (Err(SendError::Sink), Some(error)) => Err(error.into()),
            (Err(SendError::Sink), None) => bail!("the stream could not be written"),
        }
    };
    match &options.output {
        None => write(&mut BufWriter::new(std::io::stdout().lock()))?,
        Some(path) => {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let file = unnamed(folder.unwrap_or(Path::new(".")));
            let mut file = file.with_context(|| format!("cannot make {}", path.display()))?;
            write(&mut BufWriter::new(file.as_file_mut()))?;
            file.as_file().sync_data()?;
            file.persist(path)
                .with_context(|| format!("cannot make {}", path.display()))?;
        }
    }
    report.clear();
    Ok(0)
}

/// Makes an image of a stream; nothing is left of one that is torn.
pub fn receive(report: &Report, options: &ReceiveImage) -> Result<u8> {
    let (mut input, name): (Box<dyn Read>, String) = match &options.stream {
        None => (Box::new(std::io::stdin().lock()), "standard input".into()),
        Some(path) => {
            let file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            (Box::new(BufReader::new(file)), path.display().to_string())
        }
    };
    let mut source = |buffer: &mut [u8]| loop {
        match input.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => return read.map_err(|_| Fault),
        }
    };
    let (mut receiver, mut layout) = Receiver::begin(&mut source).with_context(|| name.clone())?;
    // Another volume from now on: the two may both be used, and their disks must not be taken for each other's.
    layout.volume = identity()?;
    let images = NewImages::create(&options.output, &options.replica, &layout)?;
    let mut builder = Builder::new(images.media()?, layout).with_context(|| name.clone())?;
    let mut count = 0;
    while let Some(received) = receiver.receive().with_context(|| name.clone())? {
        count += 1;
        if count % 256 == 0 {
            report.step(&format!("receiving: {count} objects"));
        }
        match received {
            Received::Start(process) => builder.start(process),
            Received::Object(frame, kind, version, contents) => builder
                .put(frame, kind, version, contents.as_deref())
                .with_context(|| name.clone())?,
        }
    }
    builder
        .finish(&mut super::progress(report, "writing"))
        .with_context(|| name.clone())?;
    images.keep()?;
    report.clear();
    Ok(0)
}
