//! Serving one client: requests in, answers out in an order of the seed's choice, and the power cut.

use std::fs::OpenOptions;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cache::{Cache, Survivors};
use crate::handshake::{negotiate, unexpected};
use crate::random::Random;
use crate::wire::*;
use crate::{Plan, SECTOR_SIZE};

/// Most bytes of a read or write.
pub(crate) const REQUEST_LIMIT: u32 = 4 << 20;
/// How long a request that is held back waits for company.
const PATIENCE: Duration = Duration::from_millis(2);

/// Where clients find the disk. There is no other place: what is served here has no business on a network.
#[derive(Clone, Debug)]
pub enum Place {
    /// A socket in the file system, made when the server is and removed with it.
    Unix(PathBuf),
    /// A port of this machine's loopback address; 0 for any.
    Loopback(u16),
}

enum Listener {
    Unix(UnixListener, PathBuf),
    Loopback(TcpListener),
}

/// Why a disk cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The image.
    #[error("{path}: {error}")]
    Image {
        /// Its file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The place.
    #[error("cannot wait for a client at {place}: {error}")]
    Place {
        /// Where.
        place: String,
        /// What the system said.
        error: io::Error,
    },
    /// Nobody came, or the client went beyond the limit of time.
    #[error("the disk was served for {0:?}, its limit, and the client had not left")]
    Limit(Duration),
    /// The connection, or what came over it.
    #[error("the client's connection: {0}")]
    Connection(io::Error),
}

/// How a disk's service ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The client left; every write is in the image.
    Left,
    /// The power went.
    Cut(Survivors),
}

/// What happened while a disk was served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Events: writes received, flushes received, flushes done.
    pub events: u64,
    /// Writes received.
    pub writes: u64,
    /// Flushes received.
    pub flushes: u64,
    /// Flushes that the plan let fail.
    pub failed_flushes: u64,
    /// How it ended.
    pub ending: Ending,
}

/// A disk that waits for its client.
pub struct Server {
    listener: Listener,
    cache: Cache,
    plan: Plan,
}

/// A request that is not answered yet.
struct Held {
    handle: u64,
    write: u64,
}

struct Session<'a> {
    wire: Wire<'a>,
    cache: Cache,
    plan: Plan,
    random: Random,
    held: Vec<Held>,
    summary: Summary,
}

/// What a step leads to.
enum Step {
    On,
    End,
    Cut,
}

impl Server {
    /// Opens the image and starts to listen, so that a client that is started next finds the place.
    pub fn new(image: &Path, place: &Place, plan: Plan) -> Result<Self, Error> {
        let open = || {
            OpenOptions::new()
                .read(true)
                .write(true)
                .open(image)
                .and_then(Cache::new)
        };
        let cache = open().map_err(|error| Error::Image {
            path: image.to_path_buf(),
            error,
        })?;
        let listener = match place {
            Place::Unix(path) => UnixListener::bind(path)
                .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
                .map(|socket| Listener::Unix(socket, path.clone())),
            Place::Loopback(port) => TcpListener::bind((Ipv4Addr::LOCALHOST, *port))
                .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
                .map(Listener::Loopback),
        };
        let listener = listener.map_err(|error| Error::Place {
            place: format!("{place:?}"),
            error,
        })?;
        Ok(Self {
            listener,
            cache,
            plan,
        })
    }

    /// What QEMU calls this disk: the value of `file=` in `-drive`.
    pub fn uri(&self) -> io::Result<String> {
        Ok(match &self.listener {
            Listener::Unix(_, path) => format!("nbd+unix:///?socket={}", path.display()),
            Listener::Loopback(socket) => format!("nbd://{}", socket.local_addr()?),
        })
    }

    /// Serves one client until it leaves, the power goes, or time is over. The image file is complete then.
    pub fn serve(self) -> Result<Summary, Error> {
        let deadline = Instant::now() + self.plan.limit;
        let limit = self.plan.limit;
        let mut stream = self.accept(deadline)?;
        let connection = |error: io::Error| match error.kind() {
            io::ErrorKind::TimedOut => Error::Limit(limit),
            _ => Error::Connection(error),
        };
        let mut wire = Wire::new(stream.as_mut(), deadline).map_err(connection)?;
        let size = self.cache.sectors() * SECTOR_SIZE as u64;
        let wanted = negotiate(&mut wire, size).map_err(connection)?;
        let session = Session {
            wire,
            cache: self.cache,
            random: Random::new(self.plan.seed ^ 0x006f_7264_6572),
            plan: self.plan,
            held: Vec::new(),
            summary: Summary {
                events: 0,
                writes: 0,
                flushes: 0,
                failed_flushes: 0,
                ending: Ending::Left,
            },
        };
        let summary = session.run(wanted).map_err(connection);
        if let Listener::Unix(_, path) = &self.listener {
            // Who starts the next server at this place would be told that it is taken.
            let _ = std::fs::remove_file(path);
        }
        summary
    }

    fn accept(&self, deadline: Instant) -> Result<Box<dyn Stream>, Error> {
        while Instant::now() < deadline {
            let stream: io::Result<Box<dyn Stream>> = match &self.listener {
                Listener::Unix(socket, _) => socket.accept().and_then(|(stream, _)| {
                    stream.set_nonblocking(false)?;
                    Ok(Box::new(stream) as _)
                }),
                Listener::Loopback(socket) => socket.accept().and_then(|(stream, _)| {
                    stream.set_nonblocking(false)?;
                    stream.set_nodelay(true)?;
                    Ok(Box::new(stream) as _)
                }),
            };
            match stream {
                Ok(stream) => return Ok(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(error) => return Err(Error::Connection(error)),
            }
        }
        Err(Error::Limit(self.plan.limit))
    }
}

impl Session<'_> {
    fn run(mut self, wanted: bool) -> io::Result<Summary> {
        let mut step = if wanted { Step::On } else { Step::End };
        while let Step::On = step {
            step = match self.next() {
                // A client that is killed does not say goodbye; its disk stays under power.
                Err(error) if gone(&error) => Step::End,
                step => step?,
            };
        }
        let cut = matches!(step, Step::Cut) || self.plan.cut_at_end;
        self.summary.ending = if cut {
            Ending::Cut(self.cache.cut(self.plan.seed)?)
        } else {
            self.cache.keep()?;
            Ending::Left
        };
        Ok(self.summary)
    }

    /// Takes the next request, or answers one that was held back if none comes.
    fn next(&mut self) -> io::Result<Step> {
        let mut header = [0; 28];
        let room = self.held.len() < self.plan.held_back.saturating_sub(1);
        let come = match (self.held.is_empty(), room) {
            (true, _) => {
                if !self.wire.read(&mut header)? {
                    return Ok(Step::End);
                }
                true
            }
            (false, true) => self.wire.read_soon(&mut header, PATIENCE)?,
            (false, false) => false,
        };
        if come {
            self.request(&header)
        } else {
            self.answer_one()?;
            Ok(Step::On)
        }
    }

    fn request(&mut self, header: &[u8; 28]) -> io::Result<Step> {
        let (magic, rest) = header.split_at(4);
        if magic != REQUEST_MAGIC.to_be_bytes() {
            return Err(unexpected("the mark of a request"));
        }
        let mut long = [0; 8];
        let command = u16::from_be_bytes([rest[2], rest[3]]);
        long.copy_from_slice(&rest[4..12]);
        let handle = u64::from_be_bytes(long);
        long.copy_from_slice(&rest[12..20]);
        let offset = u64::from_be_bytes(long);
        let length = u32::from_be_bytes([rest[20], rest[21], rest[22], rest[23]]);
        match command {
            COMMAND_READ => self.read(handle, offset, length),
            COMMAND_WRITE => self.write(handle, offset, length),
            COMMAND_FLUSH => self.flush(handle),
            COMMAND_DISCONNECT => {
                while !self.held.is_empty() {
                    self.answer_one()?;
                }
                Ok(Step::End)
            }
            _ => {
                self.reply(handle, ERROR_INVALID, &[])?;
                Ok(Step::On)
            }
        }
    }

    /// The first sector of a request that is inside the disk, or the error to answer.
    fn first_sector(&self, offset: u64, length: u32) -> Result<u64, u32> {
        let sector = SECTOR_SIZE as u64;
        let end = offset.checked_add(u64::from(length)).ok_or(ERROR_INVALID)?;
        if !offset.is_multiple_of(sector) || !end.is_multiple_of(sector) || length > REQUEST_LIMIT {
            return Err(ERROR_INVALID);
        }
        if end > self.cache.sectors() * sector {
            return Err(ERROR_NO_SPACE);
        }
        Ok(offset / sector)
    }

    fn read(&mut self, handle: u64, offset: u64, length: u32) -> io::Result<Step> {
        match self.first_sector(offset, length) {
            Ok(first) => {
                let mut bytes = vec![0; length as usize];
                self.cache.read(first, &mut bytes)?;
                self.reply(handle, 0, &bytes)?;
            }
            // The protocol has no other word for a read beyond the end.
            Err(_) => self.reply(handle, ERROR_INVALID, &[])?,
        }
        Ok(Step::On)
    }

    fn write(&mut self, handle: u64, offset: u64, length: u32) -> io::Result<Step> {
        if length > REQUEST_LIMIT {
            return Err(unexpected("a write of at most 4 MiB"));
        }
        let mut bytes = vec![0; length as usize];
        self.wire.exact(&mut bytes)?;
        match self.first_sector(offset, length) {
            Ok(first) => {
                let write = self.cache.write(first, &bytes);
                self.summary.writes += 1;
                if self.event() {
                    return Ok(Step::Cut);
                }
                self.held.push(Held { handle, write });
                if self.held.len() >= self.plan.held_back.max(1) {
                    self.answer_one()?;
                }
            }
            Err(error) => self.reply(handle, error, &[])?,
        }
        Ok(Step::On)
    }

    fn flush(&mut self, handle: u64) -> io::Result<Step> {
        let covered = self.cache.covered();
        self.summary.flushes += 1;
        if self.event() {
            return Ok(Step::Cut);
        }
        let error = if self.plan.failing_flushes.contains(&self.summary.flushes) {
            self.cache.fail_flush(&covered);
            self.summary.failed_flushes += 1;
            ERROR_IO
        } else {
            self.cache.flush(&covered)?;
            0
        };
        if self.event() {
            return Ok(Step::Cut);
        }
        self.reply(handle, error, &[])?;
        Ok(Step::On)
    }

    /// Answers one of the writes that are held back.
    fn answer_one(&mut self) -> io::Result<()> {
        let chosen = self.random.below(self.held.len());
        let Held { handle, write } = self.held.swap_remove(chosen);
        self.cache.answer(write);
        self.reply(handle, 0, &[])
    }

    /// Counts an event; true: the power goes now.
    fn event(&mut self) -> bool {
        self.summary.events += 1;
        self.plan.cut_after == Some(self.summary.events)
    }

    fn reply(&mut self, handle: u64, error: u32, data: &[u8]) -> io::Result<()> {
        let mut bytes = REPLY_MAGIC.to_be_bytes().to_vec();
        bytes.extend(error.to_be_bytes());
        bytes.extend(handle.to_be_bytes());
        bytes.extend(data);
        self.wire.write(&bytes)
    }
}

fn gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}
