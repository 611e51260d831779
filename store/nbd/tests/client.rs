//! The server against a client that sends exactly what a test wants.

mod common;

use std::io::Result;
use std::path::PathBuf;
use std::time::Duration;

use common::{sector, Client, Disk};
use pebble_store_nbd::{Ending, Error, Place, Plan, Server, Survivors};

#[test]
fn what_is_flushed_survives_a_cut_and_what_is_not_may_vanish() -> Result<()> {
    let mut outcomes = [0; 3];
    for seed in 0..24 {
        // Events: 2 writes, 2 of the flush, 2 writes more.
        let plan = Plan {
            cut_after: Some(6),
            seed,
            ..Plan::default()
        };
        let disk = Disk::serve(8, plan)?;
        let mut client = Client::connect(&disk.socket())?;
        assert_eq!(client.size, 4096);
        assert_eq!((client.write(0, 1)?, client.write(1, 1)?), (0, 0));
        assert_eq!(client.flush()?, 0);
        assert_eq!(client.write(1, 2)?, 0);
        assert_eq!(client.read(1)?, 2);
        assert!(client.write(2, 2).is_err(), "the power is gone");
        let (summary, folder) = disk.end()?;
        assert_eq!((summary.events, summary.writes, summary.flushes), (6, 4, 1));
        let Ending::Cut(survivors) = summary.ending else {
            panic!("{summary:?}")
        };
        assert_eq!(sector(folder.path(), 0)?, [1; 512], "seed {seed}");
        let (one, two) = (sector(folder.path(), 1)?, sector(folder.path(), 2)?);
        assert!(one.iter().all(|byte| [1, 2].contains(byte)), "seed {seed}");
        assert!(two.iter().all(|byte| [0, 2].contains(byte)), "seed {seed}");
        outcomes[0] += u32::from(one == [1; 512] && two == [2; 512]);
        outcomes[1] += u32::from(one == [2; 512] && two == [0; 512]);
        outcomes[2] += u32::from(survivors.torn > 0);
    }
    assert!(
        outcomes.iter().all(|count| *count > 0),
        "order was kept, or nothing torn: {outcomes:?}"
    );
    Ok(())
}

#[test]
fn a_flush_error_reaches_the_client_and_dooms_what_it_covered() -> Result<()> {
    let mut lost = 0;
    for seed in 0..12 {
        let plan = Plan {
            failing_flushes: vec![1],
            cut_at_end: true,
            seed,
            ..Plan::default()
        };
        let disk = Disk::serve(8, plan)?;
        let mut client = Client::connect(&disk.socket())?;
        client.write(0, 1)?;
        assert_eq!(client.flush()?, 5);
        client.write(1, 1)?;
        assert_eq!(client.flush()?, 0);
        assert_eq!((client.read(0)?, client.read(1)?), (1, 1));
        client.leave()?;
        let (summary, folder) = disk.end()?;
        assert_eq!((summary.flushes, summary.failed_flushes), (2, 1));
        assert_eq!(sector(folder.path(), 1)?, [1; 512]);
        lost += u32::from(sector(folder.path(), 0)? == [0; 512]);
    }
    assert!(lost > 0 && lost < 12, "{lost} of 12");
    Ok(())
}

#[test]
fn answers_come_in_another_order_when_requests_are_held_back() -> Result<()> {
    let plan = Plan {
        held_back: 4,
        seed: 3,
        ..Plan::default()
    };
    let disk = Disk::serve(64, plan)?;
    let mut client = Client::connect(&disk.socket())?;
    let mut sent = Vec::new();
    for number in 0..32_u64 {
        sent.push(client.send(1, number * 512, 512, &[7; 512])?);
    }
    let mut received = Vec::new();
    for _ in 0..32 {
        received.push(client.receive(&mut [])?.0);
    }
    assert_ne!(received, sent);
    received.sort_unstable();
    assert_eq!(received, sent);
    client.leave()?;
    let (summary, folder) = disk.end()?;
    assert_eq!(summary.ending, Ending::Left);
    assert_eq!(sector(folder.path(), 31)?, [7; 512]);
    Ok(())
}

#[test]
fn requests_outside_the_disk_are_refused_and_service_goes_on() -> Result<()> {
    let disk = Disk::serve(8, Plan::default())?;
    let mut client = Client::connect(&disk.socket())?;
    client.send(1, 8 * 512, 512, &[1; 512])?;
    assert_eq!(client.receive(&mut [])?.1, 28);
    client.send(1, 100, 512, &[1; 512])?;
    assert_eq!(client.receive(&mut [])?.1, 22);
    client.send(0, u64::MAX - 511, 512, &[])?;
    assert_eq!(client.receive(&mut [])?.1, 22);
    client.send(9, 0, 512, &[])?;
    assert_eq!(client.receive(&mut [])?.1, 22);
    assert_eq!(client.write(7, 1)?, 0);
    // No goodbye: the power stays.
    drop(client);
    let (summary, folder) = disk.end()?;
    assert_eq!((summary.writes, summary.ending), (1, Ending::Left));
    assert_eq!(sector(folder.path(), 7)?, [1; 512]);
    Ok(())
}

#[test]
fn service_ends_with_its_limit_of_time() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let image = folder.path().join("image");
    std::fs::write(&image, [0; 512])?;
    let plan = Plan {
        limit: Duration::from_millis(30),
        ..Plan::default()
    };
    let place = Place::Unix(folder.path().join("socket"));
    let served = Server::new(&image, &place, plan.clone()).map(Server::serve);
    assert!(matches!(served, Ok(Err(Error::Limit(_)))));
    let nowhere = Server::new(&PathBuf::from("/nowhere/image"), &place, plan);
    let error = nowhere
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(error.starts_with("/nowhere/image: No such file"), "{error}");
    Ok(())
}

#[test]
fn a_cut_before_the_first_write_leaves_the_image_alone() -> Result<()> {
    let plan = Plan {
        cut_after: Some(1),
        ..Plan::default()
    };
    let disk = Disk::serve(8, plan)?;
    let mut client = Client::connect(&disk.socket())?;
    assert!(client.flush().is_err());
    let (summary, folder) = disk.end()?;
    assert_eq!(summary.ending, Ending::Cut(Survivors::default()));
    assert_eq!(sector(folder.path(), 0)?, [0; 512]);
    Ok(())
}
