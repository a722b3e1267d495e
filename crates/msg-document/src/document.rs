//! A document that has been read: messages, and what stands around them for the way back.
//!
//! What each format does with its bytes is in `formats`.

use std::borrow::Cow;

use msg_compact::Plan;
use msg_core::request::RequestHead;
use msg_core::{
    Code, Diagnostic, Message, Provenance, RawJson, Report, Role, SeededIds, Severity,
    turns::LowerOptions,
};

use crate::codec::{Content, Side, WriteOptions};
use crate::format::Format;
use crate::given_ids::GivenIds;
use crate::lead::{Beside, Lead};
use crate::recognise::accept;
use crate::refusal::Refusal;
use crate::seed;
use crate::text_calls::{Calls, TextCalls};

/// How a document is read.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Its format; recognised if not given.
    pub from: Option<Format>,
    /// What it is called, which decides where its shape leaves a choice; `""` if nothing is known.
    pub name: Cow<'static, str>,
    /// Which formats it may be in.
    pub accept: Accept,
    /// Where its calls stand.
    pub calls: Calls,
    /// Who made the assistant's messages, where the document does not say it.
    pub made_by: Option<Provenance>,
    /// The most bytes that it may have (SC-16).
    pub max_bytes: u64,
}

/// The most bytes of a document where nothing else is said: 256 MiB.
const MAX_BYTES: u64 = 256 << 20;

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            from: None,
            name: Cow::Borrowed(""),
            accept: Accept::All,
            calls: Calls::Auto,
            made_by: None,
            max_bytes: MAX_BYTES,
        }
    }
}

/// Which formats a document may be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Accept {
    /// All of them.
    #[default]
    All,
    /// Those that fit on a line: text that looks like Markdown is just no JSON.
    Json,
}

impl ReadOptions {
    /// The format is this one.
    #[must_use]
    pub fn with_from(mut self, from: Option<Format>) -> Self {
        self.from = from;
        self
    }

    /// It is called so.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// It is in one of these formats.
    #[must_use]
    pub fn with_accept(mut self, accept: Accept) -> Self {
        self.accept = accept;
        self
    }

    /// Its calls stand there.
    #[must_use]
    pub fn with_calls(mut self, calls: Calls) -> Self {
        self.calls = calls;
        self
    }

    /// These made the assistant's messages.
    #[must_use]
    pub fn with_made_by(mut self, made_by: Option<Provenance>) -> Self {
        self.made_by = made_by;
        self
    }

    /// It has at most so many bytes.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Refuses what is too large, before anything is made of it.
    pub(crate) fn expect_size(&self, bytes: &[u8]) -> Result<(), Refusal> {
        match bytes.len() as u64 > self.max_bytes {
            true => Err(Refusal::too_large(self.max_bytes)),
            false => Ok(()),
        }
    }

    /// The format that was named, or the one that is recognised.
    fn format(&self, bytes: &[u8]) -> Result<Format, Refusal> {
        let format = match self.from {
            Some(named) => accept(bytes, named).map(|()| named)?,
            None => Format::recognise(bytes, &self.name)?,
        };
        let is_accepted = self.accept == Accept::All || format.is_json();
        Ok(if is_accepted { format } else { Format::default() })
    }
}

/// A document that has been read.
///
/// ```
/// use msg_core::{Message, Report};
/// use msg_document::{Document, ReadOptions, WriteOptions};
///
/// let body = br#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}"#;
/// let mut document = Document::read(body, &ReadOptions::default())?;
/// assert_eq!(document.messages()[0].text(), "hi");
///
/// let mut out = Vec::new();
/// document.write(&WriteOptions::default(), &mut out);
/// assert_eq!(out, body);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
pub struct Document {
    format: Format,
    /// What it is called; some readers look at it.
    name: Cow<'static, str>,
    content: Content,
    calls: Calls,
    /// What was text, once calls have been read from it.
    texts: Option<TextCalls>,
    /// What stayed when the messages were taken for a tree.
    lead: Lead,
    /// Its messages are others than those that were read.
    is_edited: bool,
    /// Ids that it did not have.
    given: GivenIds,
    /// The text whose layout is kept.
    source: Option<Vec<u8>>,
    /// How many bytes it was read from: about as many are written.
    size: usize,
}

impl Document {
    /// Reads a document. Turns become messages by the rules that are safe to send.
    ///
    /// Fails as its format's reader does, with the place.
    pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        let mut res = Document::read_unlowered(bytes, options)?;
        let notes = res.lower(&LowerOptions::strict());
        res.content.notes.extend(notes);
        if res.format.codec().matches_by_name() {
            res.given = GivenIds::give(&mut res.content.messages);
        }
        if res.is_empty() {
            res.content.notes.push(no_messages());
        }
        Ok(res)
    }

    /// As [`Document::read`], but turns stay turns: there are no messages before
    /// [`Document::lower`].
    pub fn read_unlowered(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        options.expect_size(bytes)?;
        let format = options.format(bytes)?;
        // Editors of one platform put this in front of every text; no reader of JSON takes it.
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).filter(|_| format.is_json());
        let content = format.codec().read(text.unwrap_or(bytes), &options.name)?;
        Ok(Document { size: bytes.len(), ..Document::of_content(format, content, options) })
    }

    /// What a reader made, as a document.
    pub(crate) fn of_content(format: Format, content: Content, options: &ReadOptions) -> Self {
        Document {
            format,
            name: options.name.clone(),
            content,
            calls: options.calls,
            texts: None,
            lead: Lead::default(),
            is_edited: false,
            given: GivenIds::default(),
            source: None,
            size: 0,
        }
    }

    /// Writes it as `source`, which it was read from, is laid out: what was not edited keeps its text
    /// ([`keep_layout`](crate::keep_layout)). Nothing for what is no JSON.
    pub fn set_source(&mut self, source: Vec<u8>) {
        self.source = Some(source).filter(|_| self.format.is_json());
    }

    /// The text that it was read from, where that is kept: what stands there as long as nothing is edited.
    pub fn source(&self) -> Option<&[u8]> {
        self.source.as_deref()
    }

    /// It is written anew: nothing of its layout stays.
    pub(crate) fn forget_source(&mut self) {
        self.source = None;
    }

    /// Whether there are no messages, of which nothing can be said.
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

    /// Whether calls stand in the text of assistants, and several system messages are fine (MS-10).
    pub fn has_text_calls(&self) -> bool {
        match self.calls {
            Calls::Auto => self.format.codec().has_text_calls(),
            Calls::Native => false,
            Calls::Xml => true,
        }
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
    /// use msg_document::Document;
    ///
    /// assert_eq!(Document::ids().next_u64(), Document::ids().next_u64());
    /// ```
    pub fn ids() -> SeededIds {
        seed::ids()
    }

    /// Room for what is written of it.
    pub(crate) fn room(&self) -> Vec<u8> {
        Vec::with_capacity(self.size + self.size / 8)
    }

    /// The format that it was read in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The messages.
    pub fn messages(&self) -> &[Message] {
        &self.content.messages
    }

    /// What the messages are.
    pub(crate) fn side(&self) -> Side {
        self.content.around.side()
    }

    /// Whether the messages go on with a conversation that the provider has, so that they may begin with
    /// results whose calls are there (OA-14).
    pub fn is_continued(&self) -> bool {
        self.side() == Side::Continuation
    }

    /// What of the messages no tree can hold.
    pub(crate) fn beside(&self) -> Beside {
        match (self.is_continued(), self.has_text_calls()) {
            (true, _) => Beside::Continuation,
            (false, true) => Beside::Systems,
            (false, false) => Beside::Nothing,
        }
    }

    /// Whether it is written as a plan says ([`Document::put_planned`]).
    pub(crate) fn is_edited_by_plan(&self) -> bool {
        self.format.codec().is_edited_by_plan()
    }

    /// Gives calls and results without an id one, and returns which calls got one (GE-6).
    pub(crate) fn link_ids(&mut self) -> Vec<Diagnostic> {
        msg_wire::link_ids(&mut self.content.messages).into_vec()
    }

    /// Gives the messages away and forgets what stood around them.
    pub fn into_messages(self) -> Vec<Message> {
        self.content.messages
    }

    /// Gives the messages away for a while.
    pub fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.content.messages)
    }

    /// As [`Document::take_messages`], for a tree: what stands before the first user message and in no section stays
    /// with the document. That is the beginning of a request that goes on with a history elsewhere, and the
    /// system messages behind the first where there may be several.
    ///
    /// ```
    /// use msg_document::{Document, ReadOptions};
    ///
    /// let body = br#"{"previous_response_id":"r","input":[
    ///     {"type":"function_call_output","call_id":"c","output":"22"},{"role":"user","content":"And now?"}]}"#;
    /// let mut document = Document::read(body, &ReadOptions::default())?;
    /// let mut messages = document.take_for_tree();
    /// assert_eq!((document.n_leading(), messages.len(), document.place(0)), (1, 1, 1));
    /// document.put_leading(&mut messages);
    /// assert_eq!(messages.len(), 2);
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn take_for_tree(&mut self) -> Vec<Message> {
        let beside = self.beside();
        let mut messages = self.take_messages();
        self.lead = Lead::take(&mut messages, beside);
        messages
    }

    /// How many messages stayed when the others were taken for a tree.
    pub fn n_leading(&self) -> usize {
        self.lead.len()
    }

    /// Puts a copy of what stayed back into the messages of the tree.
    pub fn put_leading(&self, messages: &mut Vec<Message>) {
        self.lead.put(messages);
    }

    /// Where a message of the tree stands in the document.
    pub fn place(&self, message: usize) -> usize {
        self.lead.place(message)
    }

    /// Says of the document what was found in the messages of the tree.
    pub fn place_finding(&self, found: &mut Diagnostic) {
        self.lead.put_before(found);
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

    /// Puts other messages in the place of those that were taken.
    pub fn put_edited(&mut self, messages: Vec<Message>) {
        self.is_edited = true;
        self.content.messages = messages;
        self.content.around.edited();
    }

    /// As [`Document::put_edited`], where a plan says how they became others: turns are edited as it
    /// says, so that all that it does not name stays as it came (CP-63).
    pub fn put_planned(&mut self, messages: Vec<Message>, plan: Option<&Plan>) {
        self.is_edited = true;
        if !self.content.around.edited_by(&messages, plan) {
            self.content.around.edited();
        }
        self.content.messages = messages;
    }

    /// Whether its messages are others than those that were read.
    pub fn is_edited(&self) -> bool {
        self.is_edited
    }

    /// Fails where the document was edited and its format is only read: it would be written as it came, whatever is
    /// said of the edits.
    pub fn expect_writer(&self) -> Result<(), Refusal> {
        match self.is_edited && !self.format.codec().has_writer() {
            true => Err(self.no_writer()),
            false => Ok(()),
        }
    }

    pub(crate) fn no_writer(&self) -> Refusal {
        let text = format!(
            "sessions of {} are read and not written, so that nothing can be changed",
            self.format
        );
        let code = Code::new("session::no-writer");
        Diagnostic::error(code, text)
            .with_fix("`msg convert` writes it in another format first")
            .into()
    }

    /// Writes the document in its own format, with everything that stood around the messages.
    pub fn write(&mut self, options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        let start = out.len();
        let Content { messages, around, .. } = &mut self.content;
        self.given.take_back(messages);
        let report = match &self.texts {
            Some(texts) => around.write(&mut texts.write(messages), options, out),
            None => around.write(messages, options, out),
        };
        if let Some(source) = &self.source {
            let written = out.split_off(start);
            out.append(&mut self.format.laid_out(source, written));
        }
        report
    }

    /// The document as it is written where nothing else is said.
    pub(crate) fn written(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&WriteOptions::default(), &mut out);
        out
    }

    /// Reads what was written of this document, as this one was read.
    ///
    /// Fails as its format's reader does, with the place.
    pub fn read_again(&self, written: &[u8]) -> Result<Self, Refusal> {
        let options = ReadOptions::default().with_from(Some(self.format)).with_calls(self.calls);
        Document::read(written, &options.with_name(self.name.clone()))
    }

    /// Writes the messages alone in another format.
    pub(crate) fn write_messages(
        &mut self,
        format: Format,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        format.codec().write(&mut self.content.messages, options, out)
    }

    /// Writes the messages as a request of another format, which asks what `head` asks.
    pub(crate) fn write_request(
        &mut self,
        format: Format,
        head: &RequestHead,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Report, Refusal> {
        format.codec().write_request(head, &mut self.content.messages, options, out)
    }

    /// What it asks besides its conversation, if it is a request (AN-21).
    pub fn head(&self) -> Option<RequestHead> {
        self.content.around.head()
    }

    /// The names of the members that stay behind where its messages go out alone.
    pub fn members(&self) -> Vec<String> {
        self.content.around.members()
    }
}

/// Of nothing it cannot be said that nothing is wrong (MS-9).
fn no_messages() -> Diagnostic {
    let text = "the document has no messages, so that nothing was looked at";
    Diagnostic::new(Severity::Warning, Code::new("message::no-messages"), text)
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
