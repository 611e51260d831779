//! The numbers of the NBD protocol, and the reading and writing of its messages with a limit of time.
//!
//! After the protocol's description in the NBD project (`doc/proto.md`): "fixed newstyle" negotiation and simple replies.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

pub const GREETING: u64 = 0x4e42_444d_4147_4943;
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
pub const REPLY_MAGIC: u32 = 0x6744_6698;

/// Handshake flags: fixed newstyle, and no zeros behind the answer to [`OPTION_EXPORT_NAME`].
pub const FIXED_NEWSTYLE: u16 = 1;
pub const NO_ZEROES: u16 = 2;

pub const OPTION_EXPORT_NAME: u32 = 1;
pub const OPTION_ABORT: u32 = 2;
pub const OPTION_LIST: u32 = 3;
pub const OPTION_INFO: u32 = 6;
pub const OPTION_GO: u32 = 7;

pub const REPLY_ACK: u32 = 1;
pub const REPLY_SERVER: u32 = 2;
pub const REPLY_INFO: u32 = 3;
pub const REPLY_ERROR_UNSUPPORTED: u32 = 0x8000_0001;
pub const REPLY_ERROR_INVALID: u32 = 0x8000_0003;

pub const INFO_EXPORT: u16 = 0;
pub const INFO_BLOCK_SIZE: u16 = 3;

/// Transmission flags: they mean something, and flushes are understood. No FUA: durability is by flushes alone.
pub const TRANSMISSION_FLAGS: u16 = 1 | 1 << 2;

pub const COMMAND_READ: u16 = 0;
pub const COMMAND_WRITE: u16 = 1;
pub const COMMAND_DISCONNECT: u16 = 2;
pub const COMMAND_FLUSH: u16 = 3;

pub const ERROR_IO: u32 = 5;
pub const ERROR_INVALID: u32 = 22;
pub const ERROR_NO_SPACE: u32 = 28;

/// How long a read waits before it looks at the limit again.
const TICK: Duration = Duration::from_millis(50);

/// A connection of either kind.
pub trait Stream: Read + Write + Send {
    /// Sets how long one read may wait.
    fn limit_reads(&self, limit: Duration) -> io::Result<()>;
}

impl Stream for std::os::unix::net::UnixStream {
    fn limit_reads(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))
    }
}

impl Stream for std::net::TcpStream {
    fn limit_reads(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))
    }
}

/// A connection that ends at a moment.
pub struct Wire<'a> {
    stream: &'a mut dyn Stream,
    deadline: Instant,
}

impl<'a> Wire<'a> {
    pub fn new(stream: &'a mut dyn Stream, deadline: Instant) -> io::Result<Self> {
        stream.limit_reads(TICK)?;
        Ok(Self { stream, deadline })
    }

    /// Fills the buffer. An end of the connection before the first byte is `Ok(false)`.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let mut done = 0;
        while done < buffer.len() {
            if Instant::now() >= self.deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.stream.read(&mut buffer[done..]) {
                Ok(0) if done == 0 => return Ok(false),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => done += count,
                Err(error) if waits(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Fills the buffer if its first byte comes within `patience`; `Ok(false)` if nothing does.
    pub fn read_soon(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<bool> {
        self.stream.limit_reads(patience)?;
        let first = self.stream.read(&mut buffer[..1]);
        self.stream.limit_reads(TICK)?;
        match first {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => self.exact(&mut buffer[1..]).map(|()| true),
            Err(error) if waits(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Fills the buffer.
    pub fn exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        if buffer.is_empty() || self.read(buffer)? {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    pub fn word(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.exact(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    pub fn long(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.exact(&mut bytes)?;
        Ok(u64::from_be_bytes(bytes))
    }
}

fn waits(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
