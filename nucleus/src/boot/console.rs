//! Messages of boot code, through the firmware.

use core::fmt;

/// The firmware's console (SBI legacy extension).
pub(super) struct Console;

fn firmware(extension: usize, argument: usize) {
    // SAFETY: calls the firmware, which keeps all memory of this program; a0 is the only register it changes.
    unsafe {
        core::arch::asm!("ecall", in("a7") extension, inlateout("a0") argument => _, lateout("a1") _, in("a6") 0);
    }
}

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            firmware(1, byte as usize);
        }
        Ok(())
    }
}

/// Ends the run.
pub(super) fn stop() -> ! {
    loop {
        firmware(8, 0);
    }
}
