//! A document that has been read: messages, and what surrounds them for the way back.
//!
//! What each format does with its bytes is in `formats`.

use std::borrow::Cow;
use std::ops::Range;

use msg_compact::Plan;
use msg_core::request::RequestHead;
use msg_core::{Code, Diagnostic, Message, Provenance, RawJson, Report, Role, SeededIds, Severity};
use msg_forms::turns::LowerOptions;
use msg_json::{Kind, Reader};

use crate::codec::{Around, Content, Edited, HeadEdit, Side, WriteOptions};
use crate::format::Format;
use crate::given_ids::GivenIds;
use crate::options::ReadOptions;
use crate::recognise::{foreign_part, unlike};
use crate::refusal::Refusal;
use crate::text_calls::{CallForms, TextCalls};

/// A document that has been read.
///
/// ```
/// use msg_core::{Message, Report};
/// use msg_formats::{Document, ReadOptions, WriteOptions};
///
/// let body = br#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}"#;
/// let mut document = Document::read(body, &ReadOptions::default())?;
/// assert_eq!(document.messages()[0].text(), "hi");
///
/// let mut out = Vec::new();
/// document.write(&WriteOptions::default(), &mut out);
/// assert_eq!(out, body);
/// # Ok::<(), msg_formats::Refusal>(())
/// ```
pub struct Document {
    pub(crate) format: Format,
    /// What it is called; some readers look at it.
    pub(crate) name: Cow<'static, str>,
    pub(crate) content: Content,
    pub(crate) calls: CallForms,
    /// What was text, once calls have been read from it.
    pub(crate) texts: Option<TextCalls>,
    /// How it took it that its messages are others than those that were read.
    pub(crate) edited: Option<Edited>,
    /// Ids that it did not have.
    pub(crate) given: GivenIds,
    /// The member that holds one message where a list of them is wanted.
    pub(crate) listed: Option<&'static str>,
    /// The text whose layout is kept.
    pub(crate) source: Option<Vec<u8>>,
    /// How many bytes it was read from: about as many are written.
    pub(crate) size: usize,
}

impl Document {
    /// Reads a document. Turns become messages by the rules that are safe to send.
    ///
    /// Fails as its format's reader does, with the place.
    pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        Ok(Document::read_unlowered(bytes, options)?.lowered())
    }

    /// With messages, of a document that was just read: turns become messages by the rules that are safe to send.
    #[must_use]
    pub fn lowered(self) -> Self {
        let mut res = self;
        let notes = res.lower(&LowerOptions::strict());
        res.content.notes.extend(notes);
        if res.format.codec().matches_by_name() {
            res.given = GivenIds::give(&mut res.content.messages);
        } else if res.format.name() == "openai" {
            let is_answer = matches!(res.side(), Side::Answer) || res.is_lone_answer();
            res.given = GivenIds::give_to_function_calls(&mut res.content.messages, is_answer);
        }
        if res.is_empty() {
            res.content.notes.push(Document::no_messages());
        }
        res
    }

    /// As [`Document::read`], but turns stay turns: messages exist only after
    /// [`Document::lower`].
    pub fn read_unlowered(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        let refusal = match Document::read_as_it_is(bytes, options) {
            Ok(document) => return Ok(document),
            Err(refusal) => refusal,
        };
        // One message where a list of them is wanted is a list of one (MS-29).
        let Some((listed, name)) = with_list(bytes) else { return Err(refusal) };
        let Ok(mut document) = Document::read_as_it_is(&listed, options) else {
            return Err(refusal);
        };
        let text = format!("{name} must be a list of messages, found an object");
        let note = Diagnostic::warning(Code::new("message::wrong-type"), text);
        document.content.notes.insert(0, note.at_pointer(format!("/{name}")));
        document.listed = Some(name);
        Ok(document)
    }

    fn read_as_it_is(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        let mut document = Document::read_known(bytes, options)?;
        if let Some(named) = options.from.filter(|it| !it.is_session()) {
            document.content.notes.extend(foreign_part(bytes, named));
        }
        Ok(document)
    }

    /// As [`Document::read_unlowered`], of a document that is known to be of its format: neither parts of other formats
    /// are looked for, nor one message where a list belongs.
    pub fn read_known(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        options.expect_size(bytes)?;
        let format = options.format(bytes).inspect_err(
            |refusal| tracing::debug!(bytes = bytes.len(), %refusal, "document refused"),
        )?;
        tracing::debug!(format = format.name(), bytes = bytes.len(), "document recognised");
        let read = format.codec().read(bytes, &options.name);
        let content = match options.from.filter(|it| !it.is_session()) {
            Some(named) => read.map_err(|it| unlike(bytes, named, it))?,
            None => read?,
        };
        Ok(Document { size: bytes.len(), ..Document::of_content(format, content, options) })
    }

    /// Messages of a format that something else has read, of a request that asks what `head` says. What is written of
    /// it is empty.
    #[inline]
    pub fn of_messages(
        (format, messages): (Format, Vec<Message>),
        head: Option<RequestHead>,
        options: &ReadOptions,
    ) -> Self {
        let content = Content::new(messages, Unwritten { head }, Report::default());
        Document::of_content(format, content, options)
    }

    /// What a reader made, as a document.
    #[inline]
    fn of_content(format: Format, content: Content, options: &ReadOptions) -> Self {
        Document {
            format,
            name: options.name.clone(),
            content,
            calls: options.calls,
            texts: None,
            edited: None,
            given: GivenIds::default(),
            listed: None,
            source: None,
            size: 0,
        }
    }

    /// Whether it is empty: nothing can be said of no messages.
    pub fn is_empty(&self) -> bool {
        self.content.messages.is_empty()
    }

    /// Makes messages of turns, and returns what was left out or changed. Nothing for a format that
    /// has messages.
    pub fn lower(&mut self, options: &LowerOptions) -> Vec<Diagnostic> {
        let Content { messages, around, .. } = &mut self.content;
        let mut found = around.lower(messages, options);
        if self.texts.is_none() && self.has_text_calls() {
            let headed = !self.format.codec().has_text_calls();
            let (texts, more) = TextCalls::read(&mut self.content.messages, headed);
            self.texts = Some(texts);
            found.extend(more);
        }
        found
    }

    /// Whether calls are in the text of assistants, and several system messages are fine (MS-10).
    pub fn has_text_calls(&self) -> bool {
        self.calls.are_in_texts(self.format)
    }

    /// What was odd about it, as the reader reports it.
    pub fn notes(&self) -> &[Diagnostic] {
        &self.content.notes
    }

    /// Gives the notes away.
    pub fn take_notes(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.content.notes)
    }

    /// The options that a document of turns brings along.
    pub fn own_options(&self) -> Option<&RawJson> {
        self.content.around.own_options()
    }

    /// The text that lines and columns of its diagnostics count in, if it is a text for people.
    pub fn text(&self) -> Option<&[u8]> {
        self.content.around.text()
    }

    /// The source of fresh ids for one document. Seeded by a constant, so that no answer depends on what was
    /// asked before (SC-17).
    ///
    /// ```
    /// use msg_core::IdSource;
    /// use msg_formats::Document;
    ///
    /// assert_eq!(Document::ids().next_u64(), Document::ids().next_u64());
    /// ```
    pub fn ids() -> SeededIds {
        SeededIds::new(0)
    }

    /// The format that it was read in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What it was read as, for people: `OpenAI chat request`, `Gemini response`, `goose`.
    pub fn what(&self) -> String {
        let title = self.format.codec().title();
        match self.side() {
            Side::Answer | Side::Choices => format!("{title} response"),
            Side::Exchange { .. } => format!("{title} request with its response"),
            _ if self.head().is_some() => format!("{title} request"),
            _ => title.to_owned(),
        }
    }

    /// The messages.
    pub fn messages(&self) -> &[Message] {
        &self.content.messages
    }

    /// What the messages are.
    pub fn side(&self) -> Side {
        self.content.around.side()
    }

    /// Whether it is an answer without what was asked, in a list and not in the response that it came in: a response that
    /// was converted, or a message that is still to be appended.
    pub fn is_lone_answer(&self) -> bool {
        let messages = self.messages();
        !messages.is_empty()
            && messages.iter().all(|it| it.role == Role::Assistant)
            && self.head().is_none_or(|it| it.model.is_none())
    }

    /// Whether the messages go on with a conversation that the provider has, so that they may begin with
    /// results whose calls are there (OA-14).
    pub fn is_continued(&self) -> bool {
        matches!(self.side(), Side::Continuation | Side::Exchange { is_continued: true })
    }

    /// Whether it is written as a plan says ([`Document::put_planned`]).
    pub fn is_edited_by_plan(&self) -> bool {
        self.format.codec().is_edited_by_plan()
    }

    /// Gives calls and results without an id one where their format may lack them and `to` wants them, and returns which
    /// calls got one (GE-6).
    pub fn link_ids_for(&mut self, to: Format) -> Vec<Diagnostic> {
        let (from, to) = (self.format.codec(), to.codec());
        let lacks = |it: &Message| it.tool_calls().any(|it| it.id.is_empty());
        let may_lack = from.lacks_ids()
            || to.links_ids()
            || !from.keeps_empty_ids() && self.messages().iter().any(lacks);
        match may_lack && (to.links_ids() || !to.lacks_ids()) {
            true => msg_codec::link_ids(&mut self.content.messages).into_vec(),
            false => Vec::new(),
        }
    }

    /// Gives the messages away and forgets what surrounded them.
    pub fn into_messages(self) -> Vec<Message> {
        self.content.messages
    }

    /// Gives the messages away for a while.
    pub fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.content.messages)
    }

    /// Says who made the assistant's messages, where the document does not say it.
    pub fn say_who_made_it(&mut self, maker: Option<&Provenance>) {
        let Some(maker) = maker else { return };
        for it in self.content.messages.iter_mut().filter(|it| it.role == Role::Assistant) {
            let Provenance { provider, model, account } =
                it.provenance().cloned().unwrap_or_default();
            it.set_provenance(Provenance {
                provider: provider.or_else(|| maker.provider.clone()),
                model: model.or_else(|| maker.model.clone()),
                account: account.or_else(|| maker.account.clone()),
            });
        }
    }

    /// Puts messages back in their place, as they were taken.
    pub fn put_messages(&mut self, messages: Vec<Message>) {
        self.content.messages = messages;
    }

    /// Puts other messages in the place of those that were taken. What no edit touched stays as it came, where the
    /// format allows it.
    pub fn put_edited(&mut self, messages: Vec<Message>) {
        self.put_planned(messages, None);
    }

    /// As [`Document::put_edited`], where a plan says how they became others (CP-63).
    pub fn put_planned(&mut self, messages: Vec<Message>, plan: Option<&Plan>) {
        let Content { around, .. } = &mut self.content;
        self.edited = Some(match &self.texts {
            Some(texts) => around.edited_by(&texts.write(&messages), None),
            None => around.edited_by(&messages, plan),
        });
        self.content.messages = messages;
    }

    /// As [`Document::put_edited`], of messages of which some are gone and the others are as they were: of those before,
    /// these stay.
    pub fn put_cut(&mut self, kept: Vec<Message>, stays: &[bool]) {
        if self.texts.is_none() && self.content.around.cut_to(&kept, stays) {
            self.edited = Some(Edited::Kept);
            self.content.messages = kept;
        } else {
            self.put_edited(kept);
        }
    }

    /// Whether its messages are others than those that were read.
    pub fn is_edited(&self) -> bool {
        self.edited.is_some()
    }

    /// What an edit of an agent's session left out, if it is written anew: its records, and the lines that are none.
    pub fn written_anew(&self) -> Vec<Diagnostic> {
        let is_anew = matches!(self.edited, Some(Edited::Anew));
        let Some(anew) = self.format.written_anew().filter(|_| is_anew) else { return Vec::new() };
        let of_session = |it: &&Diagnostic| it.code.as_str().starts_with("session::");
        let said = self.content.notes.iter().filter(of_session).filter_map(|it| match &it.fix {
            // What a reader mends in memory is so in what is written.
            Some(_) => Some(it.clone()),
            None if it.code == "session::off-path" => {
                let mut it = it.clone().with_fix("left them out");
                it.severity = Severity::Warning;
                Some(it)
            }
            None => None,
        });
        std::iter::once(anew).chain(said).collect()
    }

    /// What it asks besides its conversation, if it is a request (AN-21).
    pub fn head(&self) -> Option<RequestHead> {
        self.content.around.head().map(Cow::into_owned)
    }

    /// The names of the members that are left out where its messages go out alone.
    pub fn members(&self) -> Vec<String> {
        self.content.around.members()
    }
}

/// A body whose messages are one message, with a list around it, and the name of the member.
fn with_list(bytes: &[u8]) -> Option<(Vec<u8>, &'static str)> {
    let (place, name) = last_member(bytes, &["messages", "input"], Kind::Object)?;
    let (before, rest) = bytes.split_at(place.start);
    let (message, after) = rest.split_at(place.len());
    Some(([before, b"[", message, b"]", after].concat(), name))
}

/// The body again without that list, if it still holds one message.
pub(crate) fn without_list(bytes: &[u8], name: &'static str) -> Option<Vec<u8>> {
    let (place, _) = last_member(bytes, &[name], Kind::Array)?;
    let mut list = Reader::new(&bytes[place.clone()]).ok()?;
    list.begin_array().ok()?;
    list.next_element().ok()?.then_some(())?;
    let message = list.raw().ok()?;
    if list.next_element().ok()? {
        return None;
    }
    Some([&bytes[..place.start], message.as_bytes(), &bytes[place.end..]].concat())
}

/// Where the last member of one of these names is in an object, if its value is of this kind.
fn last_member(
    bytes: &[u8],
    names: &[&'static str],
    wanted: Kind,
) -> Option<(Range<usize>, &'static str)> {
    let mut reader = Reader::new(bytes).ok()?;
    if reader.peek().ok()? != Kind::Object {
        return None;
    }
    reader.begin_object().ok()?;
    let mut found = None;
    while let Some(key) = reader.next_key().ok()? {
        let name = names.iter().find(|it| key.text == **it);
        let (kind, start) = (reader.peek().ok()?, reader.next_offset());
        reader.raw().ok()?;
        if let Some(name) = name {
            found = (kind == wanted).then(|| (start..reader.offset(), *name));
        }
    }
    found
}

// What is asked and told by who judges and mends a document.

impl Document {
    /// Of nothing it cannot be said that nothing is wrong (MS-9).
    pub fn no_messages() -> Diagnostic {
        let text = "no messages: nothing to check";
        Diagnostic::new(Severity::Warning, Code::new("message::no-messages"), text)
    }

    /// Shapes that the API of the format does not take: nothing odd but to who is to send the document to it.
    pub fn shapes(&self) -> &[Diagnostic] {
        &self.content.shapes
    }

    /// Keeps the notes for which it says so.
    pub fn retain_notes(&mut self, keeps: impl FnMut(&Diagnostic) -> bool) {
        self.content.notes.retain(keeps);
    }

    /// The messages, to be made ready for another format: an edit is told with [`Document::put_edited`].
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.content.messages
    }

    /// As [`Document::head`], without a copy where the document has it as it is.
    pub fn borrowed_head(&self) -> Option<Cow<'_, RequestHead>> {
        self.content.around.head()
    }

    /// Gives the members of a request other values: those that `change` has one for. The messages stay as they are.
    pub fn change_head(&mut self, change: &mut dyn FnMut(&str, &RawJson) -> Option<HeadEdit>) {
        self.content.around.change_head(change);
    }

    /// Gives a request a member that it does not have.
    pub fn add_to_head(&mut self, name: &str, value: &RawJson) {
        self.content.around.add_to_head(name, value);
    }

    /// Something around the messages was changed: all that no edit names stays as it came.
    pub fn set_edited(&mut self) {
        self.edited = Some(Edited::Kept);
    }

    /// It is written as this text, unless its messages are edited.
    pub fn write_as(&mut self, text: Vec<u8>) {
        self.edited.get_or_insert(Edited::As(text));
    }

    /// Makes it `other`, a document that was read of the same text with words that this one lacks; its source stays.
    pub fn replace_with(&mut self, other: Document) {
        let source = self.source.take();
        *self = Document { listed: self.listed, source, ..other };
    }

    /// For each message the element of the source's list that it is of, where one element becomes several messages.
    pub fn elements(&self) -> Option<&[Option<usize>]> {
        self.content.around.elements()
    }

    /// Whether calls or results have ids that it did not have (GE-6).
    pub fn has_given_ids(&self) -> bool {
        !self.given.is_empty()
    }

    /// Takes the ids that it did not have out of these messages of it.
    pub fn without_given_ids(&self, messages: &mut [Message]) {
        self.given.take_back(messages);
    }

    /// Forgets the ids that it did not have.
    pub fn take_back_given_ids(&mut self) {
        std::mem::take(&mut self.given).take_back(&mut self.content.messages);
    }

    /// How it was read, but for its format.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::default().with_calls(self.calls).with_name(self.name.clone())
    }
}

/// What surrounds messages that are not written.
struct Unwritten {
    head: Option<RequestHead>,
}

impl Around for Unwritten {
    fn write(&mut self, _: &mut Vec<Message>, _: &WriteOptions, _: &mut Vec<u8>) -> Report {
        Report::default()
    }

    fn head(&self) -> Option<Cow<'_, RequestHead>> {
        self.head.as_ref().map(Cow::Borrowed)
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let messages = self.content.messages.len();
        f.debug_struct("Document")
            .field("format", &self.format)
            .field("messages", &messages)
            .finish()
    }
}
