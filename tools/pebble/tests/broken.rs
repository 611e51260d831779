//! Images and bundles that are damaged: told with a reason, and whatever can go on does.

mod common;

use common::{greeting, image_of, pebble, text, with_machine, Answer};

/// Writes a little-endian number into an image.
fn put(image: &mut [u8], at: usize, bytes: &[u8]) {
    image[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Components whose image is damaged do not start: who and why is told, and everything else goes on.
#[test]
fn broken_images_are_refused_with_a_reason_and_the_rest_goes_on() -> Answer {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("good.c"), greeting("the rest goes on"))?;
    let good = image_of(folder.path(), &folder.path().join("good.c"))?;
    let programs = u64::from_le_bytes(good[32..40].try_into()?) as usize;
    let code = (0..)
        .map(|index| programs + index * 56)
        .find(|&at| good[at] == 1 && good[at + 4] & 1 != 0)
        .ok_or("no code")?;
    let mut broken: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "cut",
            good[..good.len() / 3].to_vec(),
            "a segment lies outside its file",
        ),
        ("stub", good[..40].to_vec(), "not a whole 64-bit ELF file"),
    ];
    let mut damage = |name: &'static str, at: usize, bytes: &[u8], told: &'static str| {
        let mut image = good.clone();
        put(&mut image, at, bytes);
        broken.push((name, image, told));
    };
    damage(
        "machine",
        18,
        &62u16.to_le_bytes(),
        "not a static RISC-V executable",
    );
    damage(
        "shared",
        16,
        &3u16.to_le_bytes(),
        "not a static RISC-V executable",
    );
    damage("big-endian", 5, &[2], "not a whole 64-bit ELF file");
    damage(
        "all-rights",
        code + 4,
        &[7],
        "writable and executable at once",
    );
    damage(
        "nucleus",
        code + 16,
        &0xffff_ffff_8020_0000u64.to_le_bytes(),
        "outside the image area",
    );
    damage(
        "low",
        code + 16,
        &0x1000u64.to_le_bytes(),
        "outside the image area",
    );
    damage(
        "huge",
        code + 40,
        &(1u64 << 40).to_le_bytes(),
        "outside the image area",
    );
    damage(
        "wrapping",
        code + 40,
        &u64::MAX.to_le_bytes(),
        "outside the image area",
    );
    damage(
        "entry",
        24,
        &0xdead_0000u64.to_le_bytes(),
        "its entry point is not in its code",
    );
    damage("no-segments", 56, &0u16.to_le_bytes(), "");
    let mut addition = String::new();
    for (name, image, _) in &broken {
        let file = folder.path().join(name);
        std::fs::write(&file, image)?;
        addition += &format!(
            "[[component]]\nname = \"{name}\"\npath = \"{}\"\n",
            file.display()
        );
    }
    std::fs::write(folder.path().join("broken.toml"), addition)?;
    let done = pebble(folder.path(), &["run", "good.c", "--with", "broken.toml"])?;
    let said = text(&done.stderr);
    assert_eq!(text(&done.stdout), "the rest goes on\n", "{said}");
    assert_eq!(done.status.code(), Some(0), "{said}");
    for (name, _, told) in &broken {
        let line = said
            .lines()
            .find(|line| line.contains(&format!("component {name} does not start: ")));
        assert!(
            line.is_some_and(|line| line.contains(told)),
            "{name}: {told} in {said}"
        );
    }
    Ok(())
}

/// A bundle that is damaged on its way stops the boot with a reason.
#[test]
fn broken_bundles_stop_the_boot_with_a_reason() -> Answer {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("good.c"), greeting("never"))?;
    let damaged = folder.path().join("damaged");
    for (damage, told) in [
        ("head -c 20 \"$bundle\"", "shorter than its header"),
        ("head -c 30000 \"$bundle\"", "cut short"),
        (
            "printf nonsense; tail -c +9 \"$bundle\"",
            "not a Pebble bundle",
        ),
        (
            "head -c 8 \"$bundle\"; printf '\\377'; tail -c +10 \"$bundle\"",
            "of this version",
        ),
    ] {
        let script = format!(
            "for word; do [ \"$before\" = -initrd ] && bundle=$word; before=$word; done\n\
             {{ {damage}; }} > '{0}'; cp '{0}' \"$bundle\"; exec timeout 20 $qemu \"$@\"",
            damaged.display()
        );
        let done = with_machine(
            folder.path(),
            &script,
            &["run", "good.c", "--timeout", "25"],
        )?;
        let said = text(&done.stderr);
        assert_eq!(text(&done.stdout), "", "{damage}: {said}");
        assert!(
            said.contains("error: boot: ") && said.contains(told),
            "{damage}: {told} in {said}"
        );
        assert_eq!(done.status.code(), Some(125), "{damage}: {said}");
    }
    // Without one.
    let script = "for word; do case $word in -initrd) skip=1;; *) [ \"$skip\" ] || set -- \"$@\" \"$word\"; skip=;; esac; shift; done; exec timeout 20 $qemu \"$@\"";
    let done = with_machine(folder.path(), script, &["run", "good.c", "--timeout", "25"])?;
    assert!(
        text(&done.stderr).contains("no bundle"),
        "{}",
        text(&done.stderr)
    );
    Ok(())
}
