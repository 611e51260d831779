//! A page template whose masks an instruction cannot hold does not fit; the portal manager refuses those.

use pebble_abi::page_table::{PageTemplate, TEMPLATE};

/// The eight masks, each by a function that changes it.
fn masks() -> [fn(&mut PageTemplate) -> &mut u32; 8] {
    [
        |template| &mut template.table_mask,
        |template| &mut template.table_value,
        |template| &mut template.readable,
        |template| &mut template.writable,
        |template| &mut template.add,
        |template| &mut template.fixed,
        |template| &mut template.drop,
        |template| &mut template.mark,
    ]
}

#[test]
fn a_mask_of_more_than_eleven_bits_does_not_fit() {
    assert!(TEMPLATE.fits());
    // Every word of the record is a mask that is looked at.
    assert_eq!(
        masks().len() * size_of::<u32>(),
        size_of::<PageTemplate>(),
        "a mask without a test"
    );
    for (index, mask) in masks().into_iter().enumerate() {
        for bit in 0..32 {
            let mut template = TEMPLATE;
            *mask(&mut template) |= 1 << bit;
            assert_eq!(template.fits(), bit < 11, "mask {index}, bit {bit}");
        }
    }
}
