//! What a command reads: one input, or several by paths and patterns, in the order in which they were named.
//!
//! ```text
//! msg check a.json 'logs/**/*.json'   a.json, then the files that match, by name
//! msg check -                         standard input; so does nothing where something is piped in
//! ```
//!
//! A pattern is read only where no file has that very name. Opening and reading is `input`'s.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use msg_document::ObjectWriter;

use crate::context::Context;
use crate::exit::{Failure, Status, refuse_if};
use crate::input::Input;
use crate::render::{self, safe};

/// The inputs of a run.
pub(crate) struct Sources {
    /// None for what is piped in.
    paths: Vec<Option<PathBuf>>,
    max_bytes: u64,
}

impl Sources {
    /// Finds what was named. Fails for a pattern that nothing matches, and for standard input named
    /// twice.
    pub(crate) fn find(named: &[PathBuf], max_bytes: u64) -> Result<Self, Failure> {
        let is_dash = |it: &&PathBuf| it.as_os_str() == "-";
        let is_twice = named.iter().filter(is_dash).count() > 1;
        refuse_if(is_twice, "standard input (`-`) is named twice, and can be read once")?;
        let mut paths = Vec::new();
        for path in named {
            match pattern(path) {
                Some(pattern) => paths.extend(matching(pattern)?.into_iter().map(Some)),
                None => paths.push(Some(path.clone())),
            }
        }
        if paths.is_empty() {
            paths.push(None);
        }
        Ok(Sources { paths, max_bytes })
    }

    /// Whether there is one input, so that its answer needs no name.
    pub(crate) fn is_one(&self) -> bool {
        self.paths.len() == 1
    }

    /// The files among them: what no output may overwrite.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().flatten().map(PathBuf::as_path).filter(|it| it.as_os_str() != "-")
    }

    /// Whether this file is one of them, by whatever name.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let real = fs::canonicalize(path);
        real.is_ok_and(|real| {
            self.files().any(|it| fs::canonicalize(it).is_ok_and(|it| it == real))
        })
    }

    /// Whether something other than a file is read.
    pub(crate) fn has_standard_input(&self) -> bool {
        self.files().count() < self.paths.len()
    }

    /// Refuses an option that is about one document.
    pub(crate) fn expect_one(&self, option: &str, is_given: bool) -> Result<(), Failure> {
        refuse_if(
            is_given && !self.is_one(),
            format!("{option} is for one input, and there are several"),
        )
    }

    /// The JSON answer about one of them: with `path` first, where there are several.
    pub(crate) fn headed_json(&self, name: &str, json: Vec<u8>) -> Vec<u8> {
        match self.is_one() {
            true => json,
            false => ObjectWriter::new().with("path", &name).all_of(&json).finish(),
        }
    }

    /// The line above an answer for people, where there are several.
    pub(crate) fn head(&self, name: &str) -> String {
        if self.is_one() { String::new() } else { format!("==> {} <==\n", safe(name)) }
    }

    /// Answers each input in turn. With several, one that cannot be answered is said and the run goes on;
    /// the status is the highest of all.
    pub(crate) fn each(
        &self,
        cx: &Context,
        mut one: impl FnMut(Input) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        self.each_path(cx, |path| self.open(path).and_then(&mut one))
    }

    /// As [`Sources::each`], for a command that opens them itself; what is piped in has no path.
    pub(crate) fn each_path(
        &self,
        cx: &Context,
        mut one: impl FnMut(Option<&Path>) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        let mut worst = Status::Clean;
        for path in &self.paths {
            worst = worst.max(match one(path.as_deref()) {
                Ok(status) => status,
                Err(failure) if self.is_one() || matches!(failure, Failure::ClosedPipe) => {
                    return Err(failure);
                }
                Err(failure) => {
                    cx.note(&render::failure(&failure, cx.color_err));
                    Status::Failed
                }
            });
        }
        Ok(worst)
    }

    /// Opens the one input there is.
    pub(crate) fn open_one(&self) -> Result<Input, Failure> {
        match self.paths.as_slice() {
            [path] => self.open(path.as_deref()),
            _ => Err(Failure::Usage("this command takes one input at a time".to_owned())),
        }
    }

    /// Opens one of them.
    pub(crate) fn open(&self, path: Option<&Path>) -> Result<Input, Failure> {
        Input::open(path, self.max_bytes)
    }
}

/// The text of a path that is to be read as a pattern.
fn pattern(path: &Path) -> Option<&str> {
    let text = path.to_str().filter(|it| it.contains(['*', '?', '[']))?;
    path.symlink_metadata().is_err().then_some(text)
}

/// The files that match a pattern, by name.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let bad =
        |it: &dyn std::fmt::Display| Failure::Usage(format!("{pattern} is not a pattern: {it}"));
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let found = glob::glob_with(pattern, options).map_err(|it| bad(&it))?;
    let mut paths = Vec::new();
    for path in found {
        let path = path.map_err(|it| Failure::read(it.path().display().to_string(), it.into()))?;
        // A pipe would be waited for.
        if path.is_file() {
            paths.push(path);
        }
    }
    match paths.is_empty() {
        true => Err(Failure::read(pattern, io::Error::other("no file has such a name"))),
        false => Ok(paths),
    }
}
