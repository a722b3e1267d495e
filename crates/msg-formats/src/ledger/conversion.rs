//! Accounts for the values of a document that was written in another format.

use msg_codec::Json;
use msg_core::{Diagnostic, Message};
use msg_forms::turns::LowerOptions;
use msg_session::{Blob, Session};

use super::{Account, MadeUp, Told, account, is_one, json_of, native};
use crate::codec::WriteOptions;
use crate::format::Format;
use crate::formats::document_in;
use crate::options::{Accept, ReadOptions};

/// A conversion: the formats and options.
#[derive(Debug)]
pub struct Conversion<'a> {
    /// The format of the source.
    pub from: Format,
    /// The format of the output.
    pub to: Format,
    /// How the source was read.
    pub read: &'a ReadOptions,
    /// How turns became messages.
    pub lower: &'a LowerOptions,
    /// How it was written.
    pub write: &'a WriteOptions,
    /// Whether the output has no ids, so results belong to calls by their places.
    pub lacks_ids: bool,
    /// Whether the output is a response, which repeats settings of its request.
    pub is_response: bool,
}

impl Conversion<'_> {
    /// Accounts for the values of `source` in `written`, given the report of the writer. `left_out` returns the names
    /// of members of the body that are known to be left out, from both as JSON; it is not called if one of them cannot
    /// be read. Linear in both.
    pub fn account(
        &self,
        (source, written): (&[u8], &[u8]),
        report: &[Diagnostic],
        left_out: impl FnOnce(&str, &str) -> Vec<String>,
    ) -> Account {
        let (from, to) = (self.from, self.to);
        // The document has been read before, whatever `accept` said.
        let read = ReadOptions { accept: Accept::All, ..self.read.clone() }.with_from(Some(from));
        let source = if from.is_session() { document_in(source) } else { source.into() };
        let source = json_of(&source, from, &read, self.lower);
        let as_written = ReadOptions::default().with_from(Some(to));
        let written = json_of(written, to, &as_written, self.lower);
        let Some((source, written)) = source.zip(written) else { return Account::default() };
        let told = Told {
            report,
            left_out: &left_out(&source, &written),
            from: from.name(),
            keeps_format: false,
            has_records: from.has_records() || from.name() == "otel",
            bookkeeping: (from.is_session() || from.name() == "otel")
                .then(|| list_member(from, &source).unwrap_or_default()),
            is_one: is_one(from, &source),
            lacks_ids: self.lacks_ids,
            has_text_calls: self.read.calls.are_in_texts(from),
            // The records of an agent are not a request.
            has_settings: !self.is_response && !from.has_records(),
            made_up: if to.is_session() { self.made_up() } else { MadeUp::default() },
            kept: None,
            messages: &|| match from.is_json() {
                true => native(source.as_bytes(), &read, self.lower),
                false => Some(source.to_string()),
            },
        };
        account(&source, &written, &told)
    }

    /// The values that a session always contains: those of one with texts that no source has.
    fn made_up(&self) -> MadeUp {
        let mut messages =
            vec![Message::user("a sample 7d1c"), Message::assistant("of a session 52e0")];
        let mut out = Vec::new();
        self.to.write_messages(&mut messages, self.write, &mut out);
        String::from_utf8(out).map(|it| MadeUp::of(&it)).unwrap_or_default()
    }
}

/// The member of the body that holds the messages of a store.
fn list_member(from: Format, source: &str) -> Option<String> {
    if !source.trim_start().starts_with('{') || !is_one(from, source) {
        return None;
    }
    let body = Json::from_valid(source);
    if from.name() == "swe-agent" {
        return ["history", "messages"]
            .into_iter()
            .find(|it| body.get(it).is_some())
            .map(str::to_owned);
    }
    let session = Session::new(from.name().parse().ok()?, vec![Blob::new("", source)]);
    let list = session.list_of_messages()?.start;
    let place = |it: &str| it.as_ptr().addr() - source.as_ptr().addr();
    let holds = |it: &str| (place(it)..place(it) + it.len()).contains(&list);
    body.members().find(|it| holds(it.1.source())).map(|it| it.0.into_owned())
}
