//! From an address in a component to function, file and line.
//!
//! All components are linked at the same addresses, so an address means something only together with the component.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use pebble_abi::layout;

/// Debug information of everything that was booted.
pub struct Symbols {
    nucleus: PathBuf,
    components: BTreeMap<String, PathBuf>,
}

/// A place in a source text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Function, when known.
    pub function: Option<String>,
    /// `file:line`, when known.
    pub line: Option<String>,
}

impl Place {
    /// `function at file:line`, as much of it as is known.
    pub fn describe(&self) -> Option<String> {
        match (&self.function, &self.line) {
            (Some(function), Some(line)) => Some(format!("{function} at {line}")),
            (Some(function), None) => Some(function.clone()),
            (None, line) => line.clone(),
        }
    }
}

impl Symbols {
    /// Debug information of these images.
    pub fn new(nucleus: PathBuf, components: BTreeMap<String, PathBuf>) -> Self {
        Symbols {
            nucleus,
            components,
        }
    }

    /// The image of a component.
    pub fn image(&self, component: &str) -> Option<&Path> {
        self.components.get(component).map(PathBuf::as_path)
    }

    /// All images by component name.
    pub fn images(&self) -> impl Iterator<Item = (&str, &Path)> {
        let images = self.components.iter();
        images.map(|(name, image)| (name.as_str(), image.as_path()))
    }

    /// The place of an address in a component, or in the nucleus for a privileged address.
    pub fn place(&self, component: &str, address: u64) -> Place {
        let file = if address >= layout::PHYSMAP {
            Some(self.nucleus.as_path())
        } else {
            self.image(component)
        };
        file.and_then(|file| look_up(file, address))
            .unwrap_or_default()
    }
}

fn look_up(file: &Path, address: u64) -> Option<Place> {
    // No code ends behind the last address, and the library adds one to what it is asked for.
    address.checked_add(1)?;
    // An image without debug information has no places; the address is told anyway.
    let loader = Loader::new(file).ok()?;
    let mut place = Place::default();
    if let Ok(Some(location)) = loader.find_location(address) {
        if let (Some(file), Some(line)) = (location.file, location.line) {
            place.line = Some(format!("{}:{line}", shorten(file)));
        }
    }
    if let Ok(mut frames) = loader.find_frames(address) {
        while let Ok(Some(frame)) = frames.next() {
            if let Some(name) = frame.function {
                place.function = Some(
                    name.demangle()
                        .map(|name| name.into_owned())
                        .unwrap_or_default(),
                );
                break;
            }
        }
    }
    if place.function.is_none() {
        place.function = loader
            .find_symbol(address)
            .map(|name| format!("{:#}", rustc_demangle::demangle(name)));
    }
    Some(place)
}

/// A file as people know it: relative to where they are, if it is below.
fn shorten(file: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = Path::new(file);
    path.strip_prefix(here)
        .unwrap_or(path)
        .display()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn an_address_has_a_function_and_a_line() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let (source, image) = (folder.path().join("a.c"), folder.path().join("a.elf"));
        std::fs::write(
            &source,
            "int wanted(int x)\n{\n  return x / 3;\n}\nint main(void) { return wanted(9); }\n",
        )?;
        let status = Command::new("cc")
            .args(["-g", "-O0", "-no-pie", "-o"])
            .arg(&image)
            .arg(&source)
            .status()?;
        assert!(status.success());
        let names = Command::new("nm").arg(&image).output()?.stdout;
        let names = String::from_utf8(names)?;
        let line = names
            .lines()
            .find(|line| line.ends_with(" wanted"))
            .unwrap_or_default();
        let address = u64::from_str_radix(line.split_whitespace().next().unwrap_or(""), 16)?;
        let symbols = Symbols::new(image.clone(), [("a".to_string(), image)].into());
        let place = symbols.place("a", address + 1);
        assert_eq!(place.function.as_deref(), Some("wanted"));
        assert!(place.line.is_some_and(|line| line.ends_with("a.c:2")));
        assert_eq!(symbols.place("other", address), Place::default());
        // A program may jump anywhere; the nucleus's image is asked for high addresses.
        assert_eq!(symbols.place("a", u64::MAX), Place::default());
        Ok(())
    }

    #[test]
    fn a_place_is_told_as_far_as_it_is_known() {
        let place = |function: Option<&str>, line: Option<&str>| Place {
            function: function.map(str::to_string),
            line: line.map(str::to_string),
        };
        assert_eq!(
            place(Some("f"), Some("a.c:1")).describe(),
            Some("f at a.c:1".into())
        );
        assert_eq!(place(Some("f"), None).describe(), Some("f".into()));
        assert_eq!(place(None, None).describe(), None);
    }
}
