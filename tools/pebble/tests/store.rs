//! `pebble store`, as it is typed: images from descriptions, checks, tables, streams; and a reader in another language.

mod common;

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{pebble, root, text, Answer};

/// The description that the tests use, and the document shows.
fn example() -> String {
    root()
        .join("tools/pebble/tests/store/example.toml")
        .display()
        .to_string()
}

/// An image of it.
fn image(folder: &Path) -> Answer<PathBuf> {
    let made = pebble(folder, &["store", "mkimage", &example(), "-o", "a.img"])?;
    assert_eq!(
        (made.status.code(), text(&made.stderr)),
        (Some(0), String::new())
    );
    Ok(folder.join("a.img"))
}

fn said(folder: &Path, arguments: &[&str], status: i32) -> Answer<(String, String)> {
    let done = pebble(folder, arguments)?;
    let (out, errors) = (text(&done.stdout), text(&done.stderr));
    assert_eq!(
        done.status.code(),
        Some(status),
        "{arguments:?}: {out}{errors}"
    );
    Ok((out, errors))
}

fn spoil(image: &Path, frame: u64, byte: u64) -> Answer {
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(image)?;
    let mut one = [0];
    file.read_exact_at(&mut one, frame * 4096 + byte)?;
    file.write_all_at(&[one[0] ^ 0x40], frame * 4096 + byte)?;
    Ok(())
}

#[test]
fn an_image_is_made_checked_and_shown() -> Answer {
    let folder = tempfile::tempdir()?;
    image(folder.path())?;
    let (out, _) = said(folder.path(), &["store", "fsck", "a.img"], 0)?;
    assert!(
        out.ends_with("44 objects, 49 capabilities checked; nothing is wrong\n"),
        "{out}"
    );
    let (out, _) = said(
        folder.path(),
        &["store", "show", "a.img", "--svg", "a.svg"],
        0,
    )?;
    for wanted in [
        "volume 00000000000000000000000000005eed, header 1",
        "         1       0  2023-11-14 22:13:20.000000000         0          2  1..3",
        "           2  data page              0  home                      -",
        "               0 -> node 353 read-only weak",
        "               1 -> entry 8 data 7",
        "          11               0  360..4752",
    ] {
        assert!(out.contains(wanted), "no `{wanted}` in {out}");
    }
    let picture = std::fs::read_to_string(folder.path().join("a.svg"))?;
    // An arrow head, and a path for each of the 48 capabilities that name an object.
    assert_eq!(picture.matches("<path").count(), 1 + 48);
    assert!(picture.contains("slot 0: node read-only weak"));
    let (out, _) = said(folder.path(), &["store", "show", "a.img", "--json"], 0)?;
    let facts: serde_json::Value = serde_json::from_str(&out)?;
    assert_eq!(facts["processes"][1]["priority"], 4);
    assert_eq!(facts["banks"][0]["object"], 11);
    Ok(())
}

#[test]
fn a_description_is_refused_with_file_line_and_column() -> Answer {
    let folder = tempfile::tempdir()?;
    let whole = std::fs::read_to_string(example())?;
    for (from, to, wanted) in [
        ("as = \"entry\"", "as = \"page\"", "bad.toml:17:70: `server`: a process is not had as `page`"),
        ("to = \"memory\"", "to = \"memor\"", "bad.toml:17:15: nothing here is called `memor`\n  try: `memory`"),
        ("\"weak\"", "\"week\"", "bad.toml:17:15: there is no restriction `week`\n  try: `read-only`, `weak` or `opaque`"),
        ("name = \"bank\"", "name = \"server\"", "bad.toml:24:8: there are two things called `server`"),
        ("169 = ", "170 = ", "bad.toml:33:17: there is no slot `170`; slots are 0 to 169"),
        ("pages = 40", "pages = 0x40000000", "bad.toml:36:8: a space has at most 262144 pages here"),
        ("objects = 600", "objects = 20", "bad.toml:5:11: 27 more frames are described than there is room for"),
        ("log = 64", "log = 5", "bad.toml:3:7: a log has 40 frames at least"),
        ("[[process]]", "[[proces]]", "bad.toml:9:3: unknown field `proces`"),
        ("\"example.toml\"", "\"nowhere\"", "bad.toml:37:8: cannot read"),
        ("\"5eed\"", "\"seed\"", "bad.toml:6:12: an identity is up to 32 hexadecimal digits"),
        ("{ range = \"free\" }", "{ range = \"free\", number = 1 }", "bad.toml:25:15: a capability has one of"),
    ] {
        let bad = whole.replacen(from, to, 1);
        assert_ne!(bad, whole, "{from}");
        std::fs::write(folder.path().join("bad.toml"), bad)?;
        std::fs::copy(example(), folder.path().join("example.toml"))?;
        let (_, errors) = said(folder.path(), &["store", "mkimage", "bad.toml", "-o", "bad.img"], 125)?;
        assert!(errors.contains(wanted), "{from}: {errors}");
        assert!(!folder.path().join("bad.img").exists(), "nothing is left of {from}");
    }
    image(folder.path())?;
    let (_, errors) = said(
        folder.path(),
        &["store", "mkimage", &example(), "-o", "a.img"],
        125,
    )?;
    assert!(errors.contains("a.img is there already"), "{errors}");
    Ok(())
}

#[test]
fn damage_is_found_and_only_what_is_certain_is_mended() -> Answer {
    let folder = tempfile::tempdir()?;
    let image = image(folder.path())?;
    let whole = std::fs::read(&image)?;
    spoil(&image, 1, 200)?;
    let (out, _) = said(folder.path(), &["store", "fsck", "a.img"], 1)?;
    assert!(
        out.starts_with("fault  disk 0 frame 1            superblock, copy 2"),
        "{out}"
    );
    assert!(
        out.contains("can be mended") && out.ends_with("1 frames can be mended with --repair\n"),
        "{out}"
    );
    assert_ne!(std::fs::read(&image)?, whole, "checking changes nothing");
    let damaged = std::fs::read(&image)?;
    said(folder.path(), &["store", "fsck", "a.img", "--repair"], 0)?;
    assert_eq!(std::fs::read(&image)?, whole);
    let kept = std::fs::read(folder.path().join("a.img.before-repair"))?;
    assert_eq!(
        (&kept[..8], &kept[8..]),
        (&1_u64.to_le_bytes()[..], &damaged[4096..8192])
    );
    // An object's only copy: said, and left alone.
    spoil(&image, 82 + 2 + 2, 5)?;
    let damaged = std::fs::read(&image)?;
    let (out, _) = said(folder.path(), &["store", "fsck", "a.img", "--repair"], 1)?;
    assert!(
        out.starts_with("LOSS   ") && out.contains("object frame 2 (DataPage, Home)"),
        "{out}"
    );
    assert_eq!(std::fs::read(&image)?, damaged);
    let (_, errors) = said(folder.path(), &["store", "fsck", &example()], 125)?;
    assert!(errors.contains("not an image of a store"), "{errors}");
    Ok(())
}

#[test]
fn a_lost_copy_comes_back_from_the_other_disk() -> Answer {
    let folder = tempfile::tempdir()?;
    let both = ["-o", "a.img", "--replica", "b.img"];
    let example = example();
    let make = [&["store", "mkimage", &example][..], &both[..]].concat();
    said(folder.path(), &make, 0)?;
    let image = folder.path().join("b.img");
    let whole = std::fs::read(&image)?;
    // An object, and the generation header: log number 2.
    for frame in [82 + 2 + 2, 2 + 4 + 2] {
        spoil(&image, frame, 30)?;
    }
    let (out, _) = said(
        folder.path(),
        &["--json", "store", "fsck", "a.img", "b.img", "--repair"],
        0,
    )?;
    let answer: serde_json::Value = serde_json::from_str(&out)?;
    let mended: Vec<_> = answer["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|finding| finding["mended"] == true)
        .collect();
    assert_eq!(mended, [true, true], "{out}");
    assert_eq!(std::fs::read(&image)?, whole);
    Ok(())
}

#[test]
fn a_generation_is_sent_and_received_and_a_torn_stream_leaves_nothing() -> Answer {
    let folder = tempfile::tempdir()?;
    image(folder.path())?;
    said(
        folder.path(),
        &["store", "send", "a.img", "-o", "a.stream"],
        0,
    )?;
    said(
        folder.path(),
        &["store", "receive", "a.stream", "-o", "b.img"],
        0,
    )?;
    said(folder.path(), &["store", "fsck", "b.img"], 0)?;
    let shown = |image: &str| -> Answer<serde_json::Value> {
        let (out, _) = said(folder.path(), &["store", "show", image, "--json"], 0)?;
        Ok(serde_json::from_str(&out)?)
    };
    let (sent, received) = (shown("a.img")?, shown("b.img")?);
    for part in [
        "generation",
        "time",
        "objects",
        "processes",
        "banks",
        "holders",
    ] {
        assert_eq!(sent[part], received[part], "{part}");
    }
    assert_ne!(sent["volume"], received["volume"]);
    let stream = std::fs::read(folder.path().join("a.stream"))?;
    std::fs::write(folder.path().join("torn"), &stream[..5000])?;
    let (_, errors) = said(
        folder.path(),
        &["store", "receive", "torn", "-o", "c.img"],
        125,
    )?;
    assert!(
        errors.contains("torn: the stream, byte 1024: record 1 breaks off after 3976 bytes"),
        "{errors}"
    );
    let left: Vec<_> = std::fs::read_dir(folder.path())?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left.len(), 4, "{left:?}");
    let (_, errors) = said(
        folder.path(),
        &["store", "send", "a.img", "--generation", "7"],
        125,
    )?;
    assert!(
        errors.contains("there is no generation 7 to be had; 1 to 1 are there"),
        "{errors}"
    );
    Ok(())
}

/// What the program in C lists for an image.
fn read_by_c(folder: &Path, image: &Path) -> Answer<Vec<String>> {
    let program = folder.join("reader");
    let source = root().join("tools/pebble/tests/store/reader.c");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(source)
        .output()?;
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    let read = Command::new(program).arg(image).output()?;
    assert!(read.status.success(), "{}", text(&read.stderr));
    Ok(text(&read.stdout).lines().map(str::to_string).collect())
}

#[test]
fn a_reader_in_another_language_finds_the_same_objects() -> Answer {
    let folder = tempfile::tempdir()?;
    let image = image(folder.path())?;
    let (out, _) = said(folder.path(), &["store", "show", "a.img", "--json"], 0)?;
    let facts: serde_json::Value = serde_json::from_str(&out)?;
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    let shown = facts["objects"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|object| {
            format!(
                "{} {} {} {} {}",
                object["frame"],
                word(&object["kind"]),
                object["version"],
                word(&object["place"]),
                word(&object["checksum"])
            )
        });
    let shown: Vec<String> = shown.collect();
    assert_eq!(shown.len(), 44);
    assert_eq!(read_by_c(folder.path(), &image)?, shown);
    Ok(())
}
