//! A document that has been read: its messages, and everything around them that is needed to write
//! it back.
//!
//! The formats are in `formats`.

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
    /// Its name, which some readers use.
    pub(crate) name: Cow<'static, str>,
    pub(crate) content: Content,
    pub(crate) calls: CallForms,
    /// The original texts, if calls have been read from them.
    pub(crate) texts: Option<TextCalls>,
    /// How it handled changed messages, if its messages differ from those that were read.
    pub(crate) edited: Option<Edited>,
    /// Ids that were added to it.
    pub(crate) given: GivenIds,
    /// The member that contains a single message where a list is expected.
    pub(crate) listed: Option<&'static str>,
    /// The text whose layout is kept.
    pub(crate) source: Option<Vec<u8>>,
    /// The size of its source in bytes, which is about the size of the output.
    pub(crate) size: usize,
}

impl Document {
    /// Reads a document. Turns become messages by rules that never produce what a provider rejects.
    ///
    /// Fails like the reader of the format, with the place.
    pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        Ok(Document::read_unlowered(bytes, options)?.lowered())
    }

    /// Makes messages of the turns of a document that was just read, by rules that never produce what a provider
    /// rejects.
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

    /// As [`Document::read`], but turns stay turns. Messages exist only after [`Document::lower`].
    pub fn read_unlowered(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        let refusal = match Document::read_as_it_is(bytes, options) {
            Ok(document) => return Ok(document),
            Err(refusal) => refusal,
        };
        // A single message where a list is expected is a list of one (MS-29).
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

    /// As [`Document::read_unlowered`], for a document of known format: does not look for parts of other formats, or
    /// for a single message instead of a list.
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

    /// A document of messages read by other means; for a request, `head` has its settings. It has no source text, so
    /// writing it gives an empty text.
    #[inline]
    pub fn of_messages(
        (format, messages): (Format, Vec<Message>),
        head: Option<RequestHead>,
        options: &ReadOptions,
    ) -> Self {
        let content = Content::new(messages, Unwritten { head }, Report::default());
        Document::of_content(format, content, options)
    }

    /// A document from the result of a reader.
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

    /// Whether it has no messages.
    pub fn is_empty(&self) -> bool {
        self.content.messages.is_empty()
    }

    /// Converts turns to messages, and returns the losses and changes. Empty for formats that have
    /// messages.
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

    /// Whether calls are in the text of assistant messages, and several system messages are allowed
    /// (MS-10).
    pub fn has_text_calls(&self) -> bool {
        self.calls.are_in_texts(self.format)
    }

    /// The findings of the reader.
    pub fn notes(&self) -> &[Diagnostic] {
        &self.content.notes
    }

    /// Takes the findings of the reader.
    pub fn take_notes(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.content.notes)
    }

    /// The `options` in a document of turns.
    pub fn own_options(&self) -> Option<&RawJson> {
        self.content.around.own_options()
    }

    /// The text to which lines and columns of its diagnostics refer, if it is a text for people.
    pub fn text(&self) -> Option<&[u8]> {
        self.content.around.text()
    }

    /// The source of fresh ids for one document. Its seed is a constant, so no answer depends on earlier
    /// calls (SC-17).
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

    /// The format of the document.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The kind of document, for people: `OpenAI chat request`, `Gemini response`, `goose`.
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

    /// Whether it is an answer without its request, in a list and not in a response: a converted response, or a message
    /// that is still to be appended. Its calls, if any, are in its last message and have no results. The records of an
    /// agent are a history.
    pub fn is_lone_answer(&self) -> bool {
        let Some((last, before)) = self.messages().split_last() else { return false };
        let is_answer = |it: &Message| {
            it.role == Role::Assistant && it.parts.iter().all(|it| it.as_tool_result().is_none())
        };
        is_answer(last)
            && before.iter().all(|it| is_answer(it) && it.tool_calls().next().is_none())
            && !self.format.has_records()
            && self.head().is_none_or(|it| it.model.is_none())
    }

    /// Whether the messages continue a conversation that the provider stores, so they may begin with
    /// results whose calls are there (OA-14).
    pub fn is_continued(&self) -> bool {
        matches!(self.side(), Side::Continuation | Side::Exchange { is_continued: true })
    }

    /// Whether it is written as a plan prescribes ([`Document::put_planned`]).
    pub fn is_edited_by_plan(&self) -> bool {
        self.format.codec().is_edited_by_plan()
    }

    /// Gives ids to calls and results that have none, if the format of the document allows that and `to` requires ids.
    /// Returns the calls that got one (GE-6).
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

    /// Consumes the document and returns its messages.
    pub fn into_messages(self) -> Vec<Message> {
        self.content.messages
    }

    /// Takes the messages out; put them back with [`Document::put_messages`] or
    /// [`Document::put_edited`].
    pub fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.content.messages)
    }

    /// Sets who made the assistant messages, for those of which the document does not state it.
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

    /// Puts back messages that were taken and not changed.
    pub fn put_messages(&mut self, messages: Vec<Message>) {
        self.content.messages = messages;
    }

    /// Puts back messages that were taken and changed. Messages without an edit are written unchanged, if the
    /// format allows it.
    pub fn put_edited(&mut self, messages: Vec<Message>) {
        self.put_planned(messages, None);
    }

    /// As [`Document::put_edited`], with the plan that made the changes (CP-63).
    pub fn put_planned(&mut self, messages: Vec<Message>, plan: Option<&Plan>) {
        let Content { around, .. } = &mut self.content;
        self.edited = Some(match &self.texts {
            Some(texts) => around.edited_by(&texts.write(&messages), None),
            None => around.edited_by(&messages, plan),
        });
        self.content.messages = messages;
    }

    /// As [`Document::put_edited`], if some messages were removed and the others not changed; `stays` says for each old
    /// message whether it was kept.
    pub fn put_cut(&mut self, kept: Vec<Message>, stays: &[bool]) {
        if self.texts.is_none() && self.content.around.cut_to(&kept, stays) {
            self.edited = Some(Edited::Kept);
            self.content.messages = kept;
        } else {
            self.put_edited(kept);
        }
    }

    /// Whether its messages differ from those that were read.
    pub fn is_edited(&self) -> bool {
        self.edited.is_some()
    }

    /// What is left out of an agent's session that is written anew after an edit: its records, and the lines that
    /// are not records.
    pub fn written_anew(&self) -> Vec<Diagnostic> {
        let is_anew = matches!(self.edited, Some(Edited::Anew));
        let Some(anew) = self.format.written_anew().filter(|_| is_anew) else { return Vec::new() };
        let of_session = |it: &&Diagnostic| it.code.as_str().starts_with("session::");
        let said = self.content.notes.iter().filter(of_session).filter_map(|it| match &it.fix {
            // Repairs that a reader makes in memory are also in the output.
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

    /// The settings of a request, everything besides its conversation (AN-21).
    pub fn head(&self) -> Option<RequestHead> {
        self.content.around.head().map(Cow::into_owned)
    }

    /// The names of the members that are left out if only its messages are written.
    pub fn members(&self) -> Vec<String> {
        self.content.around.members()
    }
}

/// The body with a list around its single message, and the name of the member.
fn with_list(bytes: &[u8]) -> Option<(Vec<u8>, &'static str)> {
    let (place, name) = last_member(bytes, &["messages", "input"], Kind::Object)?;
    let (before, rest) = bytes.split_at(place.start);
    let (message, after) = rest.split_at(place.len());
    Some(([before, b"[", message, b"]", after].concat(), name))
}

/// The body without that list, if it still contains one message.
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

/// The span of the last member with one of these names in an object, if its value is of this kind.
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

// What checks and repairs of a document need.

impl Document {
    /// The finding for a document without messages, for which nothing can be checked (MS-9).
    pub fn no_messages() -> Diagnostic {
        let text = "no messages: nothing to check";
        Diagnostic::new(Severity::Warning, Code::new("message::no-messages"), text)
    }

    /// Shapes that the API of the format refuses. They matter only if the document is sent to it.
    pub fn shapes(&self) -> &[Diagnostic] {
        &self.content.shapes
    }

    /// Keeps the findings of the reader for which `keeps` is true.
    pub fn retain_notes(&mut self, keeps: impl FnMut(&Diagnostic) -> bool) {
        self.content.notes.retain(keeps);
    }

    /// The messages, to prepare them for another format. To edit the document, use
    /// [`Document::put_edited`].
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.content.messages
    }

    /// As [`Document::head`], borrowed if possible.
    pub fn borrowed_head(&self) -> Option<Cow<'_, RequestHead>> {
        self.content.around.head()
    }

    /// Changes the members of a request for which `change` returns a value. The messages stay unchanged.
    pub fn change_head(&mut self, change: &mut dyn FnMut(&str, &RawJson) -> Option<HeadEdit>) {
        self.content.around.change_head(change);
    }

    /// Adds a member to a request, which does not have it.
    pub fn add_to_head(&mut self, name: &str, value: &RawJson) {
        self.content.around.add_to_head(name, value);
    }

    /// Marks that something around the messages was changed; everything without an edit is written
    /// unchanged.
    pub fn set_edited(&mut self) {
        self.edited = Some(Edited::Kept);
    }

    /// Writes this text, unless the messages are edited.
    pub fn write_as(&mut self, text: Vec<u8>) {
        self.edited.get_or_insert(Edited::As(text));
    }

    /// Replaces it by `other`, which was read from the same text with words that this one lacks. Keeps the source.
    pub fn replace_with(&mut self, other: Document) {
        let source = self.source.take();
        *self = Document { listed: self.listed, source, ..other };
    }

    /// The index of the element in the source's list for each message, if one element becomes several messages.
    pub fn elements(&self) -> Option<&[Option<usize>]> {
        self.content.around.elements()
    }

    /// Whether calls or results were given ids that the source did not have (GE-6).
    pub fn has_given_ids(&self) -> bool {
        !self.given.is_empty()
    }

    /// Removes ids that the source did not have from these messages.
    pub fn without_given_ids(&self, messages: &mut [Message]) {
        self.given.take_back(messages);
    }

    /// Removes the ids that the source did not have.
    pub fn take_back_given_ids(&mut self) {
        std::mem::take(&mut self.given).take_back(&mut self.content.messages);
    }

    /// The options that it was read with, except for the format.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions::default().with_calls(self.calls).with_name(self.name.clone())
    }
}

/// The content around messages that cannot be written.
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
