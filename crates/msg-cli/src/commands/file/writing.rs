//! What the subcommands that append share: how a file is opened for it, and what is said when it is done.
//!
//! A line of `--jsonl` touches no file: the new document comes back (MF-48).

use std::collections::VecDeque;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::Diagnostic;
use msg_document::to_json;
use msg_file::store::{Appender, Durability};
use msg_file::{AppendOptions, Document, Entry, Mode, Nonce, refuse_other_kinds, store};
use serde::Serialize;

use super::request::{Answered, FileArgs, Options, Request, failed, print, refused};
use crate::context::Context;
use crate::exit::{Failure, Status, refuse_if};
use crate::input::Input;
use crate::jsonl::Answer;
use crate::random::random;
use crate::signals;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct WriteArgs {
    /// Switch a Markdown file on, write to a newer format or a file of another kind, take an id that is
    /// there. Appending to a message file needs none: that is what it is for.
    #[arg(long)]
    force: bool,
    /// When it counts as done: on the disk, handed to the system, or neither [default: sync].
    #[arg(long, value_enum)]
    durability: Option<Durable>,
}

/// When an append counts as done, as it is named here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Durable {
    /// On the disk.
    #[default]
    Sync,
    /// Handed to the system, with a journal.
    Flush,
    /// No journal, no sync: for imports that can be repeated.
    None,
}

impl WriteArgs {
    /// Refuses what only a file has use for, where lines come and go.
    pub(super) fn none_given(&self) -> Result<(), Failure> {
        refuse_if(
            self.force || self.durability.is_some(),
            "--force and --durability are for a file: with --jsonl a line brings its options",
        )
    }

    pub(super) fn open(
        &self,
        cx: &Context,
        file: &FileArgs,
    ) -> Result<(Appender, String), Failure> {
        let path = file.path()?;
        let name = path.display().to_string();
        // A message file has no section that could end; nothing of it is read here.
        if Mode::of(path) == Mode::Markdown && path.exists() {
            let request = file.request(Options::default())?;
            if let Ok(document) = request.document() {
                say_if_below(cx, &document, &name);
            }
        }
        let durability = match self.durability.unwrap_or_default() {
            Durable::Sync => Durability::Sync,
            Durable::Flush => Durability::Flush,
            Durable::None => Durability::None,
        };
        signals::clean_up();
        let max_bytes = usize::try_from(file.limit.max_bytes).unwrap_or(usize::MAX);
        let options = store::Options {
            durability,
            force: self.force.into(),
            max_bytes,
            ..store::Options::default()
        };
        let log = Appender::open(path, options).map_err(|it| failed(it, &name))?;
        Ok((log, name))
    }
}

/// Says that a cell will be below a heading with which the section of a Markdown file ends for its readers.
pub(in crate::commands) fn say_if_below(cx: &Context, document: &Document, name: &str) {
    let found = document.check();
    let is_it = |it: &&Diagnostic| it.code.as_str() == "msgfile::text-after-section";
    if let Some(it) = found.iter().find(is_it) {
        let line = it.at.line.map_or(String::new(), |it| format!("line {it}: "));
        cx.say(&format!(
            "{name}: {line}the section ends with this heading, and the new cell comes below it [{}]",
            it.code
        ));
    }
}

/// The acknowledgement of an append.
#[derive(Serialize)]
pub(super) struct Ack<'a> {
    id: &'a str,
    start: u64,
    end: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mended: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    recovered: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [Diagnostic],
}

pub(super) fn ack(it: &store::Appended) -> Ack<'_> {
    let (start, end) = (it.span.start, it.span.end);
    let mended = it.mended.map(store::Mended::as_str);
    Ack { id: &it.id, start, end, mended, recovered: &it.recovered, warnings: &it.warnings }
}

/// Says what was appended: JSON, or the ids for people.
pub(super) fn acknowledge(
    done: &[store::Appended],
    json: bool,
    cx: &Context,
) -> Result<(), Failure> {
    for it in done {
        for warning in &it.warnings {
            cx.say(&warning.to_string());
        }
        print(&if json { to_json(&ack(it)) } else { it.id.clone().into_bytes() })?;
    }
    Ok(())
}

/// What is in a file, or piped in, within a limit of bytes.
pub(super) fn read_all(path: Option<&Path>, max_bytes: u64) -> Result<Vec<u8>, Failure> {
    Input::open(path, max_bytes)?.read_all()
}

/// Where an appended cell is, in an answer.
#[derive(Serialize)]
struct At<'a> {
    id: &'a str,
    start: usize,
    end: usize,
}

#[derive(Serialize)]
struct Appended<'a> {
    output_b64: String,
    appended: Vec<At<'a>>,
}

/// The document with these entries after its last cell.
pub(super) fn append_all(request: &Request, entries: Vec<Entry>) -> Answered {
    if !request.options.force {
        let name = Path::new(&request.name);
        refuse_other_kinds(name, &request.document()?).map_err(refused)?;
    }
    let mut nonces = Nonces::of(request.options.nonces.clone());
    let options = AppendOptions::default().with_force(request.options.force.into());
    let mut nonce = || nonces.next();
    let (bytes, placed) =
        msg_file::append(&request.bytes, request.mode(), entries, &options, &mut nonce)
            .map_err(refused)?;
    let appended =
        placed.iter().map(|it| At { id: &it.id, start: it.span.start, end: it.span.end }).collect();
    Ok(Answer::of(&Appended { output_b64: BASE64_STANDARD.encode(bytes), appended }, Status::Clean))
}

// Nonces for ids of calls: from the request, or from the system's generator (MF-37).

/// Where nonces come from.
pub(in crate::commands) enum Nonces {
    /// Those of the request, in order.
    Given(VecDeque<String>),
    /// The system's generator.
    System,
}

impl Nonces {
    pub(in crate::commands) fn of(given: Option<Vec<String>>) -> Self {
        given.map_or(Nonces::System, |it| Nonces::Given(it.into()))
    }

    /// The next one. A list that has come to its end gives empty ones, which are not nonces.
    pub(in crate::commands) fn next(&mut self) -> Nonce {
        match self {
            Nonces::Given(list) => Nonce::from(list.pop_front().unwrap_or_default()),
            Nonces::System => Nonce::from_random(random()),
        }
    }
}
