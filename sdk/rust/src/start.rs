//! From the first Rust instruction to `main`, and back out: arguments, exit status, panics.

use core::fmt::Display;

use pebble_abi::bundle::Device;
use pebble_abi::errno::Errno;
use pebble_abi::layout;
use pebble_abi::object::StartInfo;
#[cfg(target_os = "none")]
use pebble_abi::slot;

#[cfg(target_os = "none")]
use crate::invoke_portal;
use crate::Error;

/// Names the component's first function: `pebble::main!(run)`. It may answer nothing, a status, or a `Result`.
#[macro_export]
macro_rules! main {
    ($function:path) => {
        #[cfg(target_os = "none")]
        #[no_mangle]
        extern "Rust" fn pebble_main() -> i32 {
            $crate::Status::status($function())
        }
        // So that the whole tree also compiles for the host, where its tests run.
        #[cfg(not(target_os = "none"))]
        fn main() {
            $crate::exit($crate::Status::status($function()))
        }
    };
}

/// What a component's `main` may answer.
pub trait Status {
    /// The exit status.
    fn status(self) -> i32;
}

impl Status for () {
    fn status(self) -> i32 {
        0
    }
}

impl Status for i32 {
    fn status(self) -> i32 {
        self
    }
}

impl<T: Status, E: Display> Status for Result<T, E> {
    fn status(self) -> i32 {
        match self {
            Ok(value) => value.status(),
            Err(error) => {
                crate::eprintln!("error: {error}");
                1
            }
        }
    }
}

/// Ends this domain, after what was printed has gone out.
pub fn exit(status: i32) -> ! {
    crate::console::flush();
    #[cfg(target_os = "none")]
    loop {
        invoke_portal(slot::EXIT, (status & 0xff) as usize, 0, 0, 0, 0);
    }
    #[cfg(not(target_os = "none"))]
    std::process::exit(status & 0xff)
}

/// For the first thread of a component that only serves: its portals are entered by the threads of others.
pub fn serve() -> ! {
    if let Ok(never) = crate::sem_create(0) {
        while crate::sem_wait(never).is_ok() {}
    }
    crate::thread_exit()
}

/// The start-information page, as bytes.
fn page() -> &'static [u8] {
    #[cfg(target_os = "none")]
    // SAFETY: the loader maps this page into every component, for as long as it lives, and nobody writes to it.
    return unsafe {
        core::slice::from_raw_parts(layout::START_INFO as *const u8, layout::PAGE as usize)
    };
    #[cfg(not(target_os = "none"))]
    &[0; layout::PAGE as usize]
}

/// What the loader tells this component about itself.
pub(crate) fn information() -> &'static StartInfo {
    // SAFETY: the page is at least as long and aligned, and every bit pattern is a `StartInfo`.
    unsafe { &*page().as_ptr().cast() }
}

/// The component's name in the system description.
pub fn name() -> &'static str {
    strings(&information().name, 1).next().unwrap_or("")
}

/// The component's arguments; its name is not among them.
pub fn args() -> impl Iterator<Item = &'static str> {
    let information = information();
    let text = page()
        .get(information.argv_offset as usize..)
        .unwrap_or(&[]);
    strings(text, information.argc as usize)
}

/// The device that the system description gives this component in place `index`: its registers appear at
/// [`layout::DEVICE`] plus its physical address.
///
/// # Errors
/// [`Errno::NoEntry`] when the description gives it none there.
pub fn device(index: usize) -> Result<&'static Device, Error> {
    let given = information().devices.get(index);
    given
        .filter(|device| device.bytes != 0)
        .ok_or(Errno::NoEntry.into())
}

/// Strings that end with NUL, one after the other; one that is not UTF-8 is shown as a question mark.
fn strings(text: &[u8], count: usize) -> impl Iterator<Item = &str> {
    text.split(|&byte| byte == 0)
        .take(count)
        .map(|bytes| core::str::from_utf8(bytes).unwrap_or("?"))
}

#[cfg(target_os = "none")]
mod entry {
    extern "Rust" {
        fn pebble_main() -> i32;
    }

    #[no_mangle]
    unsafe extern "C" fn pebble_start(thread_pointer: usize) -> ! {
        // SAFETY: the start code put the block above the stack; `pebble_main` is made by `pebble::main!`.
        let status = unsafe {
            crate::stack::place::block_fill(thread_pointer);
            pebble_main()
        };
        crate::exit(status)
    }

    /// 101, as for a Rust program elsewhere.
    #[panic_handler]
    fn panic(information: &core::panic::PanicInfo<'_>) -> ! {
        crate::console::last_words(format_args!("{}: {information}\n", crate::name()));
        loop {
            crate::invoke_portal(pebble_abi::slot::EXIT, 101, 0, 0, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_strings_one_after_the_other() {
        let found: Vec<&str> = strings(b"one\0\0three\0rest", 3).collect();
        assert_eq!(found, ["one", "", "three"]);
        assert_eq!(strings(b"\xff\0", 1).next(), Some("?"));
    }

    #[test]
    fn main_may_answer_nothing_a_status_or_a_result() {
        assert_eq!(().status(), 0);
        assert_eq!(7.status(), 7);
        assert_eq!(Ok::<i32, crate::Error>(3).status(), 3);
        assert_eq!(Err::<(), _>(crate::Error(2)).status(), 1);
    }
}
