//! What can be typed after `pebble`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Build, run, test and look at Pebble systems.
#[derive(Parser)]
#[command(name = "pebble", version, about, max_term_width = 100)]
pub struct Arguments {
    /// Show what is built and every message of the system.
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Write reports as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Boot a system: with a shell, or with one program whose output and exit status become this command's.
    Run(Run),
    /// Check formats, lint, build and run every test; ends with one line `N passed, N failed`.
    Test(Test),
    /// Measure: instruction counts of every row of bench/, the same in each run; status 1 when a limit is passed.
    Bench(Bench),
    /// Build a system and its bundle without running it.
    Build(Build),
    /// Say what is missing or wrong on this machine and how to mend it.
    Doctor,
    /// Make a new component outside the tree.
    New(New),
    /// Show the domains, portals and names of a described system.
    Graph(Graph),
    /// Make, check, show and copy images of the single-level store.
    Store(Store),
    /// Compare the files generated from abi/ with what it says.
    Abi(Abi),
}

/// `pebble run`.
#[derive(Args)]
pub struct Run {
    /// A .c or .cpp file, a folder with a Rust crate or C files, or a ready ELF; none: the shell.
    pub program: Option<PathBuf>,
    /// End a run after this many seconds [default: 60; none with the shell or --gdb].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,
    /// System description.
    #[arg(long, value_name = "FILE")]
    pub system: Option<PathBuf>,
    /// More components, and more rights for the program, added to the description.
    #[arg(long, value_name = "FILE")]
    pub with: Option<PathBuf>,
    /// Virtual time by instructions: every run is the same to the digit.
    #[arg(long)]
    pub icount: bool,
    /// Wait for a debugger before the first instruction.
    #[arg(long)]
    pub gdb: bool,
    /// On the RTL of Rocket instead of QEMU, cycle by cycle: booting takes minutes [system: systems/rocket.toml].
    #[arg(long, conflicts_with_all = ["icount", "gdb", "accel", "cpu", "memory"])]
    pub rtl: bool,
    /// With --rtl: QEMU boots, and the RTL goes on where the program begins to measure.
    #[arg(long, requires = "rtl")]
    pub begin: bool,
    /// QEMU accelerator, passed on as it is.
    #[arg(long, value_name = "NAME")]
    pub accel: Option<String>,
    /// QEMU processor, passed on as it is [default: QEMU's own].
    #[arg(long, value_name = "NAME")]
    pub cpu: Option<String>,
    /// Memory of the machine in MiB [default: 128].
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub memory: Option<u32>,
    /// The program's arguments.
    #[arg(last = true, value_name = "ARG")]
    pub arguments: Vec<String>,
}

/// `pebble test`.
#[derive(Args)]
pub struct Test {
    /// Run only what has this in its name.
    pub filter: Option<String>,
    /// Rewrite expected outputs that are kept in files.
    #[arg(long)]
    pub bless: bool,
    /// Try as much as before a release: a hundred million crashes of the store, for hours.
    #[arg(long)]
    pub long: bool,
}

/// `pebble bench`.
#[derive(Args)]
pub struct Bench {
    /// Names or numbers of rows; none: all.
    pub rows: Vec<String>,
    /// Fewer samples, as in `pebble test`.
    #[arg(long)]
    pub quick: bool,
    /// In cycles: on the RTL of a real processor, which is built the first time.
    #[arg(long, conflicts_with_all = ["peer", "report"])]
    pub rtl: bool,
    /// Measure another system too, in the same machine; the first time it is built, which takes long.
    #[arg(long, value_name = "NAME")]
    pub peer: Option<PeerName>,
    /// Write a page with plots, and all samples, into this folder.
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
}

/// Systems that Pebble is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PeerName {
    /// Debian's Linux, the smallest configuration that has what is measured.
    Linux,
}

/// `pebble build`.
#[derive(Args)]
pub struct Build {
    /// System description.
    #[arg(long, value_name = "FILE")]
    pub system: Option<PathBuf>,
    /// Where to write the bundle.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Languages with an SDK.
#[derive(Clone, Copy, ValueEnum)]
pub enum Language {
    /// C, with picolibc.
    C,
    /// Rust, without std.
    Rust,
}

/// `pebble new`.
#[derive(Args)]
pub struct New {
    /// Name of the component; a folder of that name is made here. May have a path before it.
    pub name: PathBuf,
    /// Language.
    #[arg(long)]
    pub lang: Language,
}

/// `pebble graph`.
#[derive(Args)]
pub struct Graph {
    /// System description [default: systems/default.toml].
    pub system: Option<PathBuf>,
    /// Write a picture.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `pebble store`.
#[derive(Args)]
pub struct Store {
    /// What to do with images.
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// The commands of `pebble store`. Several images are the disks of one volume.
#[derive(Subcommand)]
pub enum StoreCommand {
    /// Make an image from a description of processes, nodes and pages.
    Mkimage(MakeImage),
    /// Read everything in an image and say what is wrong; status 1 if something is.
    Fsck(CheckImage),
    /// Show generations, objects, processes, banks and capabilities.
    Show(ShowImage),
    /// Write a generation as a stream, for keeping elsewhere.
    Send(SendImage),
    /// Make an image from a stream.
    Receive(ReceiveImage),
    /// Serve an image to QEMU as a disk whose power can be cut.
    Serve(ServeImage),
}

/// `pebble store mkimage`.
#[derive(Args)]
pub struct MakeImage {
    /// The description (docs/reference/store-tools.md).
    pub description: PathBuf,
    /// Where the image goes.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Further disks of the same volume, with the same contents.
    #[arg(long, value_name = "FILE")]
    pub replica: Vec<PathBuf>,
}

/// `pebble store fsck`.
#[derive(Args)]
pub struct CheckImage {
    /// Image files, or disks.
    #[arg(required = true)]
    pub images: Vec<PathBuf>,
    /// Write what is certain; what was there before goes into a file beside the image.
    #[arg(long)]
    pub repair: bool,
}

/// `pebble store show`.
#[derive(Args)]
pub struct ShowImage {
    /// Image files, or disks.
    #[arg(required = true)]
    pub images: Vec<PathBuf>,
    /// The generation to show [default: the newest].
    #[arg(long, value_name = "NUMBER")]
    pub generation: Option<u64>,
    /// Draw the capabilities.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `pebble store send`.
#[derive(Args)]
pub struct SendImage {
    /// Image files, or disks.
    #[arg(required = true)]
    pub images: Vec<PathBuf>,
    /// The generation to send [default: the newest].
    #[arg(long, value_name = "NUMBER")]
    pub generation: Option<u64>,
    /// Where the stream goes [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `pebble store receive`.
#[derive(Args)]
pub struct ReceiveImage {
    /// The stream [default: standard input].
    pub stream: Option<PathBuf>,
    /// Where the image goes.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Further disks of the same volume, with the same contents.
    #[arg(long, value_name = "FILE")]
    pub replica: Vec<PathBuf>,
}

/// `pebble store serve`.
#[derive(Args)]
pub struct ServeImage {
    /// The image.
    pub image: PathBuf,
    /// Wait for QEMU at this socket.
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "port",
        conflicts_with = "port"
    )]
    pub socket: Option<PathBuf>,
    /// Wait for QEMU at this port of the loopback address; 0 for any.
    #[arg(long)]
    pub port: Option<u16>,
    /// Cut the power after this event: a write received, a flush received, a flush done.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub cut_after: Option<u64>,
    /// Cut the power when QEMU leaves, too.
    #[arg(long)]
    pub cut_at_end: bool,
    /// What is lost, kept and torn comes from this number.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// Let this flush fail, counted from 1; may be given more than once.
    #[arg(long, value_name = "NUMBER")]
    pub fail_flush: Vec<u64>,
    /// Hold back this many requests at most, to answer them in another order.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub hold: u64,
    /// End after this many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub limit: u64,
}

/// `pebble abi`.
#[derive(Args)]
pub struct Abi {
    /// Rewrite the generated files.
    #[arg(long)]
    pub write: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn everything_after_two_dashes_is_the_program_s() {
        let parsed =
            Arguments::try_parse_from(["pebble", "run", "a.c", "--icount", "--", "-v", "--", "x"]);
        let Ok(Arguments {
            command: Command::Run(run),
            verbose,
            ..
        }) = parsed
        else {
            panic!("not parsed as run")
        };
        assert_eq!(run.arguments, ["-v", "--", "x"]);
        assert!(run.icount && !verbose);
    }
}
