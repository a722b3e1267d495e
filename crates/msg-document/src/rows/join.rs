//! One conversation of two halves: an export has the request in one column and the answer in another (SC-9).
//!
//! Halves are put one after the other and nothing else: whether the whole is sound is for `check` to say.
//!
//! ```text
//! input   null   a text: of the user        a list, a body, one message: its messages
//! output  null   a text: of the assistant   the same
//! ```

use msg_core::{Code, Diagnostic, Message, Role};
use msg_json::{JsonError, Problem};

use crate::codec::WriteOptions;
use crate::document::Document;
use crate::format::Format;
use crate::read_options::ReadOptions;
use crate::refusal::Refusal;

/// The conversation of an input and its output, in the format of the first half that is a document: a body stays
/// a body with longer messages. Nothing if both halves are null.
///
/// A half that begins like JSON with `[` or `{` is a document, one that is a JSON string is its text, any other is
/// the text itself; `null` and blanks are not a half.
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
    Ok(Some(Joined::of(Half::read(input, read)?, Half::read(output, read)?).document))
}

/// A conversation of two halves.
pub(super) struct Joined {
    pub(super) document: Vec<u8>,
    /// How many messages the request has.
    pub(super) n_asked: usize,
    /// How many messages the answer has.
    pub(super) n_answered: usize,
}

impl Joined {
    pub(super) fn of(input: Half, output: Half) -> Self {
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
                format.codec().write(&mut messages, &WriteOptions::default(), &mut out);
            }
        }
        Joined { document: out, n_asked, n_answered }
    }
}

/// One side of an export row.
pub(super) enum Half {
    Nothing,
    Text(String),
    Document(Box<Document>),
}

impl Half {
    /// Reads a half.
    ///
    /// Fails for a document that cannot be read.
    pub(super) fn read(bytes: Option<&[u8]>, read: &ReadOptions) -> Result<Self, Refusal> {
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

    /// The format in which the conversation is written.
    fn format(&self) -> Format {
        match self {
            Half::Document(it) if it.format().codec().has_writer() => it.format(),
            _ => Format::default(),
        }
    }

    pub(super) fn into_messages(self, role: Role) -> Vec<Message> {
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

/// A document, or a message alone.
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
