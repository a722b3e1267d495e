//! What stands before the first user message and that no tree can hold: the beginning of a continued request
//! (OA-14), which goes on with a history that the provider has, and the system messages behind the first of a
//! format that may have several (MS-10). It is kept beside the tree and put back.
//!
//! ```text
//! system | result  assistant  result | user  assistant …
//! system | system  system            | user  assistant …
//!          the lead: it stays          what is compacted, behind the system message
//! ```

use msg_chainast::MessageOrigin;
use msg_core::{Diagnostic, Message, Position, Role};

use crate::document::Document;
use crate::refusal::Refusal;

/// What of a history stands beside the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Beside {
    /// Nothing.
    #[default]
    Nothing,
    /// The system messages behind the first.
    Systems,
    /// All between the system messages and the first user message.
    Continuation,
}

/// What stands before the first user message and in no section, and where: the beginning of a continued request,
/// or the system messages behind the first of a format that may have several.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// How many system messages stand before it.
    at: usize,
    messages: Vec<Message>,
}

impl Lead {
    /// Takes the lead out of a list.
    pub(crate) fn take(messages: &mut Vec<Message>, beside: Beside) -> Self {
        let systems = messages.iter().take_while(|it| it.role.is_system()).count();
        let (at, end) = match beside {
            Beside::Nothing => (0, 0),
            Beside::Systems => {
                let system = messages.iter().take_while(|it| it.role == Role::System).count();
                (1.min(system), system)
            }
            Beside::Continuation => {
                let behind = messages[systems..].iter().take_while(|it| it.role != Role::User);
                (systems, systems + behind.count())
            }
        };
        Lead { at, messages: messages.drain(at..end).collect() }
    }

    /// How many messages it has.
    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there is none, which is so in most documents.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Its messages.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Puts a copy of it back, behind the system messages.
    pub(crate) fn put(&self, messages: &mut Vec<Message>) {
        let systems = messages.iter().take_while(|it| it.role.is_system()).count();
        let at = systems.min(self.at);
        messages.splice(at..at, self.messages.iter().cloned());
    }

    /// The place in the list as it was of one in the list without the lead.
    pub(crate) fn place(&self, message: usize) -> usize {
        if message < self.at { message } else { message + self.messages.len() }
    }

    /// Where the messages of the tree came from in the list as it was.
    pub(crate) fn origins(
        &self,
        mended: Option<Vec<MessageOrigin>>,
        n_messages: usize,
    ) -> Vec<MessageOrigin> {
        let own = |message| MessageOrigin { message, inserted: false };
        let mut origins = mended.unwrap_or_else(|| (0..n_messages).map(own).collect());
        origins.iter_mut().for_each(|it| it.message = self.place(it.message));
        origins
    }

    /// Says of the list as it was what was found in the list without the lead.
    pub(crate) fn put_before(&self, it: &mut Diagnostic) {
        let Position { message, other_message, .. } = &mut it.at;
        for at in [message, other_message].into_iter().flatten() {
            *at = self.place(*at);
        }
    }

    /// A refusal, said of the list as it was.
    pub(crate) fn refused(&self, refusal: Refusal) -> Refusal {
        let mut found = refusal.into_diagnostic();
        self.put_before(&mut found);
        Refusal::from(*found)
    }
}

impl Document {
    /// What of the messages no tree can hold.
    pub(crate) fn beside(&self) -> Beside {
        match (self.is_continued(), self.has_text_calls()) {
            (true, _) => Beside::Continuation,
            (false, true) => Beside::Systems,
            (false, false) => Beside::Nothing,
        }
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
}
