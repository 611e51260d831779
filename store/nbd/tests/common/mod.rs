//! A served disk and a client that speaks the protocol by hand.
#![allow(dead_code, reason = "each test file uses a part")]

use std::io::{Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use pebble_store_nbd::{Error, Place, Plan, Server, Summary, SECTOR_SIZE};

/// A folder with an image, and a server at its socket.
pub struct Disk {
    pub folder: tempfile::TempDir,
    server: JoinHandle<std::result::Result<Summary, Error>>,
    pub uri: String,
}

impl Disk {
    /// A new image of zeros.
    pub fn serve(sectors: u64, plan: Plan) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::File::create(folder.path().join("image"))?
            .set_len(sectors * SECTOR_SIZE as u64)?;
        Self::again(folder, plan)
    }

    /// The image of a disk that was served before.
    pub fn again(folder: tempfile::TempDir, plan: Plan) -> Result<Self> {
        let image = folder.path().join("image");
        let place = Place::Unix(folder.path().join("socket"));
        let plan = Plan {
            limit: plan.limit.min(Duration::from_secs(60)),
            ..plan
        };
        let server = Server::new(&image, &place, plan).map_err(std::io::Error::other)?;
        let uri = server.uri()?;
        let server = std::thread::spawn(move || server.serve());
        Ok(Self {
            folder,
            server,
            uri,
        })
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Waits for the end of the service; gives the folder back for the next one.
    pub fn end(self) -> Result<(Summary, tempfile::TempDir)> {
        let summary = self
            .server
            .join()
            .map_err(|_| std::io::Error::other("the server panicked"))?;
        Ok((summary.map_err(std::io::Error::other)?, self.folder))
    }

    pub fn is_over(&self) -> bool {
        self.server.is_finished()
    }
}

/// The bytes of a sector of the surviving image.
pub fn sector(folder: &Path, number: usize) -> Result<Vec<u8>> {
    let image = std::fs::read(folder.join("image"))?;
    Ok(image[number * SECTOR_SIZE..(number + 1) * SECTOR_SIZE].to_vec())
}

/// A client of the protocol.
pub struct Client {
    stream: UnixStream,
    handle: u64,
    pub size: u64,
}

impl Client {
    /// Connects with the option that every server has to know.
    pub fn connect(socket: &Path) -> Result<Self> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting)?;
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        stream.write_all(&3_u32.to_be_bytes())?;
        stream.write_all(b"IHAVEOPT")?;
        stream.write_all(&[0, 0, 0, 1, 0, 0, 0, 0])?;
        let mut export = [0; 10];
        stream.read_exact(&mut export)?;
        let mut size = [0; 8];
        size.copy_from_slice(&export[..8]);
        Ok(Self {
            stream,
            handle: 0,
            size: u64::from_be_bytes(size),
        })
    }

    /// Sends a request; the answer is its handle.
    pub fn send(&mut self, command: u16, offset: u64, length: u32, data: &[u8]) -> Result<u64> {
        self.handle += 1;
        let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
        bytes.extend([0, 0]);
        bytes.extend(command.to_be_bytes());
        bytes.extend(self.handle.to_be_bytes());
        bytes.extend(offset.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(data);
        self.stream.write_all(&bytes)?;
        Ok(self.handle)
    }

    /// The next answer's handle and error.
    pub fn receive(&mut self, data: &mut [u8]) -> Result<(u64, u32)> {
        let mut bytes = [0; 16];
        self.stream.read_exact(&mut bytes)?;
        assert_eq!(bytes[..4], 0x6744_6698_u32.to_be_bytes());
        let error = u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        if error == 0 {
            self.stream.read_exact(data)?;
        }
        let mut handle = [0; 8];
        handle.copy_from_slice(&bytes[8..]);
        Ok((u64::from_be_bytes(handle), error))
    }

    /// Writes a sector of one byte; the answer is the error.
    pub fn write(&mut self, sector: u64, byte: u8) -> Result<u32> {
        let data = [byte; SECTOR_SIZE];
        self.send(1, sector * SECTOR_SIZE as u64, SECTOR_SIZE as u32, &data)?;
        Ok(self.receive(&mut [])?.1)
    }

    /// Flushes; the answer is the error.
    pub fn flush(&mut self) -> Result<u32> {
        self.send(3, 0, 0, &[])?;
        Ok(self.receive(&mut [])?.1)
    }

    /// The first byte of a sector.
    pub fn read(&mut self, sector: u64) -> Result<u8> {
        let mut data = [0; SECTOR_SIZE];
        self.send(0, sector * SECTOR_SIZE as u64, SECTOR_SIZE as u32, &[])?;
        assert_eq!(self.receive(&mut data)?.1, 0);
        Ok(data[0])
    }

    /// Leaves by the rules.
    pub fn leave(mut self) -> Result<()> {
        self.send(2, 0, 0, &[]).map(drop)
    }
}
