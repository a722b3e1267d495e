//! Paths of files: the folder of one, and what one that is missing is probably called.

use std::fs;
use std::io;
use std::path::Path;

use crate::words::did_you_mean;

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that is not there is probably called a little otherwise.
pub(crate) fn explained(path: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    let names = fs::read_dir(folder(path)).into_iter().flatten().flatten();
    let names: Vec<String> = names.filter_map(|it| it.file_name().into_string().ok()).collect();
    let name = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let near = did_you_mean(&name, names.iter().map(String::as_str));
    io::Error::new(error.kind(), format!("no such file{near}"))
}

/// Whether a path names a folder: one that is there, or one to be made, whose name ends in a separator.
pub(crate) fn is_folder(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    path.is_dir() || name.last().is_some_and(|it| std::path::is_separator(char::from(*it)))
}
