//! Images in files: opened, written under another name until they are complete, and read as volumes.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use pebble_store_device::{Frame, FRAME_SIZE};
use pebble_store_image::{Fault, Layout, Media, Volume};
use tempfile::NamedTempFile;

/// An image file or a disk.
pub struct Image {
    file: File,
    frames: u64,
}

impl Image {
    fn of(mut file: File) -> std::io::Result<Self> {
        // A disk's length is not in its metadata.
        let length = std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0))?;
        Ok(Self {
            file,
            frames: length / FRAME_SIZE as u64,
        })
    }

    /// Opens an existing one.
    pub fn open(path: &Path, write: bool) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(write).open(path);
        let image = file.and_then(Self::of);
        image.with_context(|| format!("cannot open {}", path.display()))
    }

    /// Makes everything written stable.
    pub fn sync(&self) -> std::io::Result<()> {
        self.file.sync_data()
    }
}

fn offset(at: u64) -> Result<u64, Fault> {
    at.checked_mul(FRAME_SIZE as u64).ok_or(Fault)
}

impl Media for Image {
    fn frames(&self) -> u64 {
        self.frames
    }

    fn read(&mut self, at: u64, frame: &mut Frame) -> Result<(), Fault> {
        self.file
            .read_exact_at(frame, offset(at)?)
            .map_err(|_| Fault)
    }

    fn write(&mut self, at: u64, frame: &Frame) -> Result<(), Fault> {
        self.file
            .write_all_at(frame, offset(at)?)
            .map_err(|_| Fault)
    }
}

/// The volume on these images.
pub fn volume(images: &[PathBuf], write: bool) -> Result<Volume<Image>> {
    let media = images.iter().map(|path| Image::open(path, write));
    let media = media.collect::<Result<Vec<_>>>()?;
    Volume::open(media).with_context(|| names(images))
}

/// The images' names for messages, with the numbers that errors call them by.
pub fn names(images: &[PathBuf]) -> String {
    match images {
        [one] => one.display().to_string(),
        several => {
            let named = several.iter().enumerate();
            let named = named.map(|(disk, path)| format!("disk {disk} {}", path.display()));
            named.collect::<Vec<_>>().join(", ")
        }
    }
}

/// New images that do not have their names yet: what fails half-way leaves nothing behind.
pub struct NewImages {
    files: Vec<(NamedTempFile, PathBuf)>,
}

impl NewImages {
    /// Files of the layout's size, beside where they will be. What is there already is not touched.
    pub fn create(output: &Path, replicas: &[PathBuf], layout: &Layout) -> Result<Self> {
        let mut files = Vec::new();
        for path in std::iter::once(output).chain(replicas.iter().map(PathBuf::as_path)) {
            if path.exists() {
                bail!(
                    "{} is there already; remove it, or give another name",
                    path.display()
                );
            }
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            let length = layout.frames().checked_mul(FRAME_SIZE as u64);
            let length = length.context("the image would be too large")?;
            let file = unnamed(folder)
                .and_then(|file| file.as_file().set_len(length).map(|()| file))
                .with_context(|| format!("cannot make {}", path.display()))?;
            files.push((file, path.to_path_buf()));
        }
        Ok(Self { files })
    }

    /// What a builder writes to.
    pub fn media(&self) -> Result<Vec<Image>> {
        let media = self.files.iter().map(|(file, path)| {
            let again = file.as_file().try_clone().and_then(Image::of);
            again.with_context(|| format!("cannot write {}", path.display()))
        });
        media.collect()
    }

    /// Everything is written: the images get their names.
    pub fn keep(self) -> Result<()> {
        for (file, path) in self.files {
            file.as_file().sync_data()?;
            let kept = file.persist_noclobber(&path);
            kept.with_context(|| format!("cannot make {}", path.display()))?;
        }
        Ok(())
    }
}

/// A file without its name yet, with the rights that any new file has.
pub fn unnamed(folder: &Path) -> std::io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .permissions(PermissionsExt::from_mode(0o666))
        .tempfile_in(folder)
}

/// A volume's identity: from the system, at random.
pub fn identity() -> Result<u128> {
    let mut bytes = [0; 16];
    let source = File::open("/dev/urandom");
    source
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes))
        .context("/dev/urandom")?;
    Ok(u128::from_le_bytes(bytes))
}
