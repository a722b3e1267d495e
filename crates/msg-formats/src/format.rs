//! The names of the formats; the formats themselves are in `formats`.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use msg_cache::Rewrite;
use msg_codec::StreamFamily;
use msg_core::{Code, Diagnostic, Message};

use crate::codec::Codec;
use crate::formats::FORMATS;
use crate::refusal::Refusal;

/// A conversation format.
///
/// ```
/// use msg_formats::Format;
///
/// let format: Format = "responses".parse()?;
/// assert_eq!((format.name(), format.is_json()), ("responses", true));
/// # Ok::<(), msg_formats::Refusal>(())
/// ```
#[derive(Clone, Copy)]
pub struct Format(&'static dyn Codec);

impl Format {
    /// All formats, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Format> {
        FORMATS.iter().map(|it| Format(*it))
    }

    /// The name, as in `--from` and `--to`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// A one-line description.
    pub fn about(self) -> &'static str {
        self.0.about()
    }

    /// Whether its documents are JSON, so each fits on a line.
    pub fn is_json(self) -> bool {
        self.0.is_json()
    }

    /// Whether its documents are sessions of an agent, which may still write to them.
    pub fn is_session(self) -> bool {
        self.0.judges_itself()
    }

    /// Whether it consists of an agent's records, whose members are mostly bookkeeping.
    pub fn has_records(self) -> bool {
        self.0.has_records()
    }

    /// The finding about what an edit of an agent's session leaves out: only its messages are written (SE-81).
    pub(crate) fn written_anew(self) -> Option<Diagnostic> {
        let text = "a session that is edited is written anew, from its messages alone";
        let fix = "its ids, times and other records are left out; `msg doctor --fix` mends a session in place";
        let it = Diagnostic::warning(Code::new("session::written-anew"), text).with_fix(fix);
        (self.is_session() && self.0.has_writer()).then_some(it)
    }

    /// What a prompt cache must write again after an edit of a document of this format. `None` if nothing changed in
    /// the order of the cache, and for formats that are not requests.
    pub fn rewrite(self, before: &[u8], after: &[u8]) -> Option<Rewrite> {
        Rewrite::between(before, after, msg_cache::Family::named(self.name())?)
    }

    pub(crate) fn codec(self) -> &'static dyn Codec {
        self.0
    }
}

// Properties of its documents.

impl Format {
    /// The name for people: `OpenAI chat`.
    pub fn title(self) -> &'static str {
        self.0.title()
    }

    /// Whether it is the format of an API, whose responses can be read.
    pub fn is_of_an_api(self) -> bool {
        self.0.is_of_an_api()
    }

    /// Whether documents of it can be written.
    pub fn has_writer(self) -> bool {
        self.0.has_writer()
    }

    /// Fails for a format that can only be read.
    pub fn expect_writer(self) -> Result<(), Refusal> {
        if self.has_writer() { Ok(()) } else { Err(self.0.unwritten()) }
    }

    /// Whether its calls are in the text of assistant messages, because it has no members for them.
    pub fn has_text_calls(self) -> bool {
        self.0.has_text_calls()
    }

    /// Whether its documents usually have several user messages in a row, such as a cell and its output.
    pub fn joins_users(self) -> bool {
        self.0.joins_users()
    }

    /// The stream families for its responses.
    pub fn families(self) -> &'static [StreamFamily] {
        self.0.families()
    }

    /// The messages of a document, and the findings of its reader, without what surrounds the messages. JSON must not
    /// begin with a byte order mark.
    ///
    /// Fails as the reader does, with the place.
    pub fn read_messages(self, json: &[u8]) -> Result<(Vec<Message>, Vec<Diagnostic>), Refusal> {
        self.0.read(json, "").map(|it| (it.messages, it.notes))
    }
}

/// `openai`.
impl Default for Format {
    fn default() -> Self {
        Format(FORMATS[0])
    }
}

impl FromStr for Format {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        Format::all().find(|it| it.name() == name).ok_or_else(|| {
            let known: Vec<_> = Format::all().map(Format::name).collect();
            Refusal::bad_option(format!(
                "no format is called {name:?}, expected {}",
                known.join(", ")
            ))
        })
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// By name.
impl Ord for Format {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for Format {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name())
    }
}

msg_core::serde_as_text!(Format);
