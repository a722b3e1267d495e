//! What a document puts aside while its messages are judged: ids that it did not have (GE-6), and what is before the first user message and that no tree can hold: the beginning of a continued request
//! (OA-14), which goes on with a history that the provider has, and the system messages after the first of a
//! format that may have several (MS-10). It is kept beside the tree and put back.
//!
//! ```text
//! system | result  assistant  result | user  assistant …
//! system | system  system            | user  assistant …
//!          the lead: it stays          what is compacted, after the system message
//! ```

use std::collections::{HashMap, HashSet};

use msg_chainast::MessageOrigin;
use msg_core::{Diagnostic, Message, Part, Position, Role};

use crate::joined::JoinedUsers;
use crate::refusal::Refusal;

/// What of a history is beside the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Beside {
    /// Nothing.
    #[default]
    Nothing,
    /// The system messages after the first.
    Systems,
    /// All between the system messages and the first user message.
    Continuation,
}

/// What is before the first user message and in no section, and where: the beginning of a continued request,
/// or the system messages after the first of a format that may have several.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// How many system messages are before it.
    at: usize,
    messages: Vec<Message>,
    /// The messages of users that were joined before it was taken.
    joined: JoinedUsers,
    /// By how many messages the list grew when all was put back.
    more: usize,
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
                let after = messages[systems..].iter().take_while(|it| it.role != Role::User);
                (systems, systems + after.count())
            }
        };
        let messages = messages.drain(at..end).collect();
        Lead { at, messages, ..Lead::default() }
    }

    /// With messages of users that were joined before.
    pub(crate) fn with_joined(self, joined: JoinedUsers) -> Self {
        Lead { joined, ..self }
    }

    /// Whether messages of users were joined.
    pub(crate) fn has_joined(&self) -> bool {
        !self.joined.is_empty()
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

    /// Puts a copy of it back, after the system messages.
    pub(crate) fn put(&self, messages: &mut Vec<Message>) {
        let systems = messages.iter().take_while(|it| it.role.is_system()).count();
        let at = systems.min(self.at);
        messages.splice(at..at, self.messages.iter().cloned());
    }

    /// As [`Lead::put`], and the joined messages that nothing was done to.
    pub(crate) fn put_all(&mut self, messages: &mut Vec<Message>) {
        let before = messages.len();
        self.put(messages);
        self.joined.put_back(messages);
        self.more = messages.len() - before;
    }

    /// By how many messages the list grew when all was put back.
    pub(crate) fn more(&self) -> usize {
        self.more
    }

    /// The place in the list as it was of one in the list without the lead.
    pub(crate) fn place(&self, message: usize) -> usize {
        let own = if message < self.at { message } else { message + self.messages.len() };
        self.joined.place(own)
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

/// The ids that were given to the calls of a document whose format matches results by name, while they are judged and
/// mended; they are taken away again on the way back (GE-6).
#[derive(Default)]
pub(crate) struct GivenIds(HashSet<String>);

impl GivenIds {
    /// Gives each call and result without an id one.
    pub(crate) fn give(messages: &mut [Message]) -> Self {
        let before: HashSet<_> = ids(messages).map(str::to_owned).collect();
        msg_codec::link_ids(messages);
        let given = ids(messages).filter(|it| !before.contains(*it));
        Self(given.map(str::to_owned).collect())
    }

    /// Takes the ids away. A result gets the name of its call, by which alone it is the call's then: it may have
    /// been made up meanwhile, or have been another tool's.
    pub(crate) fn take_back(&self, messages: &mut [Message]) {
        if self.0.is_empty() {
            return;
        }
        let mut names = HashMap::new();
        for part in messages.iter_mut().flat_map(|it| &mut it.parts) {
            match part {
                Part::ToolCall(it) if self.0.contains(&it.id) => {
                    names.insert(std::mem::take(&mut it.id), it.name.clone());
                }
                Part::ToolResult(it) if self.0.contains(&it.call_id) => {
                    let id = std::mem::take(&mut it.call_id);
                    it.name = names.get(&id).cloned().or(it.name.take());
                }
                _ => {}
            }
        }
    }
}

fn ids(messages: &[Message]) -> impl Iterator<Item = &str> {
    let parts = messages.iter().flat_map(|it| &it.parts);
    let ids = parts.filter_map(|it| match it {
        Part::ToolCall(it) => Some(it.id.as_str()),
        Part::ToolResult(it) => Some(it.call_id.as_str()),
        _ => None,
    });
    ids.filter(|it| !it.is_empty())
}
