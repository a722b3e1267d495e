//! A page, opened in the browser of whoever asks.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::exit::Failure;

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
