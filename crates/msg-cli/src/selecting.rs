//! Commands that take messages out of a document and write it back in its own format: `filter`, `trim`.
//!
//! Reads, writes and says what became of it; what stays decides the command.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use msg_core::{Code, Diagnostic};
use msg_document::{Document, Refusal};

use crate::context::Context;
use crate::documents::{EditArgs, Lines, Opened};
use crate::exit::{Failure, Status};
use crate::input;
use crate::jsonl::Answer;
use crate::options::without_own;
use crate::render::Quotes;

/// What became of one document.
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
        let (name, anew, n_lost) = (it.name().to_owned(), OnceLock::new(), AtomicUsize::new(0));
        let status = it.answer(|line| {
            let own = without_own(line);
            let mut document = Document::read(&own, &read)?;
            document.set_source(own.into_owned());
            let status = select(&mut document, line)?.status;
            document.expect_writer()?;
            if let Some(it) = left_out(&document) {
                let _ = anew.set(it);
            }
            let text = document.written();
            n_lost.fetch_add(document.lost_by_cut(&text).len(), Ordering::Relaxed);
            Ok(Answer::new(text, status))
        })?;
        let lost = |n: usize| {
            let text = format!("{n} values are left out that were not cut");
            Diagnostic::warning(Code::new("convert::lost-value"), text)
        };
        let lost = Some(n_lost.into_inner()).filter(|it| *it > 0).map(lost);
        say(cx, &name, anew.into_inner().into_iter().chain(lost));
        Ok(status)
    };
    let document = |it: Opened<'_>| one(cx, args, it, &select);
    args.run(cx, (&sources, None), (None, None), lines, document)
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
    let status = input::emptiness(cx, &document, &input.name);
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
