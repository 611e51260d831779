//! How many images of cuts a second this machine makes and reads, without any store: the ceiling of every campaign.

use std::time::Instant;

use pebble_store_device::{BlockDevice, Request, Tag, FRAME_SIZE};
use pebble_store_simulation::{Fates, Image, Machine, Order, Random};

fn main() {
    let machine = Machine::new(&[Image::new(128)], 1, Order::Random, 16);
    let mut disk = machine.disk(0);
    for at in 0..12 {
        let buffer = Box::new([at as u8; FRAME_SIZE]);
        disk.submit(Tag(at), Request::Write { at, buffer })
            .expect("there is room in the queue");
    }
    let cut = machine.cut();
    let mut random = Random::new(1);
    let start = Instant::now();
    let (mut states, mut sum) = (0_u64, 0_u64);
    while start.elapsed().as_secs() < 2 {
        for fates in Fates::samples(&cut, &mut random, 100) {
            let images = cut.images(&fates);
            let machine = Machine::new(&images, states, Order::Submission, 16);
            let mut disk = machine.disk(0);
            for at in 0..12 {
                let buffer = Box::new([0; FRAME_SIZE]);
                if disk.submit(Tag(at), Request::Read { at, buffer }).is_ok() {
                    let done = disk.poll().and_then(|done| done.buffer);
                    sum += done.map_or(0, |buffer| u64::from(buffer[100]));
                }
            }
            states += 1;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = states as f64 / seconds;
    println!("{rate:.0} images a second, each made and 12 frames read ({sum} in bytes seen)");
}
