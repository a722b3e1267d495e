//! Commands that take messages out of a document and write it back in its own format: `filter`, `trim`.
//!
//! Reads, writes and reports; the command decides what stays.

use std::sync::{Mutex, OnceLock, PoisonError};

use msg_core::{Code, Diagnostic};
use msg_document::{Document, Refusal};

use crate::context::Context;
use crate::documents::{EditArgs, Lines, Opened};
use crate::exit::{Failure, Status};
use crate::input;
use crate::jsonl::Answer;
use crate::options::without_own;
use crate::render::Quotes;

/// The outcome for one document.
pub(crate) struct Selected {
    /// A sentence about it, for people.
    pub(crate) said: String,
    pub(crate) status: Status,
    /// Nothing is written: the file stays as it is.
    pub(crate) is_refused: bool,
}

/// Takes messages out of each input by `select`, which is given the line too, for the options that it brings.
pub(crate) fn run(
    cx: &Context,
    args: &EditArgs,
    select: impl Fn(&mut Document, &[u8]) -> Result<Selected, Refusal> + Sync,
) -> Result<Status, Failure> {
    let sources = args.sources(None)?;
    let read = args.input.of_a_line();
    let lines = |it: Lines<'_>| {
        let (name, anew, lost) =
            (it.name().to_owned(), OnceLock::new(), Mutex::new(Lost::default()));
        let status = it.answer_numbered(|number, line| {
            let own = without_own(line);
            let mut document = Document::read(&own, &read)?;
            document.set_source(own.into_owned());
            let status = select(&mut document, line)?.status;
            document.expect_writer()?;
            if let Some(it) = left_out(&document) {
                let _ = anew.set(it);
            }
            let text = document.written();
            let of_line = document.lost_by_cut(&text);
            if !of_line.is_empty() {
                lost.lock().unwrap_or_else(PoisonError::into_inner).add(number, of_line);
            }
            Ok(Answer::new(text, status))
        })?;
        let lost = lost.into_inner().unwrap_or_else(PoisonError::into_inner).into_list();
        say(cx, &name, anew.into_inner().into_iter().chain(lost));
        Ok(status)
    };
    let document = |it: Opened<'_>| one(cx, args, it, &select);
    args.run(cx, (&sources, None), (None, None), lines, document)
}

/// As many values are said of an input of lines; of the others how many they are.
const SAID: usize = 1000;

/// The values that are left out of lines and were not cut.
#[derive(Default)]
struct Lost {
    said: Vec<Diagnostic>,
    more: usize,
}

impl Lost {
    fn add(&mut self, line: Option<u64>, lost: Vec<Diagnostic>) {
        for mut it in lost {
            it.at.line = line.and_then(|it| usize::try_from(it).ok());
            match self.said.len() < SAID {
                true => self.said.push(it),
                false => self.more += 1,
            }
        }
    }

    /// In the order of the lines.
    fn into_list(mut self) -> Vec<Diagnostic> {
        self.said.sort_by_key(|it| it.at.line);
        if self.more > 0 {
            let text = format!("{} more values are left out", self.more);
            self.said.push(Diagnostic::warning(Code::new("convert::lost-value"), text));
        }
        self.said
    }
}

fn one(
    cx: &Context,
    args: &EditArgs,
    Opened { mut input, mut out, sources, .. }: Opened<'_>,
    select: &impl Fn(&mut Document, &[u8]) -> Result<Selected, Refusal>,
) -> Result<Status, Failure> {
    let mut document = input::open_to_write(cx, &mut input, &args.input)?;
    let is_json = document.format().is_json();
    args.pretty.expect(is_json, "a message file is none")?;
    if document.format().is_session() {
        out.replaces_a_session();
    }
    let status = input::say_unread(cx, &document, &input.name);
    let selected = select(&mut document, b"");
    let selected = selected.and_then(|it| document.expect_writer().map(|()| it));
    let selected = selected.map_err(|it| Failure::refused(it, &input.name))?;
    let status = selected.status.max(status);
    if !cx.quiet || selected.is_refused {
        let name = if sources.is_one() { String::new() } else { format!("{}: ", input.name) };
        cx.note(&format!("{name}{}\n", selected.said));
    }
    if selected.is_refused {
        return Ok(status);
    }
    let text = document.written();
    let lost = document.lost_by_cut(&text);
    say(cx, &input.name, left_out(&document).into_iter().chain(lost));
    out.write_document(&if is_json { args.pretty.laid_out(text) } else { text })?;
    args.output.finish(cx, out)?;
    Ok(status)
}

/// What an edited session leaves out.
fn left_out(document: &Document) -> Option<Diagnostic> {
    document.written_anew()
}

/// Says it, once for all lines of an input.
fn say(cx: &Context, name: &str, left_out: impl Iterator<Item = Diagnostic>) {
    if !cx.quiet {
        let left_out: Vec<_> = left_out.collect();
        cx.note(&cx.list(name, &Quotes::default()).edits(&left_out));
    }
}
