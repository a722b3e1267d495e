//! The beginning of a continued request (OA-14): what stands before its first user message goes on with a
//! history that the provider has. No tree can hold it, so it is kept beside the tree and put back.
//!
//! ```text
//! system | result  assistant  result | user  assistant …
//!          the lead: it stays          what is compacted, behind the system message
//! ```

use msg_chainast::MessageOrigin;
use msg_core::{Diagnostic, Message, Role};

use crate::refusal::Refusal;

/// What stands before the first user message, and where.
#[derive(Debug, Default)]
pub(super) struct Lead {
    /// How many system messages stand before it.
    at: usize,
    pub(super) messages: Vec<Message>,
}

impl Lead {
    /// Takes the lead out of a list.
    pub(super) fn take(messages: &mut Vec<Message>) -> Self {
        let at = messages.iter().take_while(|it| it.role.is_system()).count();
        let behind = messages[at..].iter().take_while(|it| it.role != Role::User).count();
        Lead { at, messages: messages.drain(at..at + behind).collect() }
    }

    /// A copy of it, put back behind the system messages.
    pub(super) fn put(&self, messages: &mut Vec<Message>) {
        let systems = messages.iter().take_while(|it| it.role.is_system()).count();
        let at = systems.min(self.at);
        messages.splice(at..at, self.messages.iter().cloned());
    }

    /// The place in the list as it was of one in the list without the lead.
    fn place(&self, message: usize) -> usize {
        if message < self.at { message } else { message + self.messages.len() }
    }

    /// Where the messages of the tree came from in the list as it was.
    pub(super) fn origins(
        &self,
        mended: Option<Vec<MessageOrigin>>,
        n_messages: usize,
    ) -> Vec<MessageOrigin> {
        let own = |message| MessageOrigin { message, inserted: false };
        let mut origins = mended.unwrap_or_else(|| (0..n_messages).map(own).collect());
        origins.iter_mut().for_each(|it| it.message = self.place(it.message));
        origins
    }

    /// What was found in the list without the lead, said of the list as it was.
    pub(super) fn put_before(&self, it: &mut Diagnostic) {
        it.at.message = it.at.message.map(|it| self.place(it));
    }

    /// A refusal, said of the list as it was.
    pub(super) fn refused(&self, refusal: Refusal) -> Refusal {
        let mut found = refusal.into_diagnostic();
        self.put_before(&mut found);
        Refusal::from(*found)
    }
}
