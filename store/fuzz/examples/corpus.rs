//! Puts a corpus into a folder as libFuzzer wants it, and takes it out again:
//! `cargo run --example corpus -- unpack recovery FOLDER`, `... pack recovery FOLDER`.

use std::error::Error;
use std::path::Path;

use pebble_store_fuzz::corpus;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [what, target, folder] = &words[..] else {
        return Err("give pack or unpack, a target and a folder".into());
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("corpus/{target}.txt"));
    if what == "unpack" {
        std::fs::create_dir_all(folder)?;
        for (number, input) in corpus::read(&std::fs::read_to_string(file)?)?
            .iter()
            .enumerate()
        {
            std::fs::write(Path::new(folder).join(format!("{number:04}")), input)?;
        }
        return Ok(());
    }
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        inputs.push(std::fs::read(entry?.path())?);
    }
    std::fs::write(file, corpus::write(inputs))?;
    Ok(())
}
