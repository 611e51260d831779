//! Leaves out of an image what is not loaded: debug information stays on the host, where it is read.

use std::mem::offset_of;

use object::elf::{FileHeader64, ProgramHeader64};
use object::pod;
use object::{LittleEndian, U16, U64};

/// The image up to the end of its last segment, without a section table. What is no well-formed ELF stays as it is:
/// to refuse it is the loader's task, and a test of the loader must be able to bring it there.
pub fn to_segments(mut image: Vec<u8>) -> Vec<u8> {
    let Some(end) = end_of_segments(&image) else {
        return image;
    };
    image.truncate(end);
    let header = &mut image[..size_of::<FileHeader64<LittleEndian>>()];
    let Ok((header, _)) = pod::from_bytes_mut::<FileHeader64<LittleEndian>>(header) else {
        return image;
    };
    header.e_shoff = U64::new(LittleEndian, 0);
    header.e_shnum = U16::new(LittleEndian, 0);
    header.e_shstrndx = U16::new(LittleEndian, object::elf::SHN_UNDEF);
    image
}

fn end_of_segments(image: &[u8]) -> Option<usize> {
    let (header, _) = pod::from_bytes::<FileHeader64<LittleEndian>>(image).ok()?;
    if header.e_ident.magic != object::elf::ELFMAG {
        return None;
    }
    let start = header.e_phoff.get(LittleEndian) as usize;
    let count = header.e_phnum.get(LittleEndian) as usize;
    let (segments, _) =
        pod::slice_from_bytes::<ProgramHeader64<LittleEndian>>(image.get(start..)?, count).ok()?;
    let table = start + std::mem::size_of_val(segments);
    let ends = segments.iter().map(|segment| {
        segment
            .p_offset
            .get(LittleEndian)
            .checked_add(segment.p_filesz.get(LittleEndian))
    });
    let mut last = table.max(offset_of!(FileHeader64<LittleEndian>, e_shstrndx) + 2);
    for end in ends {
        last = last.max(usize::try_from(end?).ok()?);
    }
    (last <= image.len()).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{Object, ObjectSegment};
    use std::process::Command;

    #[test]
    fn segments_stay_and_sections_go() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let (source, file) = (folder.path().join("a.c"), folder.path().join("a.elf"));
        std::fs::write(&source, "int main(void) { return 3; }\n")?;
        let status = Command::new("cc")
            .args(["-g", "-o"])
            .arg(&file)
            .arg(&source)
            .status()?;
        assert!(status.success());
        let before = std::fs::read(&file)?;
        let after = to_segments(before.clone());
        assert!(after.len() < before.len());
        let (one, two) = (
            object::File::parse(&*before)?,
            object::File::parse(&*after)?,
        );
        assert_eq!(two.sections().count(), 0);
        let data = |file: &object::File<'_>| -> Vec<Vec<u8>> {
            file.segments()
                .filter_map(|segment| Some(segment.data().ok()?.to_vec()))
                .collect()
        };
        assert!(!data(&one).is_empty());
        let (mut left, mut right) = (data(&one), data(&two));
        // The host's linker puts the header, which was changed, into the first segment.
        let header = size_of::<FileHeader64<LittleEndian>>();
        left[0].drain(..header);
        right[0].drain(..header);
        assert!(left == right, "a segment was changed");
        Ok(())
    }

    #[test]
    fn broken_images_stay_as_they_are() {
        for image in [
            &b""[..],
            b"\x7fELF",
            b"not an image at all, but long enough to hold a header of the right size",
        ] {
            assert_eq!(to_segments(image.to_vec()), image);
        }
    }
}
