//! The formats as values of `--from` and `--to`, and a document as a command opens it.
//!
//! What formats there are, and what each is, says `msg-document`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use msg_core::Diagnostic;
use msg_document::{Calls, Document, Format, Refusal};

use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::input::{Input, InputArgs};
use crate::render::Quotes;

/// The parser of a format's name.
pub(crate) fn parser() -> impl TypedValueParser<Value = Format> {
    let value = |it: Format| PossibleValue::new(it.name()).help(it.about());
    let names = PossibleValuesParser::new(Format::all().map(value));
    names.map(|name| name.parse().expect("because the names are those of formats"))
}

/// The parser of where calls are.
pub(crate) fn calls_parser() -> impl TypedValueParser<Value = Calls> {
    let names = PossibleValuesParser::new(["native", "xml"]);
    names.map(|name| if name == "xml" { Calls::Xml } else { Calls::Native })
}

/// Reads all of `input`, says with `-v` what it is, and gives the place where it is wrong.
pub(crate) fn open(cx: &Context, input: &mut Input, args: &InputArgs) -> Result<Document, Failure> {
    let bytes = input.read_all()?;
    read(cx, bytes, &input.name, args)
}

/// As [`open`], of a document that is written again: it keeps its layout.
pub(crate) fn open_to_write(
    cx: &Context,
    input: &mut Input,
    args: &InputArgs,
) -> Result<Document, Failure> {
    let bytes = input.read_all()?;
    let document = Document::read(&bytes, &args.of_a_document(&input.name));
    written_again(cx, document, bytes, &input.name, args)
}

/// As [`open_to_write`], but turns stay turns.
pub(crate) fn open_unlowered(
    cx: &Context,
    input: &mut Input,
    args: &InputArgs,
) -> Result<Document, Failure> {
    let bytes = input.read_all()?;
    let document = Document::read_unlowered(&bytes, &args.of_a_document(&input.name));
    written_again(cx, document, bytes, &input.name, args)
}

/// A document that has been read from `bytes`, or why it is none.
pub(crate) fn written_again(
    cx: &Context,
    document: Result<Document, Refusal>,
    bytes: Vec<u8>,
    name: &str,
    args: &InputArgs,
) -> Result<Document, Failure> {
    match document {
        Ok(mut document) => {
            say(cx, &document, name, args.from);
            document.set_source(bytes);
            Ok(document)
        }
        Err(refusal) => Err(Failure::document(refusal, name, bytes)),
    }
}

/// As [`open`], of bytes that have been read. They are dropped here: from now on only the messages
/// take memory.
pub(crate) fn read(
    cx: &Context,
    bytes: Vec<u8>,
    name: &str,
    args: &InputArgs,
) -> Result<Document, Failure> {
    let document = Document::read(&bytes, &args.of_a_document(name));
    document
        .map_err(|it| Failure::document(it, name, bytes))
        .inspect(|it| say(cx, it, name, args.from))
}

/// What a run is worth whose document may have no messages: it says so, and nothing is not sound.
pub(crate) fn emptiness(cx: &Context, document: &Document, name: &str) -> Status {
    if !document.is_empty() {
        return Status::Clean;
    }
    if !cx.quiet {
        let found: Vec<_> =
            document.notes().iter().filter(|it| is_no_messages(it)).cloned().collect();
        cx.note(&cx.list(name, &Quotes::default()).findings(&found));
    }
    Status::Problems
}

fn is_no_messages(it: &Diagnostic) -> bool {
    it.code.as_str() == "message::no-messages"
}

fn say(cx: &Context, document: &Document, name: &str, named: Option<Format>) {
    if named.is_none() {
        cx.detail(|| format!("{name}: recognised as {}", document.format()));
    }
}
