//! A disk with a volatile cache: what each frame may hold after a crash.

use crate::content::Content;
use crate::OBJECTS;

/// A frame.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Cell {
    /// What a read returns.
    latest: Content,
    /// Everything that may be left after a crash, in order; empty if that is `latest` for certain.
    survivors: Vec<Content>,
}

/// Where a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A header slot, 0 or 1.
    Slot(u8),
    /// A frame of the log, counted without wrapping.
    Log(u8),
    /// An object's home.
    Home(usize),
}

/// Both header slots, the homes, then the log.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Disk {
    cells: Vec<Cell>,
}

impl Disk {
    /// A disk of zeros with a log of this many frames.
    pub fn blank(log: u8) -> Self {
        let cell = Cell {
            latest: Content::Blank,
            survivors: Vec::new(),
        };
        Self {
            cells: vec![cell; 2 + OBJECTS + usize::from(log)],
        }
    }

    fn index(&self, place: Place) -> usize {
        let log = self.cells.len() - 2 - OBJECTS;
        match place {
            Place::Slot(slot) => usize::from(slot),
            Place::Home(object) => 2 + object,
            Place::Log(number) => 2 + OBJECTS + usize::from(number) % log,
        }
    }

    /// A write that is complete and volatile: until a flush, the frame may hold what it held, this, or neither.
    pub fn write(&mut self, place: Place, content: Content) {
        let index = self.index(place);
        let cell = &mut self.cells[index];
        if cell.survivors.is_empty() {
            if cell.latest == content {
                return;
            }
            cell.survivors.push(cell.latest);
        }
        for possible in [Content::Torn, content] {
            if let Err(at) = cell.survivors.binary_search(&possible) {
                cell.survivors.insert(at, possible);
            }
        }
        cell.latest = content;
    }

    /// Everything written is stable from now on, but for frames in `spared`.
    pub fn flush(&mut self, spared: Option<Place>) {
        let spared = spared.map(|place| self.index(place));
        for (index, cell) in self.cells.iter_mut().enumerate() {
            if cell.latest != Content::Unknown && Some(index) != spared {
                cell.survivors = Vec::new();
            }
        }
    }

    /// The power goes.
    pub fn crash(&mut self) {
        for cell in &mut self.cells {
            if !cell.survivors.is_empty() {
                cell.latest = Content::Unknown;
            }
        }
    }

    /// What a read returns.
    pub fn read(&self, place: Place) -> Content {
        self.cells[self.index(place)].latest
    }

    /// What the frame may hold after a crash.
    pub fn survivors(&self, place: Place) -> &[Content] {
        let cell = &self.cells[self.index(place)];
        if cell.survivors.is_empty() {
            std::slice::from_ref(&cell.latest)
        } else {
            &cell.survivors
        }
    }

    /// Whether the frame's content is certain, whatever happens.
    pub fn certain(&self, place: Place) -> bool {
        self.cells[self.index(place)].survivors.is_empty()
    }

    /// After a crash, a read found `content`: now it is certain.
    pub fn settle(&mut self, place: Place, content: Content) {
        let index = self.index(place);
        self.cells[index] = Cell {
            latest: content,
            survivors: Vec::new(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_undefined_until_flushed() {
        let mut disk = Disk::blank(3);
        let place = Place::Log(4);
        disk.write(place, Content::Object(0, 1));
        assert_eq!(disk.read(Place::Log(1)), Content::Object(0, 1));
        assert_eq!(
            disk.survivors(place),
            [Content::Blank, Content::Torn, Content::Object(0, 1)]
        );
        disk.flush(None);
        assert!(disk.certain(place));
        disk.write(place, Content::Object(0, 2));
        disk.crash();
        assert_eq!(disk.read(place), Content::Unknown);
        disk.flush(None);
        assert!(!disk.certain(place));
        disk.settle(place, Content::Torn);
        assert_eq!(disk.read(place), Content::Torn);
    }
}
