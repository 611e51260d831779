//! Says now and then that it is alive: something to start, look at and stop from the shell.
#![cfg_attr(target_os = "none", no_std, no_main)]

use core::time::Duration;

use pebble::Error;

pebble::main!(run);

/// Seconds between two beats, unless the first argument says something else.
const SECONDS: u64 = 10;

fn run() -> Result<(), Error> {
    let pause = Duration::from_secs(seconds(pebble::args().next()));
    for beat in 1u64.. {
        pebble::println!("{}: beat {beat}", pebble::name());
        pebble::sleep(pause)?;
    }
    Ok(())
}

/// Never without a pause: the console is shared.
fn seconds(argument: Option<&str>) -> u64 {
    let wanted = argument.and_then(|text| text.parse().ok());
    wanted.filter(|&seconds| seconds > 0).unwrap_or(SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_is_the_argument_if_it_is_one() {
        assert_eq!(seconds(Some("3")), 3);
        for odd in [None, Some(""), Some("0"), Some("-1"), Some("soon")] {
            assert_eq!(seconds(odd), SECONDS, "{odd:?}");
        }
    }
}
