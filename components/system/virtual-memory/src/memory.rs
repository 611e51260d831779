//! What the logic needs from the machine: words of physical memory and the translation caches.

/// Physical memory and the processor's caches of translations.
///
/// Page-table entries are also written by portal code, which runs whenever the VM server is preempted; so
/// an entry that could be in use is changed by [`Memory::replace`] or [`Memory::take`], never by a read
/// and a later [`Memory::write`].
pub trait Memory {
    /// The word at this physical address, a multiple of 8.
    fn read(&self, physical: u64) -> u64;
    /// Writes a word that only the VM server uses.
    fn write(&mut self, physical: u64, value: u64);
    /// Writes `new` if the word is still `expected`; answers whether it was.
    fn replace(&mut self, physical: u64, expected: u64, new: u64) -> bool;
    /// Fills a page with zeros.
    fn zero_page(&mut self, frame: u64);
    /// Copies bytes from one physical address to another; the ranges do not overlap.
    fn copy(&mut self, from: u64, to: u64, bytes: u64);
    /// Copies the page in the window at `window` (an address in the VM server) to a frame.
    fn copy_from_window(&mut self, window: u64, frame: u64);
    /// Makes the cached translation of one page of a domain disappear.
    fn flush_page(&mut self, asid: usize, address: u64);
    /// Makes all cached translations of a domain disappear.
    fn flush_domain(&mut self, asid: usize);
    /// Instructions were written to memory: later fetches must see them.
    fn code_written(&mut self);

    /// Empties a word and answers what it held.
    fn take(&mut self, physical: u64) -> u64 {
        loop {
            let value = self.read(physical);
            if self.replace(physical, value, 0) {
                return value;
            }
        }
    }
}
