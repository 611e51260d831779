//! The model's steps that are about two domains: shared stacks, windows, given and supplied pages.

use virtual_memory::abi::layout::{PAGE, STACK_SLOT};
use virtual_memory::{Name, Outcome, Supply};

use super::Model;

impl Model {
    pub(super) fn share(&mut self, by: usize, to: usize) {
        let done = self.world.server.stack_share(by, to);
        let (Some(from), Some(callee)) = (self.domains.get(&by), self.domains.get(&to)) else {
            assert!(done.is_err());
            return;
        };
        if done.is_ok() {
            assert_ne!(from.stack_area, callee.stack_area);
            // The callee sees what the caller has there, through its own tables.
            let page = from.stack_area + STACK_SLOT - PAGE;
            let value = from.value(page);
            match self.world.load(to, page) {
                Some(loaded) => assert_eq!(loaded, value),
                None => assert!(self.is_scarce(by) || self.is_scarce(to)),
            }
        }
    }

    pub(super) fn open(&mut self, by: usize, place: u8, window: u64, write: bool) {
        let Some(page) = self.domains.get(&by).map(|domain| domain.place(place)) else {
            return;
        };
        self.windows.remove(&window);
        self.world.close_window(window);
        if self.world.open_window(by, page, window, write) {
            self.windows.insert(window, (by, page, write));
        } else {
            assert!(
                self.is_scarce(by),
                "a window on {page:#x} in {by} is refused without need"
            );
        }
    }

    /// A server writes through its window: seen by nobody but the one whose page it is, if it still is.
    pub(super) fn store_in_window(&mut self, window: u64) {
        let Some(&(by, page, true)) = self.windows.get(&window) else {
            return;
        };
        let value = self.value();
        let slot = self.world.window_slot(window);
        let frame = virtual_memory::Entry(self.world.server.memory.get(slot)).physical();
        self.world.server.memory.put(frame, value);
        // Who has the page may have changed: it was given away, or a stack's owner is another domain now.
        for (&asid, domain) in &mut self.domains {
            for place in domain.places() {
                let entry = self.world.entry(asid, place);
                if entry.is_valid() && entry.physical() == frame {
                    let is_shared = self.world.supplied.contains(&frame);
                    let is_given = domain.gifts.contains(&place);
                    assert!((asid, place) == (by, page) || is_given || is_shared);
                    domain.values.insert(place, value);
                }
            }
        }
    }

    pub(super) fn give(&mut self, by: usize, place: u8, to: usize) {
        let (Some(giver), true) = (self.domains.get(&by), self.domains.contains_key(&to)) else {
            return;
        };
        let page = giver.place(place);
        let value = giver.value(page);
        if self
            .world
            .supplied
            .contains(&self.world.entry(by, page).physical())
        {
            return;
        }
        let Some(found) = self.world.give(by, page, to) else {
            return;
        };
        let giver = self.domains.get_mut(&by).expect("checked");
        giver.values.remove(&page);
        giver.gifts.retain(|&gift| gift != page);
        let receiver = self.domains.get_mut(&to).expect("checked");
        receiver.gifts.retain(|&gift| gift != found);
        receiver.gifts.push(found);
        receiver.values.insert(found, value);
    }

    /// The client needs a page of its pager's, which answers with one of its own.
    pub(super) fn page(&mut self, client: usize, pager: usize, place: u8, flags: u64) {
        if client == pager || !self.domains.contains_key(&client) {
            return;
        }
        let Some(source) = self.domains.get(&pager).map(|domain| domain.place(place)) else {
            return;
        };
        let region = match self.domains[&client].paged {
            Some(region) => region,
            None => {
                let name = Name::new(b"/pager/model\0").expect("a name");
                let server = &mut self.world.server;
                let found = server.vm_pager(client, client, 4 * PAGE, &name, 1, None);
                let opened = found.expect("room for regions").is_none().then_some(70);
                let region = match opened {
                    Some(_) => server.vm_pager(client, client, 4 * PAGE, &name, 1, opened),
                    None => found,
                };
                let region = region.expect("room for regions").expect("a region");
                self.domains.get_mut(&client).expect("checked").paged = Some(region);
                region
            }
        };
        let address = region + u64::from(place) % 4 * PAGE;
        let supply = Supply {
            pager,
            thread: 1,
            asid: client,
            address,
            page: source,
            flags,
        };
        let access = if flags & 2 != 0 { 2 } else { 4 };
        let is_moved = flags & 1 != 0;
        let before = self.world.entry(client, address);
        if !before.allows(access)
            && self.world.page_in(client, address, access, supply) == Outcome::Retry
            && is_moved
        {
            let domain = self.domains.get_mut(&pager).expect("checked");
            domain.values.remove(&source);
            domain.gifts.retain(|&gift| gift != source);
        }
    }
}
