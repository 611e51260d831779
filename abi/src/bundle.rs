//! The bundle: one file with the compiled system description and every component image, handed to the
//! nucleus as initial RAM disk.
//!
//! Layout: a [`Header`] at offset 0, then `count` [`Component`] records, then text (names, arguments), then
//! the images, each starting on a page. All numbers are little endian. The host tool writes it; boot
//! code, init and the loader read it.

/// `"PEBBLEbd"`, little endian.
pub const MAGIC: u64 = u64::from_le_bytes(*b"PEBBLEbd");
/// Version of this layout.
pub const VERSION: u32 = 1;
/// Bytes of a component's name, the closing NUL included.
pub const NAME: usize = 32;

/// Start of the bundle.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// Number of component records.
    pub count: u32,
    /// Bytes of the whole bundle.
    pub bytes: u64,
    /// Bit 0: interactive (the shell); bit 1: a program is run and its exit ends the system;
    /// bit 2: verbose.
    pub flags: u64,
    /// Offset of the description's name, NUL-terminated.
    pub name: u64,
    /// Spare.
    pub reserved: [u64; 3],
}

/// The description says: a shell on the console.
pub const INTERACTIVE: u64 = 1;
/// The program's end is the system's end.
pub const RUN_PROGRAM: u64 = 2;
/// Components may log more.
pub const VERBOSE: u64 = 4;

/// One component.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Component {
    /// Name, NUL-terminated.
    pub name: [u8; NAME],
    /// Offset of the ELF image, a multiple of the page size.
    pub image: u64,
    /// Bytes of the ELF image.
    pub image_bytes: u64,
    /// Role ([`crate::object::role`]).
    pub role: u32,
    /// Priority of its first thread, and the highest its threads may take: 1 to 63 (0: idle only).
    pub priority: u32,
    /// Most pages of memory that it may hold, page tables not counted.
    pub memory_pages: u32,
    /// Flags: [`START`], [`PROGRAM`], [`CRITICAL`], [`SHELL`].
    pub flags: u32,
    /// Offset and number of the arguments: NUL-terminated strings one after the other.
    pub args: u64,
    /// Number of arguments.
    pub argc: u32,
    /// Number of device records.
    pub devices: u32,
    /// The device registers it may use.
    pub device: [Device; 4],
    /// Offset of its access rules: NUL-terminated lines, an empty line ends. A line is `+open PATTERN` or
    /// `+register PATTERN`; PATTERN is an absolute name, with `*` at the end for a whole subtree.
    pub rules: u64,
    /// Quantum in microseconds (priority scheduler), or period (deadline scheduler).
    pub quantum: u32,
    /// Deadline scheduler: budget in microseconds in each period; 0 means best effort.
    pub budget: u32,
}

/// Start it at boot; otherwise it waits for `start NAME`.
pub const START: u32 = 1;
/// It is the program of `pebble run`.
pub const PROGRAM: u32 = 2;
/// Its death ends the system.
pub const CRITICAL: u32 = 4;

/// It is the shell of an interactive system: started last, and its end is the system's end.
pub const SHELL: u32 = 8;

/// A device's registers and interrupt.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Device {
    /// Physical address, page aligned.
    pub base: u64,
    /// Bytes, a multiple of the page size; 0: an unused record.
    pub bytes: u64,
    /// Interrupt number at the platform's interrupt controller, 0 for none.
    pub interrupt: u32,
    /// Spare.
    pub reserved: u32,
}
