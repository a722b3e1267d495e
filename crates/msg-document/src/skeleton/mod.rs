//! Plain chat messages without their long texts: enough for a check and a repair, read in one pass.
//!
//! ```text
//! {"messages":[{"role":"user","content":"Please read the … and tell me"},{"role":"assistant","content":"Yes"}]}
//!   ─▶  user "␟0"   assistant "Yes"
//! ```
//!
//! Most documents are OpenAI chat messages with few members, and most of them are valid. The rules only need to know
//! whether a text is blank and how it ends, so texts are not decoded or copied. Members that no rule reads are skipped;
//! if they are unusual, recognition decides by their names whether the document has another format. For other types or
//! spellings, for text that is not JSON, and for answers that would quote a long text or a byte offset, the result is
//! `None`, and the document is read whole. The answers are the same either way.
//!
//! Its shape is used to recognise a document with members that plain chat does not have: their names and the kinds of
//! their values. `recognise` decides whether it has another format.
//!
//! ```text
//! {"role":"assistant","agent":"main","usage":{"total":9},"content":"…"}
//!   ─▶  {"agent":"","usage":{},"role":"assistant","content":""}
//! ```

use std::borrow::Cow;

use memchr::memchr;
use msg_chainast::Profile;
use msg_core::Diagnostic;
use msg_formats::{
    CallForms, Format, ReadOptions,
    layout::ListPlace,
    names::{is_telling, is_watched, is_wrapping},
};
use msg_json::{JsonStr, Kind, Reader, unescape, write_str};

use self::hidden::hides_calls;
use self::medium::judges_data;
use self::message::{Conversation, Names, Seen};
use crate::api_shapes::{has_other_calls, is_orphan, may_have_orphans};
use crate::check::{Checked, Repaired};
use crate::document::Document;
use crate::options::{CheckOptions, RepairOptions};

pub use self::mended::MendedMessage;

mod hidden;
mod medium;
mod mended;
mod message;

/// The mark before the number of a long text. If a text of the document contains the mark, the document is read whole.
const MARK: char = '\u{e000}';

/// Plain chat messages without their long texts, for a fast check or repair.
///
/// ```
/// use msg_document::{CheckOptions, ReadOptions, Skeleton};
///
/// let json = br#"[{"role":"assistant","content":"hello"}]"#;
/// let skeleton = Skeleton::of_json(json, &ReadOptions::default()).ok_or("not plain")?;
/// let checked = skeleton.check(&CheckOptions::default()).ok_or("needs the texts")?;
/// assert_eq!(checked.diagnostics[0].code.as_str(), "chain::unexpected-first-role");
///
/// let other = br#"[{"role":"assistant","parts":[{"text":"hello"}]}]"#;
/// assert!(Skeleton::of_json(other, &ReadOptions::default()).is_none());
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Skeleton {
    document: Document,
    /// Whether members were dropped about which some provider may have a rule.
    has_more: bool,
    /// Whether a member is missing that an API may require. The API rules see that in the text.
    lacks: bool,
    /// Whether there are media. Only the beginning of their data is kept.
    has_media: bool,
    /// The names of members that no chain rule reads. They matter to providers that refuse a name, and to edits that
    /// list the members of a message.
    names: Names,
    place: ListPlace,
}

impl Skeleton {
    /// The skeleton of JSON text. `None` if the whole document must be read. Linear, at most one pass.
    pub fn of_json(json: &[u8], options: &ReadOptions) -> Option<Self> {
        Skeleton::of_text(std::str::from_utf8(json).ok()?, options)
    }

    /// As [`Skeleton::of_json`], for text that is known to be UTF-8.
    pub(crate) fn of_text(json: &str, options: &ReadOptions) -> Option<Self> {
        let fits = json.len() as u64 <= options.max_bytes;
        let mut source = JsonText::new(json).filter(|_| fits)?;
        let skeleton = Skeleton::read(&mut source, options)?;
        source.has_ended().then_some(skeleton)
    }

    /// The skeleton of any source. `None` if the whole document must be read. The caller checks that the source
    /// is not too large.
    pub fn read(source: &mut impl Cursor, options: &ReadOptions) -> Option<Self> {
        if !is_plain(options) {
            return None;
        }
        let found = message::conversation(source).filter(|it| !it.messages.is_empty())?;
        let Conversation { messages, has_more, seen, head, place, .. } = found;
        let chat = (Format::default(), messages);
        let document = msg_formats::Document::of_messages(chat, head, options).into();
        let Seen { names, lacks, has_media, .. } = seen;
        Some(Skeleton { document, has_more, lacks, has_media, names, place })
    }

    /// The findings of a check of the document. `None` if they require the whole document.
    pub fn check(&self, options: &CheckOptions) -> Option<Checked> {
        let found = self.found(None, options)?;
        let is_told = !self.asks_api(&found, options);
        is_told.then(|| self.checked(found, None, options))?
    }

    /// As [`Skeleton::check`], for a document with this text. With a profile, also applies its API rules and adds the
    /// places of the findings.
    pub(crate) fn check_text(&self, json: &str, options: &CheckOptions) -> Option<Checked> {
        let found = self.found(Some(json), options)?;
        let text = self.asks_api(&found, options).then_some(json);
        let mut checked = self.checked(found, text, options)?;
        let is_quick = |it: &Diagnostic| it.code == "chain::missing-tool-result";
        if options.profile.is_some() && !checked.diagnostics.iter().all(is_quick) {
            self.document.locate_in(json, None, &mut checked.diagnostics);
        }
        Some(checked)
    }

    /// The findings of the chain rules and the profile.
    fn found(&self, json: Option<&str>, options: &CheckOptions) -> Option<Vec<Diagnostic>> {
        if !self.is_judged(options.profile.as_ref(), options.chain) || options.messages.is_some() {
            return None;
        }
        // Only the whole document tells whether it is a request, in which calls must have results, or an answer.
        let has_calls =
            || self.document.messages().iter().any(|it| it.tool_calls().next().is_some());
        if self.document.is_lone_answer() && has_calls() {
            return None;
        }
        let found = self.document.check_chain(options);
        let is_certain = !found.iter().any(is_orphan) || self.shows_all_calls(json);
        is_certain.then_some(found)
    }

    /// Whether the skeleton shows all calls: the dropped texts and members contain none.
    fn shows_all_calls(&self, json: Option<&str>) -> bool {
        let hides_calls = || hides_calls(self.document.messages(), &self.place, json);
        !self.has_more && self.names.say_nothing() && !hides_calls()
    }

    /// Whether the API rules, which need the text, may find more.
    fn asks_api(&self, found: &[Diagnostic], options: &CheckOptions) -> bool {
        options.profile.is_some() && (self.lacks || !found.iter().all(is_of_chain))
    }

    fn checked(
        &self,
        found: Vec<Diagnostic>,
        text: Option<&str>,
        options: &CheckOptions,
    ) -> Option<Checked> {
        let list = Some(&self.place.list);
        let (checked, _) = self.document.check_found(found, (text, list), options);
        Some(checked).filter(|it| !needs_texts(&it.diagnostics))
    }

    /// The repaired messages and the edits; no messages without edits. `None` if the repair requires the whole
    /// document. `whole` returns the JSON array of those messages whose meaning an edit changes.
    pub fn repair(
        mut self,
        options: &RepairOptions,
        whole: impl FnOnce(&[usize]) -> Option<Vec<u8>>,
    ) -> Option<(Vec<MendedMessage>, Vec<Diagnostic>)> {
        let mend = |document| mended::repair(document, &self.names, options, whole);
        self.can_mend(None, options).then(|| mend(&mut self.document))?
    }

    /// Repairs the document with this text; `None` if the repair requires the whole document.
    pub(crate) fn repair_text(mut self, json: &str, options: &RepairOptions) -> Option<Repaired> {
        let at = (&self.place, json);
        self.can_mend(Some(json), options)
            .then(|| mended::repair_in_place(&mut self.document, &self.names, at, options))?
    }

    /// Whether the repair needs only the skeleton. A long placeholder, for example, would be compared with texts that
    /// are not kept.
    fn can_mend(&self, json: Option<&str>, options: &RepairOptions) -> bool {
        let is_short = options.chain.placeholder.text().len() < LONG;
        let profile = options.chain.profile.as_deref();
        let lists_none = profile.is_none() || self.names.is_empty();
        let lacks_none = profile.is_none() || !self.lacks;
        let messages = self.document.messages();
        let is_certain = || {
            !may_have_orphans(messages) || self.shows_all_calls(json) && !has_other_calls(messages)
        };
        is_short
            && lists_none
            && lacks_none
            && self.is_judged(profile, options.chain.check)
            && is_certain()
    }

    /// Whether the skeleton is enough for the rules of the profile. They may depend on any member, and on the model of
    /// the request.
    fn is_judged(&self, profile: Option<&Profile>, rules: msg_chainast::ChainCheckOptions) -> bool {
        let Some(profile) = profile else { return true };
        let is_kept = !self.has_media || !judges_data(profile);
        !self.has_more && is_kept && !rules.request && !self.names.are_judged_by(profile)
    }

    /// The number of messages.
    pub fn n_messages(&self) -> usize {
        self.document.messages().len()
    }
}

/// Whether the API rules add nothing to this kind of finding in plain messages: it is about the order of messages, or a
/// member that no API refuses for its shape.
fn is_of_chain(it: &Diagnostic) -> bool {
    const OF_CHAIN: [&str; 3] = [
        "chain::consecutive-user",
        "chain::missing-tool-result",
        "profile::reasoning-not-accepted",
    ];
    OF_CHAIN.contains(&it.code.as_str())
}

/// Whether these options read plain chat messages as such. The file name may be that of another format, and a provider
/// or model for the messages requires the whole document.
fn is_plain(options: &ReadOptions) -> bool {
    let chat = Format::default();
    options.from.is_none_or(|it| it == chat)
        && Format::named_by(&options.name).is_none_or(|it| it == chat)
        && options.calls != CallForms::Xml
        && options.made_by.is_none()
}

/// Whether findings quote a long text, or have a byte offset in one.
fn needs_texts(found: &[Diagnostic]) -> bool {
    found.iter().any(|it| {
        it.at.start.is_some() || it.any_text(has_mark) || it.fix.as_deref().is_some_and(has_mark)
    })
}

/// Whether a text contains the mark. Searching for its rare first byte is quicker.
fn has_mark(text: &str) -> bool {
    memchr(0xee, text.as_bytes()).is_some() && text.contains(MARK)
}

// Sources of a conversation: JSON text, or the objects of a program.

/// Shorter texts are kept unchanged. Everything that a rule compares with must be shorter.
pub(super) const LONG: usize = 128;

/// The beginning of a result in text form (MS-10).
pub(super) const HEAD: &str = "Tool: ";

/// A position in a conversation that is read from left to right, like a [`Reader`](msg_json::Reader). Each
/// method returns `None` if the value has another type, or is not representable in JSON.
pub trait Cursor {
    /// The kind of the next value.
    fn kind(&mut self) -> Option<Kind>;

    /// Steps through an object. `member` reads or skips the value of each name.
    fn object(&mut self, member: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()>;

    /// Steps through a list. `item` reads or skips each value.
    fn list(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()>;

    /// Reads a whole text.
    fn text(&mut self) -> Option<Cow<'_, str>>;

    /// Reads a text. For a long one the caller uses only whether it is blank and how it ends, so the escaped
    /// spelling of the source is allowed.
    fn brief(&mut self) -> Option<Cow<'_, str>>;

    /// Skips a value of any kind.
    fn skip(&mut self) -> Option<()>;

    /// The byte offset of the next value, if the source is a text.
    fn offset(&mut self) -> usize {
        0
    }
}

/// The kept form of a text, the `n`th of a conversation.
pub(super) fn kept(text: Cow<'_, str>, n: usize) -> String {
    if text.len() < LONG || text.starts_with(HEAD) || text.trim_start().is_empty() {
        return text.into_owned();
    }
    let mut res = String::with_capacity(12);
    res.extend([MARK, digit(n / DIGITS), digit(n)]);
    res.push_str(if text.ends_with(char::is_whitespace) { " " } else { "" });
    res
}

/// A digit of a number as a private-use character: shorter and faster than decimal digits.
fn digit(n: usize) -> char {
    char::from_u32(0xF_0000 + (n % DIGITS) as u32).unwrap_or(MARK)
}

/// The number of characters in the private-use plane 15.
const DIGITS: usize = 0xFFFE;

// JSON text as a source: uses the common reader, and decodes only short texts.

/// A position in JSON text.
pub(super) struct JsonText<'a>(Reader<'a>);

impl<'a> JsonText<'a> {
    /// `None` if the text is neither a list nor an object.
    pub(super) fn new(json: &'a str) -> Option<Self> {
        let mut reader = Reader::from_text(json);
        let first = json.as_bytes().get(reader.next_offset());
        matches!(first, Some(b'[' | b'{')).then_some(JsonText(reader))
    }

    /// Whether nothing follows.
    pub(super) fn has_ended(mut self) -> bool {
        self.0.finish().is_ok()
    }
}

impl Cursor for JsonText<'_> {
    fn kind(&mut self) -> Option<Kind> {
        self.0.peek().ok()
    }

    fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.0.begin_object().ok()?;
        while let Some(name) = self.0.next_key().ok()? {
            member(self, &sound(name)?)?;
        }
        Some(())
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.0.begin_array().ok()?;
        while self.0.next_element().ok()? {
            item(self)?;
        }
        Some(())
    }

    fn text(&mut self) -> Option<Cow<'_, str>> {
        sound(self.0.string().ok()?)
    }

    fn brief(&mut self) -> Option<Cow<'_, str>> {
        let quoted = (self.kind()? == Kind::String).then(|| self.0.raw().ok())??;
        let source = &quoted[1..quoted.len() - 1];
        if is_like_its_text(source) { Some(Cow::Borrowed(source)) } else { sound(unescape(source)) }
    }

    fn skip(&mut self) -> Option<()> {
        self.0.raw().ok().map(|_| ())
    }

    fn offset(&mut self) -> usize {
        self.0.next_offset()
    }
}

/// The text of a string; `None` if it has an unpaired surrogate, which the reader of documents reports.
fn sound(text: JsonStr<'_>) -> Option<Cow<'_, str>> {
    (!text.lone_surrogate).then_some(text.text)
}

/// Whether the escaped source certainly equals its text in all that counts: it is long, its blankness and end are the
/// same, and it has no unpaired surrogate.
fn is_like_its_text(source: &str) -> bool {
    let bytes = source.as_bytes();
    let Some(first) = memchr(b'\\', bytes) else { return true };
    let has = |it: &str| memchr::memmem::find(bytes, it.as_bytes()).is_some();
    // The longest escape takes six bytes for one byte of text; all others take two.
    let longest = if has("\\u") { 6 } else { 2 };
    if bytes.len() < longest * LONG {
        return false;
    }
    let ends_plain = !bytes[bytes.len() - longest..].contains(&b'\\');
    let may_have_surrogate = longest == 6 && (has("\\ud") || has("\\uD"));
    let begins_plain = !source[..first].trim_start().is_empty();
    ends_plain && begins_plain && !may_have_surrogate && !source.starts_with(HEAD)
}

/// A document with more unusual members in an object, or more different shapes, is read whole.
const MAX: usize = 40;

/// The part of an object that recognition looks at.
#[derive(Default)]
struct Shape {
    json: Vec<u8>,
    members: usize,
}

impl Shape {
    /// Whether it has no members.
    fn is_empty(&self) -> bool {
        self.json.is_empty()
    }

    /// Adds a member of which only the kind counts.
    fn known(&mut self, name: &str, kind: Kind) {
        self.begin(name);
        let value: &[u8] = match kind {
            Kind::Object => b"{}",
            Kind::Array => b"[]",
            Kind::String => b"\"\"",
            Kind::Number | Kind::Bool => b"0",
            Kind::Null => b"null",
        };
        self.json.extend_from_slice(value);
    }

    /// Adds a member with its text.
    fn text(&mut self, name: &str, text: &str) {
        self.begin(name);
        write_str(&mut self.json, text);
    }

    /// Whether it has this member already. Linear in its size, which is bounded.
    fn has(&self, name: &str) -> bool {
        let mut key = Vec::with_capacity(name.len() + 3);
        write_str(&mut key, name);
        key.push(b':');
        memchr::memmem::find(&self.json, &key).is_some()
    }

    fn begin(&mut self, name: &str) {
        self.json.push(if self.members == 0 { b'{' } else { b',' });
        self.members += 1;
        write_str(&mut self.json, name);
        self.json.push(b':');
    }

    /// Skips a member of a message and notes it. `None` if its value matters.
    fn of_message(&mut self, source: &mut impl Cursor, name: &str) -> Option<()> {
        match (name, source.kind().filter(|_| self.members < MAX)?) {
            ("content" | "parts" | "thinking_blocks", _) => None,
            // The reader of documents reports what a duplicate loses.
            _ if self.has(name) => None,
            (_, Kind::Object | Kind::Array) if is_watched(name) => None,
            // Whether this list is empty matters.
            ("images", Kind::Array) => None,
            (_, Kind::String)
                if is_telling(name) || name == "text" || name == "prompt" || name == "input" =>
            {
                self.text(name, &source.text()?);
                Some(())
            }
            (_, kind) => {
                self.known(name, kind);
                source.skip()
            }
        }
    }

    /// Skips a member of a request and notes it. `None` if its value matters.
    fn of_request(&mut self, source: &mut impl Cursor, name: &str) -> Option<()> {
        match (name, source.kind().filter(|_| self.members < MAX)?) {
            (_, Kind::Array) => None,
            // It may be a message, which is reported as unread (RG-8).
            (_, Kind::Object) if is_wrapping(name) || !is_setting(name) => None,
            ("system" | "system_prompt" | "instructions", Kind::String) => None,
            (_, Kind::String) => {
                self.text(name, &source.text()?);
                Some(())
            }
            (_, kind) => {
                self.known(name, kind);
                source.skip()
            }
        }
    }
}

/// Members of a request whose objects are settings.
fn is_setting(name: &str) -> bool {
    const SETTINGS: [&str; 14] = [
        "audio",
        "extra_body",
        "logit_bias",
        "metadata",
        "options",
        "prediction",
        "provider",
        "reasoning",
        "response_format",
        "stream_options",
        "tool_choice",
        "usage",
        "user",
        "web_search_options",
    ];
    SETTINGS.contains(&name)
}

/// The shapes of a document.
#[derive(Default)]
struct Shapes {
    /// The unusual members of the request.
    request: Shape,
    /// The shapes of messages with unusual members, without duplicates.
    messages: Vec<Shape>,
}

impl Shapes {
    /// Adds the shape of a message; `None` if there are too many.
    fn push(&mut self, message: Shape) -> Option<()> {
        if self.messages.iter().any(|it| it.json == message.json) {
            return Some(());
        }
        self.messages.push(message);
        (self.messages.len() <= MAX).then_some(())
    }

    /// Whether a document with these shapes, and plain messages, is recognised as chat messages.
    fn are_of_chat(mut self, is_list: bool) -> bool {
        if self.request.is_empty() && self.messages.is_empty() {
            return true;
        }
        let mut list = b"[".to_vec();
        for (at, message) in self.messages.iter().enumerate() {
            list.extend_from_slice(if at > 0 { b"," } else { b"" });
            list.extend_from_slice(&message.json);
            list.push(b'}');
        }
        list.push(b']');
        if !is_list {
            self.request.begin("messages");
            self.request.json.extend_from_slice(&list);
            self.request.json.push(b'}');
            list = self.request.json;
        }
        Format::recognise(&list, "").is_ok_and(|it| it == Format::default())
    }
}
