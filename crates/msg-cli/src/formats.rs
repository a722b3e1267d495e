//! The formats as values of `--from` and `--to`, and a document as a command opens it.
//!
//! What formats there are, and what each is, says `msg-document`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use msg_document::{Document, Format, ReadOptions, recognise};

use crate::cli::Context;
use crate::exit::Failure;
use crate::input::Input;

/// The parser of a format's name.
pub(crate) fn parser() -> impl TypedValueParser<Value = Format> {
    let value = |it: Format| PossibleValue::new(it.name()).help(it.about());
    let names = PossibleValuesParser::new(Format::all().map(value));
    names.map(|name| name.parse().expect("because the names are those of formats"))
}

/// Reads all of `input`, says with `-v` what it is, and gives the place where it is wrong.
pub(crate) fn open(
    cx: &Context,
    input: &mut Input,
    named: Option<Format>,
) -> Result<Document, Failure> {
    let bytes = input.read_all()?;
    read(cx, bytes, &input.name, named)
}

/// As [`open`], of bytes that have been read. They are dropped here: from now on only the messages
/// take memory.
pub(crate) fn read(
    cx: &Context,
    bytes: Vec<u8>,
    name: &str,
    named: Option<Format>,
) -> Result<Document, Failure> {
    let options = options(cx, &bytes, name, named);
    Document::read(&bytes, &options).map_err(|it| Failure::document(it, name, bytes))
}

/// How a document of a file is read.
pub(crate) fn options(
    cx: &Context,
    bytes: &[u8],
    name: &str,
    named: Option<Format>,
) -> ReadOptions {
    let format = named.unwrap_or_else(|| recognise(bytes, name));
    if named.is_none() {
        cx.detail(|| format!("{name}: recognised as {format}"));
    }
    ReadOptions::default().with_from(Some(format)).with_name(name.to_owned())
}
