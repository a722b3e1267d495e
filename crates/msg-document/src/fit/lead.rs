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
use msg_core::{Diagnostic, Message, Role};

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

/// What stands before the first user message, and where.
#[derive(Debug, Default)]
pub(super) struct Lead {
    /// How many system messages stand before it.
    at: usize,
    pub(super) messages: Vec<Message>,
}

impl Lead {
    /// Takes the lead out of a list.
    pub(super) fn take(messages: &mut Vec<Message>, beside: Beside) -> Self {
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
