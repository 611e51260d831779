//! The system as the shell sees it, and what it collects from there.
//!
//! The shell reads numbers that change while it reads them: a domain may die between two records. Lists show what was
//! there when each record was read.

use alloc::string::String;
use alloc::vec::Vec;

use pebble::abi::object::{info, InfoRecord};
use pebble::abi::slot::NPORTALS;
use pebble::{Errno, Error};

use crate::records::{Action, Component, Domain, Portal, Service, Thread};

/// What the shell asks of the system.
pub trait System {
    /// A record of the `info` portal.
    fn record(&self, kind: usize, index: usize) -> Result<InfoRecord, Error>;
    /// Init's record about a component of the description.
    fn component(&self, index: usize) -> Result<InfoRecord, Error>;
    /// A name at the name server, and the number of its service.
    fn name(&self, index: usize) -> Result<(String, usize), Error>;
    /// Starts a component; answers its domain.
    fn start(&self, name: &str) -> Result<usize, Error>;
    /// Stops a component.
    fn stop(&self, name: &str, force: bool) -> Result<(), Error>;
    /// Switches the machine off; answers only when that fails.
    fn power_off(&self, status: u8) -> Error;
    /// Nanoseconds since 1970.
    fn time_of_day(&self) -> u64;
}

/// Calls `get` with 0, 1, ... until it answers that there are no more, and keeps what is there.
fn all<T>(get: impl Fn(usize) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    for index in 0.. {
        match get(index) {
            Ok(record) => found.push(record),
            Err(error) if error == Errno::NoEntry => {}
            Err(error) if error == Errno::Invalid => break,
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn records<T>(system: &dyn System, kind: usize) -> Result<Vec<T>, Error>
where
    T: for<'a> From<&'a InfoRecord>,
{
    all(|index| system.record(kind, index).map(|record| T::from(&record)))
}

/// All domains that are alive.
pub fn domains(system: &dyn System) -> Result<Vec<Domain>, Error> {
    let mut domains: Vec<Domain> = records(system, info::DOMAIN)?;
    domains.retain(|domain| domain.alive);
    Ok(domains)
}

/// All threads.
pub fn threads(system: &dyn System) -> Result<Vec<Thread>, Error> {
    records(system, info::THREAD)
}

/// The portals in a domain's table, the standard ones left out.
pub fn portals(system: &dyn System, domain: &Domain) -> Result<Vec<Portal>, Error> {
    let mut portals = Vec::new();
    for slot in 0..NPORTALS {
        // Most slots are empty: it is enough to find as many portals as there are.
        if portals.len() as u64 == domain.portals {
            break;
        }
        match system.record(info::PORTAL, domain.asid * NPORTALS + slot) {
            Ok(record) => portals.push(Portal::from(&record)),
            Err(error) if error == Errno::NoEntry => {}
            Err(error) => return Err(error),
        }
    }
    Ok(portals)
}

/// The components of the description, in its order.
pub fn components(system: &dyn System) -> Result<Vec<Component>, Error> {
    all(|index| {
        system
            .component(index)
            .map(|record| Component::from(&record))
    })
}

/// All services, in the order of their names; those whose names the shell may not know come last.
pub fn services(system: &dyn System) -> Result<Vec<Service>, Error> {
    let names = all(|index| system.name(index))?;
    let registered: Vec<(u64, Service)> = all(|index| {
        let record = system.record(info::SERVICE, index)?;
        let name = names.iter().find(|(_, service)| *service == index);
        let service = Service {
            name: name.map(|(name, _)| name.clone()),
            specification: crate::records::name(&record),
            owner: record.values[1] as usize,
        };
        Ok((record.values[0], service))
    })?;
    let mut services: Vec<Service> = registered.into_iter().map(|(_, service)| service).collect();
    services.sort_by(|one, other| {
        let key = |service: &Service| (service.name.is_none(), service.name.clone());
        key(one).cmp(&key(other))
    });
    Ok(services)
}

/// Whose semaphore is which: the domains that have P on it.
#[derive(Debug, Default)]
pub struct Semaphores(Vec<(u64, usize)>);

impl Semaphores {
    /// From the tables of `domains`.
    pub fn of(system: &dyn System, domains: &[Domain]) -> Result<Self, Error> {
        let mut owners = Vec::new();
        for domain in domains {
            for portal in portals(system, domain)? {
                if let Action::Wait(semaphore) = portal.action {
                    owners.push((semaphore, domain.asid));
                }
            }
        }
        Ok(Semaphores(owners))
    }

    /// A domain that has P on this semaphore.
    pub fn owner(&self, semaphore: u64) -> Option<usize> {
        let found = self.0.iter().find(|(known, _)| *known == semaphore);
        found.map(|&(_, owner)| owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn lists_skip_what_is_not_there_and_end_at_the_end() {
        let system = Fake::new();
        let names: Vec<String> = domains(&system)
            .unwrap()
            .into_iter()
            .map(|d| d.name)
            .collect();
        assert_eq!(names, ["init", "console", "shell", "heartbeat"]);
        assert_eq!(threads(&system).unwrap().len(), 3);
        assert_eq!(components(&system).unwrap().len(), 5);
    }

    #[test]
    fn portals_are_those_of_one_table() {
        let system = Fake::new();
        let console = &domains(&system).unwrap()[1];
        let found = portals(&system, console).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|portal| portal.domain == 9));
        let semaphores = Semaphores::of(&system, &domains(&system).unwrap()).unwrap();
        assert_eq!(semaphores.owner(17), Some(9));
        assert_eq!(semaphores.owner(18), None);
    }

    #[test]
    fn services_have_the_names_that_the_shell_may_know() {
        let found = services(&Fake::new()).unwrap();
        let names: Vec<Option<&str>> = found
            .iter()
            .map(|service| service.name.as_deref())
            .collect();
        assert_eq!(names, [Some("/console/read"), Some("/console/write"), None]);
        assert_eq!(found[0].specification, "nmcwi");
    }

    #[test]
    fn an_error_is_passed_on() {
        let mut system = Fake::new();
        system.broken = true;
        assert_eq!(domains(&system).err(), Some(Errno::OwnerDead.into()));
    }
}
