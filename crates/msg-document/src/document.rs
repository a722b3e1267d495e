//! A document that has been read; the checks, repairs and conversions of this crate are its methods.
//!
//! `msg-formats` reads and writes; its document is inside.

use std::ops::{Deref, DerefMut};

use msg_compact::MediaRates;
use msg_core::{Diagnostic, Message, Part, SeededIds};
use msg_formats::{ReadOptions, Refusal};

use crate::api_shapes::foreign_parts;
use crate::lead::{Beside, JoinedUsers, Lead};

/// A document that has been read, for several calls on it.
///
/// It has methods for the functions of this crate, and dereferences to the document of `msg-formats`.
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
    read: msg_formats::Document,
    /// The messages that stayed when the others were taken for a tree.
    lead: Lead,
    /// A repair found errors that it could not mend.
    pub(crate) may_have_errors: bool,
}

impl From<msg_formats::Document> for Document {
    fn from(read: msg_formats::Document) -> Self {
        Document { read, lead: Lead::default(), may_have_errors: false }
    }
}

impl Deref for Document {
    type Target = msg_formats::Document;

    fn deref(&self) -> &Self::Target {
        &self.read
    }
}

impl DerefMut for Document {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.read
    }
}

impl Document {
    /// Reads a document. Turns become messages by the rules that never send what a provider
    /// refuses.
    ///
    /// Fails as the reader of its format does, with the place.
    pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        Ok(Document::read_unlowered(bytes, options)?.lowered())
    }

    /// As [`Document::read`], but turns stay turns. Messages exist only after
    /// [`Document::lower`](msg_formats::Document::lower).
    pub fn read_unlowered(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        let mut read = msg_formats::Document::read_unlowered(bytes, options)?;
        if read.notes().iter().any(is_foreign_part) {
            // A finding about a part makes the same finding about its message redundant.
            let said = foreign_parts(read.messages()).filter(is_foreign_part);
            let said: Vec<_> = said.map(|it| it.at.message).collect();
            read.retain_notes(|it| !is_foreign_part(it) || !said.contains(&it.at.message));
        }
        Ok(read.into())
    }

    /// Reads a document that was already recognised as chat messages.
    pub(crate) fn read_known(bytes: &[u8], options: &ReadOptions) -> Result<Self, Refusal> {
        msg_formats::Document::read_known(bytes, options).map(|it| it.lowered().into())
    }

    /// Makes messages of the turns of a document that was just read, by the rules that never send what a provider
    /// refuses.
    #[must_use]
    pub fn lowered(self) -> Self {
        Document { read: self.read.lowered(), ..self }
    }

    /// Reads what was written of this document, with the same options.
    ///
    /// Fails as the reader of its format does, with the place.
    pub fn read_again(&self, written: &[u8]) -> Result<Self, Refusal> {
        Document::read(written, &self.read_options().with_from(Some(self.format())))
    }

    /// The source of fresh ids for one document. Its seed is a constant, so no answer depends on earlier
    /// calls (SC-17).
    ///
    /// ```
    /// use msg_core::IdSource;
    /// use msg_document::Document;
    ///
    /// assert_eq!(Document::ids().next_u64(), Document::ids().next_u64());
    /// ```
    pub fn ids() -> SeededIds {
        msg_formats::Document::ids()
    }

    /// The messages.
    pub fn messages(&self) -> &[Message] {
        self.read.messages()
    }

    /// Puts back messages that were taken and not changed.
    pub fn put_messages(&mut self, messages: Vec<Message>) {
        self.read.put_messages(messages);
    }

    /// Puts back messages that were taken and changed. Messages without an edit are written unchanged, if the
    /// format allows it.
    pub fn put_edited(&mut self, messages: Vec<Message>) {
        self.read.put_edited(messages);
    }

    /// Consumes the document and returns its messages.
    pub fn into_messages(self) -> Vec<Message> {
        self.read.into_messages()
    }

    /// Replaces it with `other`, which was read from the same text with missing words filled in. The source stays.
    pub(crate) fn replace_with(&mut self, other: Document) {
        let Document { read, lead, may_have_errors } = other;
        self.read.replace_with(read);
        (self.lead, self.may_have_errors) = (lead, may_have_errors);
    }

    /// The formulas by which its images, sound and files are counted: those of the provider that defines the format,
    /// for the document's model. Those of OpenAI for documents without media and for all other formats.
    pub fn media_rates(&self) -> MediaRates {
        let provider = match self.format().name() {
            "anthropic" | "bedrock" | "claude-code" => "anthropic",
            "gemini" | "gemini-interactions" | "gemini-cli" | "adk" => "gemini",
            _ => "openai",
        };
        if !self.messages().iter().flat_map(|it| &it.parts).any(has_media) {
            return MediaRates::of(provider, None);
        }
        let model = self.head().and_then(|it| it.model);
        MediaRates::of(provider, model.as_deref())
    }
}

impl Document {
    /// The messages, and whether calls in wrong places are read too.
    pub(crate) fn as_unread(&self) -> (&[Message], bool) {
        (self.messages(), self.is_native())
    }

    pub(crate) fn is_native(&self) -> bool {
        self.format().name() == "native"
    }
}

/// Whether a finding is about a part of another format.
pub(crate) fn is_foreign_part(it: &Diagnostic) -> bool {
    it.code == "message::foreign-part"
}

impl Document {
    /// The messages that a tree cannot hold.
    pub(crate) fn beside(&self) -> Beside {
        match (self.is_continued(), self.has_text_calls()) {
            (true, _) => Beside::Continuation,
            (false, true) => Beside::Systems,
            (false, false) => Beside::Nothing,
        }
    }

    /// As [`take_messages`](msg_formats::Document::take_messages), for a tree. Messages before the first user message
    /// that belong to no section stay in the document: the beginning of a request whose history is elsewhere, and
    /// system messages after the first, if the format allows several. User messages in a row are joined, if the format
    /// allows them.
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
        let joined = JoinedUsers::of(self.format(), &mut messages);
        self.lead = Lead::take(&mut messages, beside).with_joined(joined);
        messages
    }

    /// The number of messages that stayed in the document when the others were taken for a tree.
    pub fn n_leading(&self) -> usize {
        self.lead.len()
    }

    /// Puts copies of the messages that stayed back into `messages`, and separates the messages that
    /// were joined.
    pub fn put_leading(&mut self, messages: &mut Vec<Message>) {
        self.lead.put_all(messages);
    }

    /// The index in the document of a message of the tree.
    pub fn place(&self, message: usize) -> usize {
        self.lead.place(message)
    }

    /// Changes the position of a finding about the tree to the position in the document.
    pub fn place_finding(&self, found: &mut Diagnostic) {
        self.lead.put_before(found);
    }
}

/// Whether a part is an image, sound or a file, or a result with one.
pub(crate) fn has_media(part: &Part) -> bool {
    match part {
        Part::Image(_) | Part::Audio(_) | Part::File(_) => true,
        Part::ToolResult(it) => it.content.parts().iter().any(has_media),
        _ => false,
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.read.fmt(f)
    }
}
