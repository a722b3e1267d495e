//! The context of every command besides its own arguments: the global options and standard error.
//!
//! It does not know the commands, nor what they read and write.
//!
//! Also has what the program takes from the machine: folders, likely names for a missing file, the time, and random
//! bits for ids and nonces.
//!
//! Runs a job for each item of a list, several in parallel; results are in order.

use std::{
    fs::{self, File},
    hash::{BuildHasher, Hasher},
    io::{self, Read, Write},
    num::NonZeroUsize,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use anstream::{AutoStream, ColorChoice};
use clap::Args;

use crate::exit::Status;
use crate::render;
use crate::render::{Folding, List, Quotes};
use crate::words::did_you_mean;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// When to use colours; NO_COLOR is respected.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    pub(crate) color: When,
    /// Print more on standard error, such as the format that was recognised.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Print no progress and no summaries, only data and problems.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

impl From<When> for ColorChoice {
    fn from(when: When) -> Self {
        match when {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        }
    }
}

/// Where text for people is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Standard output, which may be a terminal with colours.
    Stdout,
    File,
}

/// What every command gets besides its own arguments.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// `--verbose`.
    pub(crate) verbose: bool,
    /// `--quiet`.
    pub(crate) quiet: bool,
    /// Whether text on standard error is coloured.
    pub(crate) color_err: bool,
    color: ColorChoice,
    /// Whether secrets are replaced in messages; a command sets it with [`Context::redact`].
    redacts: Arc<AtomicBool>,
}

impl Context {
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        let color = ColorChoice::from(args.color);
        // Libraries without access to the context (clap, anstream's macros) use the same choice.
        color.write_global();
        let color_err = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
        Context {
            verbose: args.verbose,
            quiet: args.quiet,
            color_err,
            color,
            redacts: Arc::default(),
        }
    }

    /// From now on replaces secrets in all messages, if `asked` (SE-96).
    pub(crate) fn redact(&self, asked: bool) {
        self.redacts.store(asked, Ordering::Relaxed);
    }

    /// Whether text that goes to a place is coloured.
    pub(crate) fn color_on(&self, place: Place) -> bool {
        match (self.color, place) {
            (ColorChoice::Auto, Place::Stdout) => {
                AutoStream::choice(&io::stdout()) != ColorChoice::Never
            }
            (ColorChoice::Auto, Place::File) => false,
            (choice, _) => choice != ColorChoice::Never,
        }
    }

    /// Diagnostics about the document `name` for standard error: folded, unless `-v` is set.
    pub(crate) fn list<'a>(&self, name: &'a str, quotes: &'a Quotes) -> List<'a> {
        List { name, quotes, folding: self.folding(), color: self.color_err }
    }

    /// Whether similar diagnostics are folded.
    pub(crate) fn folding(&self) -> Folding {
        if self.verbose { Folding::Each } else { Folding::Alike }
    }

    /// Prints text for people on standard error, with colours. Lost if standard error is closed.
    pub(crate) fn note(&self, text: &str) {
        let mut err = io::stderr().lock();
        let text = match self.redacts.load(Ordering::Relaxed) {
            true => &render::text(text).0,
            false => text,
        };
        let text = render::visible_but_colours(text);
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    /// Prints a line on standard error.
    pub(crate) fn say(&self, text: &str) {
        self.note(&format!("msg: {}\n", render::visible(text)));
    }

    /// Prints a line on standard error with `-v` only.
    pub(crate) fn detail(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            self.say(&text());
        }
    }

    /// Prints a closing line on standard error if there is something to report, unless `--quiet`.
    pub(crate) fn summary(&self, text: impl FnOnce() -> String, status: Status) {
        if !self.quiet && (self.verbose || status != Status::Clean) {
            self.say(&text());
        }
    }
}

/// The folder that contains a file.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Adds the likely name to the error for a missing file.
pub(crate) fn explained(path: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    if fs::symlink_metadata(path).is_ok() {
        return io::Error::new(error.kind(), "a link to a file that is not there");
    }
    let names = fs::read_dir(folder(path)).into_iter().flatten().flatten();
    let names: Vec<String> = names.filter_map(|it| it.file_name().into_string().ok()).collect();
    let name = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let near = did_you_mean(&name, names.iter().map(String::as_str));
    io::Error::new(error.kind(), format!("no such file{near}"))
}

/// Whether a path is a folder: an existing one, or one to create, whose name ends with a separator.
pub(crate) fn is_folder(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    path.is_dir() || name.last().is_some_and(|it| std::path::is_separator(char::from(*it)))
}

// The current time, as written in files.

/// The current time in UTC, as RFC 3339: `2026-05-30T12:00:00Z`.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    msg_file::rfc3339(since.map_or(0, |it| it.as_secs()))
}

// Random bits, for ids and nonces.

/// From the system's random generator.
pub(crate) fn random() -> u64 {
    let mut bits = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut bits));
    match read {
        Ok(()) => u64::from_ne_bytes(bits),
        Err(_) => {
            // For systems without the device: the standard library's hash keys are random too.
            std::collections::hash_map::RandomState::new().build_hasher().finish()
        }
    }
}

/// The default number of threads: one per processor.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Runs `job` for each item, on `jobs` threads.
pub(crate) fn each<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    job: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let mut res: Vec<(usize, T)> = thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(it) = items.get(at) else { return done };
                done.push((at, job(it)));
            }
        };
        let threads: Vec<_> = (0..threads.min(items.len())).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|it| it.join().unwrap_or_default()).collect()
    });
    res.sort_by_key(|it| it.0);
    res.into_iter().map(|it| it.1).collect()
}
