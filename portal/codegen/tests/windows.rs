//! Windows of every size the language allows, and the check that keeps a large page from being read as a table.

use pebble_portal_codegen::{generate, Kind, Name, System, Target};
use pebble_portal_spec::Specification;

fn words(text: &str) -> Vec<u32> {
    let specification = Specification::parse(text.as_bytes()).expect(text);
    let kind = Kind::Call {
        specification: &specification,
        target: Target::default(),
        constant: 0,
    };
    let mut words = vec![0; 2048];
    let block = generate(&kind, Name::default(), &System::default(), 0, &mut words).expect(text);
    words[block.entry..block.words].to_vec()
}

/// Four window pages and more once needed more branches to one label than a label could hold.
#[test]
fn every_page_count_is_generated() {
    for pages in 1..=8 {
        for form in ["sm", "np"] {
            assert!(!words(&format!("{form}iw{pages}")).is_empty());
        }
    }
    assert!(!words("npwwwwww").is_empty());
}

/// An entry with a right is a page of whatever size: only V alone leads to another table.
#[test]
fn each_upper_level_is_checked_for_large_pages() {
    let checks = words("smw");
    // andi t4, t3, 15; addi t4, t4, -1
    let pair = [0x00fe_7e93, 0xfffe_8e93];
    let count = checks.windows(2).filter(|&two| two == pair).count();
    assert_eq!(count, 2, "one check for each of the two upper levels");
}

/// Every letter that works on pages, with every number of pages: the most branches to one label that there are.
#[test]
fn every_letter_and_count_is_generated() {
    for letter in ["w", "r", "W", "G", "T"] {
        for pages in 1..=8 {
            for form in ["sm", "np"] {
                assert!(!words(&format!("{form}i{letter}{pages}")).is_empty());
            }
        }
        if !["G", "T"].contains(&letter) {
            let many = letter.repeat(6);
            assert!(!words(&format!("np{many}")).is_empty());
        }
    }
}
