//! The tables.

use std::fmt::Write;

use super::facts::{Capability, Facts};

/// Everything, as text.
pub fn render(name: &str, facts: &Facts) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(name, facts, &mut out);
    out
}

fn optional(number: Option<u64>) -> String {
    number.map_or("-".into(), |number| number.to_string())
}

fn write(name: &str, facts: &Facts, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "{name}: volume {}, header {}\n",
        facts.volume, facts.header
    )?;
    writeln!(out, "disk      frames    header")?;
    for disk in &facts.disks {
        let out_of_date = if disk.counts {
            ""
        } else {
            "  out of date: nothing on it counts"
        };
        writeln!(
            out,
            "{:4}  {:>10}  {:>8}{out_of_date}",
            disk.number,
            disk.frames,
            optional(disk.header)
        )?;
    }
    writeln!(
        out,
        "\nrange  kind         frames  first object frame  first frame on each disk"
    )?;
    for range in &facts.ranges {
        let first: Vec<String> = range.first.iter().map(|first| optional(*first)).collect();
        writeln!(
            out,
            "{:5}  {:8}  {:>9}  {:>18}  {}",
            range.number,
            range.kind,
            range.frames,
            optional(range.base),
            first.join(" ")
        )?;
    }
    writeln!(
        out,
        "\ngeneration  parent  taken                           objects  processes  log"
    )?;
    for listed in &facts.generations {
        writeln!(
            out,
            "{:>10}  {:>6}  {:30}  {:>7}  {:>9}  {}..{}{}",
            listed.number,
            listed.parent,
            moment(listed.time),
            listed.objects,
            listed.processes,
            listed.first_log,
            listed.end_log,
            if listed.complete {
                ""
            } else {
                "  under migration"
            }
        )?;
    }
    writeln!(
        out,
        "\ngeneration {}, {} object frames\n",
        facts.generation,
        facts.objects.len()
    )?;
    writeln!(
        out,
        "       frame  kind             version  where            generation  checksum"
    )?;
    for object in &facts.objects {
        let place = match object.at {
            Some(at) => format!("{} {at}", object.place),
            None => object.place.into(),
        };
        writeln!(
            out,
            "{:>12}  {:15}  {:>7}  {place:15}  {:>10}  {}",
            object.frame,
            object.kind,
            object.version,
            optional(object.generation),
            object.checksum
        )?;
    }
    writeln!(
        out,
        "\nprocesses to start\n      object  version  call count  priority"
    )?;
    for process in &facts.processes {
        writeln!(
            out,
            "{:>12}  {:>7}  {:>10}  {:>8}",
            process.object, process.version, process.call_count, process.priority
        )?;
    }
    writeln!(out, "\nbanks\n      object  objects in use  object numbers")?;
    for bank in &facts.banks {
        let ranges: Vec<String> = bank
            .ranges
            .iter()
            .map(|(first, end)| format!("{first}..{end}"))
            .collect();
        writeln!(
            out,
            "{:>12}  {:>14}  {}",
            bank.object,
            bank.objects,
            ranges.join(" ")
        )?;
    }
    writeln!(out, "\ncapabilities")?;
    for holder in &facts.holders {
        writeln!(
            out,
            "{:>12}  {} of version {}",
            holder.object, holder.kind, holder.version
        )?;
        for capability in &holder.capabilities {
            writeln!(out, "{:>16} -> {}", capability.slot, phrase(capability))?;
        }
    }
    Ok(())
}

fn phrase(capability: &Capability) -> String {
    let mut text = format!("{} {}", capability.kind, capability.object);
    if capability.data > 0 {
        text += &format!(" data {}", capability.data);
    }
    for right in &capability.rights {
        text += " ";
        text += right;
    }
    if !capability.valid {
        text += &format!(" (of version {}: void)", capability.version);
    }
    text
}

/// A moment in universal time, from nanoseconds since 1970.
fn moment(time: u64) -> String {
    let (seconds, nanoseconds) = (time / 1_000_000_000, time % 1_000_000_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years from March on, in 400-year cycles of 146,097 days: the leap day comes last.
    let shifted = days + 719_468;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = shifted / 146_097 * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year}-{month:02}-{day:02} {:02}:{:02}:{:02}.{nanoseconds:09}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates() {
        assert_eq!(moment(0), "1970-01-01 00:00:00.000000000");
        assert_eq!(
            moment(951_782_400_000_000_001),
            "2000-02-29 00:00:00.000000001"
        );
        assert_eq!(
            moment(1_735_689_599_000_000_000),
            "2024-12-31 23:59:59.000000000"
        );
        assert_eq!(
            moment(4_107_542_400_000_000_000),
            "2100-03-01 00:00:00.000000000"
        );
    }
}
