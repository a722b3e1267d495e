//! Formats that are known and not read: what has a marker of one is refused by its name, never read as something
//! else (RG-5 to RG-7).
//!
//! A row names its format once that is read, if nothing but these marks tells it from others. To add one: a line in a table here, with the
//! marks that `marks` explains.
//!
//! ```text
//! {"modelId":"m","messages":[{"content":[{"toolUse":{…}}]}]}
//!   ─▶ message::foreign-format: "this looks like a Bedrock Converse document (toolUse in message 0); msg reads …"
//! ```

mod apis;
mod frameworks;
mod marks;
mod rows;
mod texts;

use msg_core::Diagnostic;

pub(crate) use self::marks::{Found, find};
pub(crate) use self::texts::text;
pub(crate) use crate::foreign::texts::stored;
use crate::format::Format;
use crate::outline::Outline;
use crate::refusal::{Refusal, foreign};

/// A format that is not read.
pub(crate) struct Foreign {
    /// What a document of it is called: `an Anthropic Messages body`.
    pub(crate) what: &'static str,
    /// What can be given instead; `""` if nothing is known.
    way: &'static str,
    /// What only its documents have.
    marks: &'static [&'static str],
    /// Whether lines with such a document are all of one, as those of a log are.
    pub(crate) spans_lines: bool,
    /// The format that reads both halves of it, where they are its own (RG-8).
    pub(crate) read_by: &'static str,
    /// Where its conversation is, where that is always so: the first of these that it has (RW-6).
    pub(crate) fields: &'static [&'static str],
    /// The format that such a document is, where it is read; `""` of what is not.
    pub(crate) format: &'static str,
}

/// The tables. The first row of which a document has a marker names it.
static TABLES: &[&[Foreign]] = &[rows::TABLE, apis::TABLE, frameworks::TABLE, texts::TABLE];

impl Foreign {
    const fn new(what: &'static str, marks: &'static [&'static str]) -> Self {
        Foreign { what, way: "", marks, spans_lines: false, read_by: "", fields: &[], format: "" }
    }

    const fn way(self, way: &'static str) -> Self {
        Foreign { way, ..self }
    }

    const fn read_by(self, read_by: &'static str) -> Self {
        Foreign { read_by, ..self }
    }

    const fn holds(self, fields: &'static [&'static str]) -> Self {
        Foreign { fields, ..self }
    }

    /// A format that is read, by what only its documents have.
    const fn of_format(self, format: &'static str) -> Self {
        Foreign { format, ..self }
    }

    const fn spans(self) -> Self {
        Foreign { spans_lines: true, ..self }
    }
}

impl Found {
    /// The format that the document is in, if that is read; else its refusal.
    pub(crate) fn format(&self) -> Result<Format, Refusal> {
        match Format::all().find(|it| it.name() == self.row.format) {
            Some(format) => Ok(format),
            None => Err(self.refusal()),
        }
    }

    /// The refusal of the document.
    pub(crate) fn refusal(&self) -> Refusal {
        let res = looks_like(&format!("{} ({})", self.row.what, self.shown()));
        if self.row.way.is_empty() { res.into() } else { res.with_fix(self.row.way).into() }
    }
}

/// A refusal of a document that is called so.
fn looks_like(what: &str) -> Diagnostic {
    foreign(format!("this looks like {what}; msg reads {}", known()))
}

/// A refusal of a document that nothing is known of, with what it has.
pub(crate) fn nothing_known(outline: &Outline<'_>) -> Refusal {
    let what = match outline.is_broken() {
        true => "text that is not JSON".to_owned(),
        false => described(outline),
    };
    let res = foreign(format!("not a format that msg reads: {what}; msg reads {}", known()));
    match outline.source().is_some() || outline.is_broken() {
        true => res.with_fix(TEXTS).into(),
        false => res.into(),
    }
}

const TEXTS: &str = "conversations are JSON, sessions and message files (`.msg.md`); `msg tools` reads what a model wrote";

/// The formats that most documents are in, and how many others there are. Of JSON: what is refused here is, and a build
/// without message files says the same.
fn known() -> String {
    const USUAL: [&str; 5] = ["openai", "anthropic", "gemini", "responses", "claude-code"];
    let others = Format::all().filter(|it| it.is_json() || it.is_session());
    let others = others.filter(|it| !USUAL.contains(&it.name())).count();
    format!("{} and {others} more formats (`msg convert --help` lists them)", USUAL.join(", "))
}

/// `an object with a, b, c`.
fn described(outline: &Outline<'_>) -> String {
    let names = |members: &mut dyn Iterator<Item = &str>| {
        let names: Vec<_> = members.take(4).map(|it| format!("`{it}`")).collect();
        if names.is_empty() { "no members".to_owned() } else { names.join(", ") }
    };
    if let Some(entry) = outline.entry() {
        return format!("an object with {}", names(&mut entry.members().iter().map(|it| it.0)));
    }
    let Some(list) = outline.list("") else { return "text that is not JSON".to_owned() };
    match list.records().next() {
        Some(it) => {
            format!("a list of objects with {}", names(&mut it.members().iter().map(|it| it.0)))
        }
        None => "a list without objects".to_owned(),
    }
}
