//! Registers of the 16550: the only place of this driver that touches the device.

use core::sync::atomic::{AtomicUsize, Ordering};

use pebble::abi::layout::DEVICE;

/// Where the registers are, once the line is set up.
static BASE: AtomicUsize = AtomicUsize::new(0);

/// Data: read what was received, write what is to be sent.
const DATA: usize = 0;
/// Interrupt enable; bit 0: data has been received.
const INTERRUPT_ENABLE: usize = 1;
/// FIFO control: enable and empty both.
const FIFO_CONTROL: usize = 2;
/// Line control: 8 data bits, no parity, 1 stop bit.
const LINE_CONTROL: usize = 3;
/// Modem control; OUT2 lets interrupts out of the device.
const MODEM_CONTROL: usize = 4;
/// Line status; bit 0: data is there, bit 5: room to send.
const LINE_STATUS: usize = 5;

fn read(register: usize) -> u8 {
    // SAFETY: the system description gives this component the device's page; reading a register of it touches no
    // memory of Rust's.
    unsafe { ((BASE.load(Ordering::Relaxed) + register) as *const u8).read_volatile() }
}

fn write(register: usize, value: u8) {
    // SAFETY: as above.
    unsafe { ((BASE.load(Ordering::Relaxed) + register) as *mut u8).write_volatile(value) }
}

/// Sets up the line whose registers are at `physical`, with interrupts still off.
pub fn start(physical: u64) {
    BASE.store((DEVICE + physical) as usize, Ordering::Relaxed);
    write(INTERRUPT_ENABLE, 0);
    write(LINE_CONTROL, 0b11);
    write(FIFO_CONTROL, 0b111);
    write(MODEM_CONTROL, 0b1011);
}

/// From now on received data raises the interrupt.
pub fn enable_receive_interrupt() {
    write(INTERRUPT_ENABLE, 1);
}

/// From now on it does not: what arrives waits in the device, and then at the sender.
pub fn disable_receive_interrupt() {
    write(INTERRUPT_ENABLE, 0);
}

/// What has been received and not yet read; the interrupt stays raised until this is empty.
pub fn received() -> impl Iterator<Item = u8> {
    core::iter::from_fn(|| (read(LINE_STATUS) & 1 != 0).then(|| read(DATA)))
}

/// The right to send: one thread at a time.
pub struct Transmitter;

impl Transmitter {
    /// Sends a byte. It polls: at the speed of a serial line an interrupt per byte would cost more than it saves,
    /// and the wait is bounded by the time of one byte.
    pub fn send(&self, byte: u8) {
        while read(LINE_STATUS) & (1 << 5) == 0 {
            core::hint::spin_loop();
        }
        write(DATA, byte);
    }
}
