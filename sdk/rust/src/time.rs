//! Time: the cycle counter, time of day, and sleeping.

use core::time::Duration;

use pebble_abi::slot;

use crate::error::answer;
use crate::{invoke_portal, Error};

/// The cycle counter, in units of two cycles.
pub fn hrtime() -> u64 {
    invoke_portal(slot::HRTIME, 0, 0, 0, 0, 0) as u64
}

/// Waits until [`hrtime`] reaches `until`.
pub fn hrsleep(until: u64) -> Result<(), Error> {
    answer(invoke_portal(slot::HRSLEEP, until as usize, 0, 0, 0, 0)).map(drop)
}

/// Nanoseconds since 1970.
pub fn time_of_day() -> u64 {
    invoke_portal(slot::TIME_OF_DAY, 0, 0, 0, 0, 0) as u64
}

/// Longest single step of [`sleep`], so that a wrong guess of the clock rate costs no more.
const STEP: u64 = 100_000_000;

/// Waits for a duration. The cycle counter's rate is not known: each step sleeps for what the rate of the steps
/// before suggests, starting from 1 GHz, and the time of day decides when it is enough.
pub fn sleep(duration: Duration) -> Result<(), Error> {
    let duration = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let (begin, begin_units) = (time_of_day(), hrtime());
    let (mut units, mut nanoseconds) = (1, 2);
    loop {
        let passed = time_of_day().wrapping_sub(begin);
        if passed >= duration {
            return Ok(());
        }
        let now = hrtime();
        if passed >= 1000 && now > begin_units {
            (units, nanoseconds) = (now - begin_units, passed);
        }
        hrsleep(now + step(duration - passed, units, nanoseconds))?;
    }
}

/// Counter units for the next step, when `left` nanoseconds are left.
fn step(left: u64, units: u64, nanoseconds: u64) -> u64 {
    (u128::from(left.min(STEP)) * u128::from(units) / u128::from(nanoseconds)) as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_follows_the_measured_rate_and_is_bounded() {
        assert_eq!(step(1000, 1, 2), 501);
        assert_eq!(step(1000, 3_000, 1_000), 3001);
        assert_eq!(step(u64::MAX, 1, 2), STEP / 2 + 1);
    }
}
