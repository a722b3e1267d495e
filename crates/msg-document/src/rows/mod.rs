//! Rows of logs, exports, batches and data sets: documents with a conversation in one of their members, or with its
//! request in one and its answer in another (RW-1 to RW-8).
//!
//! ```text
//! {"id":7,"request":{"body":{"messages":[…]}}}     --field request.body
//! {"id":7,"input":[…],"output":{…}}                --join input,output
//!          └ taken out, answered, and put back; every other byte of the row stays
//! ```
//!
//! The commands compute the answers; a conversation from a row is a document like any other.
//!
//! Two halves, such as the columns of an export with requests and answers (SC-9), are only concatenated: `check`
//! reports whether the result is valid.
//!
//! ```text
//! input   null   a text: of the user        a list, a body, one message: its messages
//! output  null   a text: of the assistant   the same
//! ```

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};

use msg_core::{Code, Diagnostic, Message, Part, Position, Role};
use msg_formats::rows::{RowValue, is_lone_message};
use msg_formats::{Format, ReadOptions, Refusal, WriteOptions};
use msg_json::{JsonError, Kind, Problem, Reader, write_str};

use crate::document::Document;

pub use self::split::Row;

mod split;

/// A row without a conversation.
fn no_conversation(text: String) -> Refusal {
    Diagnostic::error(Code::new("document::no-conversation"), text).into()
}

/// The findings that are not in `known`: conversations with the same request share its findings.
pub(crate) fn new_findings(known: &[Diagnostic], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_same = |one: &Diagnostic, other: &Diagnostic| {
        one.code == other.code
            && one.at.pointer == other.at.pointer
            && one.at.message == other.at.message
    };
    let is_new =
        |it: &Diagnostic| it.at.pointer.is_none() || !known.iter().any(|known| is_same(known, it));
    found.into_iter().filter(is_new).collect()
}

/// The format of all conversations that were changed.
pub(crate) fn one_format(formats: &[Format]) -> Result<Format, Refusal> {
    let first = formats.first().copied().unwrap_or_default();
    match formats.iter().find(|it| **it != first) {
        Some(other) => Err(Refusal::bad_option(format!(
            "the row has conversations of {first} and of {other}: name one of them"
        ))),
        None => Ok(first),
    }
}

/// Answers one of many documents; a panic of `answer` becomes an error.
///
/// Fails as `answer` does, and with `document::panic` if it panics. The place has no line, because a row
/// is not a text file; the caller knows the number of the row (SC-18).
///
/// ```
/// use msg_document::{CheckOptions, answer_row, check};
///
/// let options = CheckOptions::default();
/// let rows = [&br#"[{"role":"user","content":"hi"}]"#[..], b"[", b"\xff"];
/// let ok: Vec<_> = rows.map(|row| answer_row(|| check(row, &options)).ok().map(|it| it.ok)).to_vec();
/// assert_eq!(ok, [Some(true), None, None]);
/// ```
pub fn answer_row<T>(answer: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    let answered = catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| Err(panicked()));
    answered.map_err(|it| it.at_line(None))
}

fn panicked() -> Refusal {
    let text = "internal error: this is a defect of msg, please report it with this document";
    Diagnostic::error(Code::new("document::panic"), text).into()
}

/// Joins an input and its output into one conversation, in the format of the first half that is a document. A
/// body stays a body, with more messages. `None` if both halves are null.
///
/// A half that begins with `[` or `{` is a document, a JSON string is its text, anything else is the text itself.
/// `null` and blank text count as null.
///
/// Fails for a document that cannot be read. Linear in both.
///
/// ```
/// use msg_document::{ReadOptions, join};
///
/// let output = br#"{"role":"assistant","content":"hello"}"#;
/// let joined = join(Some(b"hi"), Some(output), &ReadOptions::default())?;
/// let whole = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
/// assert_eq!(joined.as_deref(), Some(whole.as_bytes()));
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub fn join(
    input: Option<&[u8]>,
    output: Option<&[u8]>,
    read: &ReadOptions,
) -> Result<Option<Vec<u8>>, Refusal> {
    if input.is_none() && output.is_none() {
        return Ok(None);
    }
    Ok(Some(Joined::of(Half::read_both(input, output, read)?).document))
}

/// A conversation of two halves.
struct Joined {
    document: Vec<u8>,
    /// How many messages the request has.
    n_asked: usize,
    /// How many messages the answer has.
    n_answered: usize,
}

impl Joined {
    fn of((input, output): (Half, Half)) -> Self {
        let mut out = Vec::new();
        let (n_asked, n_answered);
        match (input, output) {
            (Half::Document(mut input), output) => {
                let mut messages = input.take_messages();
                let answer = output.into_messages(Role::Assistant);
                (n_asked, n_answered) = (messages.len(), answer.len());
                messages.extend(answer);
                input.put_edited(messages);
                input.write(&WriteOptions::default(), &mut out);
            }
            (input, output) => {
                let format = output.format();
                let mut messages = input.into_messages(Role::User);
                let answer = output.into_messages(Role::Assistant);
                (n_asked, n_answered) = (messages.len(), answer.len());
                messages.extend(answer);
                format.write_messages(&mut messages, &WriteOptions::default(), &mut out);
            }
        }
        Joined { document: out, n_asked, n_answered }
    }
}

/// One side of an export row.
enum Half {
    Nothing,
    Text(String),
    Document(Box<Document>),
}

impl Half {
    /// Reads a half.
    ///
    /// Fails for a document that cannot be read.
    fn read(bytes: Option<&[u8]>, read: &ReadOptions) -> Result<Self, Refusal> {
        let bytes = bytes.unwrap_or_default();
        read.expect_size(bytes)?;
        Ok(match bytes.trim_ascii() {
            b"" | b"null" => Half::Nothing,
            json @ [b'[' | b'{', ..] => {
                let document = document(json, read)?;
                expect_one_answer(json)?;
                Half::Document(Box::new(document))
            }
            json @ [b'"', ..] => Half::Text(match serde_json::from_slice(json) {
                Ok(text) => text,
                Err(_) => text(bytes)?,
            }),
            _ => Half::Text(text(bytes)?),
        })
    }

    /// Reads a request and its answer. A request of plain texts is valid in several formats; it is read in the format
    /// of its answer, so the answer is not converted.
    ///
    /// Fails for a document that cannot be read.
    fn read_both(
        input: Option<&[u8]>,
        output: Option<&[u8]>,
        read: &ReadOptions,
    ) -> Result<(Self, Self), Refusal> {
        let (asked, answered) = (Self::read(input, read)?, Self::read(output, read)?);
        Ok((asked.like(input.unwrap_or_default(), &answered, read), answered))
    }

    /// This half in the format of the other one, if its text means the same there.
    fn like(self, json: &[u8], other: &Half, read: &ReadOptions) -> Self {
        let (Half::Document(own), Half::Document(it)) = (&self, other) else { return self };
        let format = it.format();
        let is_open = read.from.is_none() && own.format() == Format::default();
        if !is_open || format == own.format() || !format.has_writer() {
            return self;
        }
        match document(json.trim_ascii(), &read.clone().with_from(Some(format))) {
            Ok(again) if again.notes().is_empty() && again.messages() == own.messages() => {
                Half::Document(Box::new(again))
            }
            _ => self,
        }
    }

    /// The format in which the conversation is written.
    fn format(&self) -> Format {
        match self {
            Half::Document(it) if it.format().has_writer() => it.format(),
            _ => Format::default(),
        }
    }

    fn into_messages(self, role: Role) -> Vec<Message> {
        match self {
            Half::Nothing => Vec::new(),
            Half::Text(text) => vec![Message::new(role).with_text(text)],
            Half::Document(it) => it.into_messages(),
        }
    }
}

/// Several answers to one question are not one conversation (RG-8). `json` was read.
fn expect_one_answer(json: &[u8]) -> Result<(), Refusal> {
    let Ok(text) = std::str::from_utf8(json) else { return Ok(()) };
    let body = msg_codec::Json::from_valid(text);
    let has_several =
        |it: &(&str, &str)| body.get(it.0).is_some_and(|it| it.elements().nth(1).is_some());
    let answers = [("choices", "message"), ("candidates", "content")];
    let Some((name, member)) = answers.into_iter().find(has_several) else { return Ok(()) };
    let text = format!("`{name}` has several answers, which are not one conversation");
    let found = Diagnostic::error(Code::new("message::foreign-format"), text);
    let way = format!("name one of them: `--join INPUT,OUTPUT.{name}[0].{member}`");
    Err(found.with_fix(way).into())
}

/// Reads a document, or a single message.
fn document(json: &[u8], read: &ReadOptions) -> Result<Document, Refusal> {
    Document::read(json, read).or_else(|refusal| {
        let list = [b"[", json, b"]"].concat();
        let is_object = json.starts_with(b"{");
        let alone = is_object.then(|| Document::read(&list, read).ok()).flatten();
        alone.filter(|it| !it.is_empty()).ok_or(refusal)
    })
}

fn text(bytes: &[u8]) -> Result<String, Refusal> {
    let text = std::str::from_utf8(bytes).map(str::to_owned);
    let error = |offset| JsonError { offset, problem: Problem::Utf8 };
    text.map_err(|it| msg_core::Error::from(error(it.valid_up_to())).into())
}

/// A value of the row.
#[derive(Debug, Clone)]
struct Side {
    range: Range<usize>,
    pointer: String,
    /// The value is a string that holds the JSON of the conversation.
    is_encoded: bool,
    /// The value is a single message, not a list of messages.
    is_single: bool,
}

impl Side {
    /// A half of a conversation as the document to write, in the form of the source, or `anew` in another format.
    fn half(
        &self,
        row: &str,
        messages: Vec<Message>,
        format: Format,
        read: &ReadOptions,
        anew: impl FnOnce(Vec<Message>) -> Vec<u8>,
    ) -> Result<Vec<u8>, Refusal> {
        let old = self.text(row);
        let json = match Half::read(Some(old.as_bytes()), read)? {
            Half::Document(mut it) if it.format() == format => {
                it.put_edited(messages);
                format.laid_out(old.as_bytes(), it.written())
            }
            Half::Text(_) if only_text(&messages).is_some() => {
                let mut json = Vec::new();
                write_str(&mut json, only_text(&messages).unwrap_or_default());
                json
            }
            _ => anew(messages),
        };
        Ok(self.unwrapped(&json).to_vec())
    }

    /// The text of the value: for a string that contains JSON, that JSON.
    fn text(&self, row: &str) -> String {
        let value = &row[self.range.clone()];
        if self.is_encoded { string_of(value).unwrap_or_default() } else { value.to_owned() }
    }

    /// The message of a list with one message, if the value was a single message.
    fn unwrapped<'j>(&self, json: &'j [u8]) -> &'j [u8] {
        let only = || {
            let mut reader = Reader::new(json).ok()?;
            reader.begin_array().ok()?;
            reader.next_element().ok()?.then_some(())?;
            let message = reader.raw().ok()?;
            (!reader.next_element().ok()?).then_some(message.as_bytes())
        };
        if self.is_single { only().unwrap_or(json) } else { json }
    }

    /// The value as it is in the row.
    fn value(&self, json: &[u8]) -> Vec<u8> {
        let json = json.trim_ascii_end();
        if !self.is_encoded {
            return json.to_vec();
        }
        let mut value = Vec::new();
        write_str(&mut value, &String::from_utf8_lossy(json));
        value
    }

    /// Moves the place of a finding from the document into the row.
    fn place(&self, at: &mut Position, base: (usize, usize), keeps: bool) {
        let inner = at.pointer.take().filter(|_| keeps).unwrap_or_default();
        let inner = if self.is_single { below(&inner) } else { &inner };
        let pointer = format!("{}{inner}", self.pointer);
        at.pointer = Some(pointer).filter(|it| !it.is_empty());
        // The row does not have the list around a single message.
        let added = usize::from(self.is_single);
        let (line, column) = match (at.line, at.column) {
            (Some(1), Some(column)) if keeps => (base.0, base.1 + column.saturating_sub(1 + added)),
            (Some(line), Some(column)) if keeps => (base.0 + line - 1, column),
            _ => base,
        };
        (at.line, at.column) = (Some(line), Some(column));
        let moved = |it: usize| keeps.then(|| (it + self.range.start).saturating_sub(added));
        (at.start, at.end) = (at.start.and_then(moved), at.end.and_then(moved));
    }
}

/// A value, and its text as a document or half of one; `None` for null.
fn side(row: &str, RowValue { range, pointer }: RowValue) -> Option<(Side, String)> {
    let value = &row[range.clone()];
    if value == "null" {
        return None;
    }
    let encoded = string_of(value).filter(|it| holds_json(it));
    let mut side = Side { range, pointer, is_encoded: encoded.is_some(), is_single: false };
    let mut text = encoded.unwrap_or_else(|| value.to_owned());
    if is_lone_message(&text) {
        side.is_single = true;
        text = format!("[{text}]");
    }
    Some((side, text))
}

/// Whether a text is JSON that may be a conversation.
fn holds_json(text: &str) -> bool {
    matches!(text.trim_ascii_start().as_bytes().first(), Some(b'[' | b'{'))
        && msg_json::validate(text).is_ok()
}

/// The text of a JSON string.
fn string_of(value: &str) -> Option<String> {
    value.starts_with('"').then(|| serde_json::from_str(value).ok()).flatten()
}

/// The text, if there is only one message with only a text.
fn only_text(messages: &[Message]) -> Option<&str> {
    match messages {
        [one] => match one.parts.as_slice() {
            [Part::Text(it)] => Some(&it.text),
            _ => None,
        },
        _ => None,
    }
}

/// Messages as a list, as documents of the format contain it.
fn list_of(mut messages: Vec<Message>, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    format.write_messages(&mut messages, &WriteOptions::default(), &mut out);
    let list = || {
        let mut reader = Reader::new(&out).ok()?;
        if reader.peek().ok()? != Kind::Object {
            return None;
        }
        reader.begin_object().ok()?;
        while reader.next_key().ok()?.is_some() {
            let is_list = reader.peek().ok()? == Kind::Array;
            let value = reader.raw().ok()?;
            if is_list {
                return Some(value.as_bytes().to_vec());
            }
        }
        None
    };
    list().unwrap_or(out)
}

/// The first step of a pointer.
fn first(pointer: &str) -> &str {
    pointer.split('/').nth(1).unwrap_or_default()
}

/// A pointer without its first step.
fn below(pointer: &str) -> &str {
    pointer.get(1..).and_then(|it| it.find('/')).map_or("", |at| &pointer[at + 1..])
}
