//! Where a command writes to: standard output, or a file that appears whole or not at all.
//!
//! Does not know what it writes. A file is a temporary one in the same folder, renamed over the
//! target by [`Output::finish`]; dropped before that, it leaves nothing behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::cli::Context;
use crate::exit::Failure;
use crate::input::Input;
use crate::render::safe;
use crate::signals;
use crate::terminal;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct OutputArgs {
    /// Write to FILE instead of standard output; it appears whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl OutputArgs {
    /// Opens the output. Refuses the file that `input` is read from.
    pub(crate) fn open(&self, input: &Input) -> Result<Output, Failure> {
        match &self.output {
            Some(path) if path.as_os_str() != "-" => Output::file(path, input),
            _ => Ok(Output::stdout()),
        }
    }

    /// The closing line for people once a conversation has been written to a file: where it is, and
    /// what may be done with it.
    pub(crate) fn say_written(&self, cx: &Context) {
        let Some(path) = self.output.as_ref().filter(|it| !cx.quiet && it.as_os_str() != "-")
        else {
            return;
        };
        let path = safe(&path.display().to_string());
        cx.note(&format!(
            "wrote {path}; try `msg stats {path}`, or `msg view {path} -o page.html`\n"
        ));
    }
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReportArgs {
    /// Write what was changed or lost to FILE, a line of `{"edits":[…]}` a document.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

impl ReportArgs {
    /// Opens the report, if one was asked for. Refuses the file of the input or of `output`.
    pub(crate) fn open(&self, input: &Input, output: &Output) -> Result<Option<Output>, Failure> {
        let Some(path) = &self.report else { return Ok(None) };
        let report = Output::file(path, input)?;
        match (&report.target, &output.target) {
            (Target::Atomic { path, .. }, Target::Atomic { path: other, .. }) if path == other => {
                Err(Failure::Usage(format!("{} cannot hold output and report", report.name)))
            }
            _ => Ok(Some(report)),
        }
    }
}

/// An open output.
pub(crate) struct Output {
    name: String,
    target: Target,
}

enum Target {
    Stdout,
    /// A pipe, a terminal, `/dev/null`: renaming over it would replace it.
    Special(File),
    Atomic {
        temporary: NamedTempFile,
        path: PathBuf,
    },
}

impl Output {
    /// Standard output.
    pub(crate) fn stdout() -> Self {
        Output { name: "<stdout>".to_owned(), target: Target::Stdout }
    }

    /// A file that is replaced at the end. Fails if its folder cannot be written, and for the
    /// file that `input` is read from: no command changes its input.
    pub(crate) fn file(path: &Path, input: &Input) -> Result<Self, Failure> {
        let name = path.display().to_string();
        // The target of a link is replaced, not the link.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let input = input.path.as_deref().and_then(|it| fs::canonicalize(it).ok());
        if input.is_some_and(|it| it == real) {
            let text = format!("{name} is the input, which is never changed; name another file");
            return Err(Failure::Usage(text));
        }
        let target = match fs::metadata(&real) {
            Ok(meta) if meta.is_dir() => {
                Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"))
            }
            Ok(meta) if !meta.is_file() => {
                OpenOptions::new().write(true).open(&real).map(Target::Special)
            }
            meta => atomic(real, meta.ok().map(|it| it.permissions())),
        };
        let target = target.map_err(|source| Failure::write(&name, source))?;
        Ok(Output { name, target })
    }

    /// Whether this is standard output (whose colours a terminal may show).
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.target, Target::Stdout)
    }

    /// Writes all of `bytes` and hands them on. A terminal gets what they look like, and is not
    /// commanded by them.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.show(bytes).map_err(|source| Failure::write(&self.name, source))
    }

    /// The same for what comes in pieces of whole characters.
    pub(crate) fn stream(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        write(&mut Pieces(self)).map_err(|source| Failure::write(&self.name, source))
    }

    fn show(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_terminal() {
            let text = String::from_utf8_lossy(bytes);
            return self.put(terminal::visible(&text).as_bytes());
        }
        self.put(bytes)
    }

    /// Writes text for people, in our colours.
    pub(crate) fn write_coloured(&mut self, text: &str) -> Result<(), Failure> {
        if self.is_terminal() {
            let text = terminal::visible_but_colours(text);
            return self.put(text.as_bytes()).map_err(|source| Failure::write(&self.name, source));
        }
        self.put(text.as_bytes()).map_err(|source| Failure::write(&self.name, source))
    }

    fn is_terminal(&self) -> bool {
        match &self.target {
            Target::Stdout => io::stdout().is_terminal(),
            Target::Special(file) => file.is_terminal(),
            Target::Atomic { .. } => false,
        }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.target {
            Target::Stdout => {
                let mut it = io::stdout().lock();
                it.write_all(bytes).and_then(|()| it.flush())
            }
            Target::Special(file) => file.write_all(bytes),
            Target::Atomic { temporary, .. } => temporary.write_all(bytes),
        }
    }

    /// Makes the output final: until here a file has not appeared.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let done = match self.target {
            Target::Stdout | Target::Special(_) => Ok(()),
            Target::Atomic { temporary, path } => replace(temporary, &path),
        };
        done.map_err(|source| Failure::write(self.name, source))
    }
}

/// An output that takes pieces.
struct Pieces<'a>(&'a mut Output);

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.show(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Ends the last line of a document, if it is not ended.
pub(crate) fn end_line(text: &mut Vec<u8>) {
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
}

fn atomic(path: PathBuf, existing: Option<fs::Permissions>) -> io::Result<Target> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".msg-");
    #[cfg(unix)]
    if existing.is_none() {
        use std::os::unix::fs::PermissionsExt;
        // What any program would create; the process's mask still applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let folder = folder(&path);
    let made = signals::temporary(|| builder.tempfile_in(folder), |it| it.path().to_owned());
    let temporary = made.map_err(|it| match it.kind() {
        // What the system says names a temporary file that nobody asked for.
        io::ErrorKind::NotFound => {
            io::Error::new(it.kind(), format!("there is no folder {}", folder.display()))
        }
        io::ErrorKind::PermissionDenied => {
            io::Error::new(it.kind(), format!("no file may be made in {}", folder.display()))
        }
        _ => it,
    })?;
    if let Some(permissions) = existing {
        temporary.as_file().set_permissions(permissions)?;
    }
    Ok(Target::Atomic { temporary, path })
}

fn replace(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    temporary.as_file().sync_all()?;
    let name = temporary.path().to_owned();
    temporary.persist(path).map_err(|it| it.error)?;
    signals::forget(&name);
    // The new name is only durable once its folder is; not every system can sync a folder.
    if let Ok(folder) = File::open(folder(path)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
