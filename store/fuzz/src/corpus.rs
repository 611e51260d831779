//! The corpora: inputs that between them reach everything that fuzzing has reached, and those that once failed. A file for
//! each target, an input on each line, as hexadecimal digits: thousands of small binary files would be nobody's to read.

use std::fmt::Write;

/// The inputs of a corpus file. `Err` is the line that is none.
pub fn read(text: &str) -> Result<Vec<Vec<u8>>, String> {
    text.lines().map(input).collect()
}

fn input(line: &str) -> Result<Vec<u8>, String> {
    let digits = line.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| pair.len() == 2);
        pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    let bytes: Option<Vec<u8>> = digits.map(byte).collect();
    bytes.ok_or_else(|| line.to_string())
}

/// The text of a corpus, sorted, each input once.
pub fn write(mut inputs: Vec<Vec<u8>>) -> String {
    inputs.sort_by_key(|input| (input.len(), input.clone()));
    inputs.dedup();
    let mut text = String::new();
    for input in inputs {
        for byte in input {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let inputs = vec![vec![], vec![0, 255], vec![1, 2, 3]];
        assert_eq!(read(&write(inputs.clone())), Ok(inputs));
        assert_eq!(read("00\n0"), Err("0".into()));
        assert_eq!(read("0g"), Err("0g".into()));
    }
}
