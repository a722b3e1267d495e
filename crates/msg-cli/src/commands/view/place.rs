//! Where pages go: standard output, a file and its neighbours, a folder, or a temporary folder for a browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use msg_view::{Pages, ViewOptions};

use crate::exit::Failure;
use crate::input::Input;
use crate::machine::is_folder;
use crate::output::Output;
use crate::sources::Sources;

/// Where pages go.
pub(super) enum Place {
    Stdout,
    /// The first page; further ones are beside it.
    File(PathBuf),
    /// A page for each input, under its name.
    Folder(PathBuf),
}

impl Place {
    /// Where `output` says, or where a browser finds them. Fails for several inputs without a folder.
    pub(super) fn new(
        output: Option<&Path>,
        browser: bool,
        sources: &Sources,
    ) -> Result<Self, Failure> {
        match output.filter(|it| it.as_os_str() != "-") {
            Some(path) if !sources.is_one() || is_folder(path) => {
                Ok(Place::Folder(path.to_owned()))
            }
            Some(path) => Ok(Place::File(path.to_owned())),
            None if browser => Ok(Place::Folder(temporary()?)),
            None if sources.is_one() => Ok(Place::Stdout),
            None => {
                Err(Failure::Usage("several inputs need -o FOLDER: a page for each".to_owned()))
            }
        }
    }

    /// Whether there may be several pages.
    pub(super) fn is_file(&self) -> bool {
        !matches!(self, Place::Stdout)
    }

    /// The first page of an input, if it is a file.
    pub(super) fn of(&self, input: &Input) -> Result<Option<PathBuf>, Failure> {
        let folder = match self {
            Place::Stdout => return Ok(None),
            Place::File(path) => return Ok(Some(path.clone())),
            Place::Folder(folder) => folder,
        };
        std::fs::create_dir_all(folder).map_err(|it| Failure::write_file(folder, it))?;
        let name = input.path.as_deref().and_then(Path::file_stem);
        let name = name.map_or_else(|| "page".into(), |it| it.to_string_lossy());
        Ok(Some(folder.join(format!("{name}.html"))))
    }

    /// Opens a page.
    pub(super) fn open(&self, path: Option<&Path>, sources: &Sources) -> Result<Output, Failure> {
        path.map_or_else(|| Ok(Output::stdout()), |it| Output::file(it, sources))
    }
}

/// The options of pages of which the first is this file.
pub(super) fn named(options: ViewOptions, path: Option<&Path>) -> ViewOptions {
    match path.and_then(Path::file_name) {
        Some(name) => options.with_file(name.to_string_lossy()),
        None => options,
    }
}

/// The file of a page: the first, or one beside it.
pub(super) fn page(first: &Path, pages: &Pages<'_>, number: usize) -> PathBuf {
    match number {
        0 => first.to_owned(),
        number => first.with_file_name(pages.file_name(number)),
    }
}

/// A folder that stays: a browser opens the page after this program has ended.
fn temporary() -> Result<PathBuf, Failure> {
    let folder = tempfile::Builder::new().prefix("msg-view-").tempdir();
    folder.map(tempfile::TempDir::keep).map_err(|it| Failure::write("a temporary folder", it))
}

// A page, opened in the browser of whoever asks.

/// Opens the file: with `$BROWSER`, else with what the system opens pages with. Says where the page is if
/// that cannot be done.
pub(super) fn open(page: &Path) -> Result<(), Failure> {
    let mut command = command();
    let status = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).status();
    let why = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    let program = command.get_program().display();
    Err(Failure::Refused(format!(
        "no browser opened ({program}: {why}): set BROWSER, or open {} yourself",
        page.display()
    )))
}

fn command() -> Command {
    if let Some(program) = std::env::var_os("BROWSER").filter(|it| !it.is_empty()) {
        return Command::new(program);
    }
    if cfg!(target_os = "macos") {
        return Command::new("open");
    }
    if cfg!(windows) {
        return Command::new("explorer");
    }
    Command::new("xdg-open")
}
