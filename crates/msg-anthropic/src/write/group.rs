//! Which messages go out as one: tool messages of a run and the user message after them (AN-8).

use msg_codec::codec::Placement;
use msg_core::{Message, Part, Role};

use super::{Purpose, Writer};
use crate::shape::message;

impl Writer<'_> {
    /// Cuts a list into runs, each of which goes out as one message.
    pub(super) fn groups<'m>(
        &self,
        messages: &'m [Message],
    ) -> impl Iterator<Item = &'m [Message]> + use<'m, '_> {
        let mut rest = messages;
        std::iter::from_fn(move || {
            let first = rest.first()?;
            let len = if self.has_only_results(first) { self.run(rest) } else { 1 };
            let (run, behind) = rest.split_at(len);
            rest = behind;
            Some(run)
        })
    }

    /// How many messages of a list that begins with results are one: all results, over user messages of
    /// which nothing is left, and the user message after them.
    fn run(&self, messages: &[Message]) -> usize {
        let joins = |it: &&Message| !self.objects.placement(it).has(Placement::APART);
        let is_silent = |it: &Message| it.role == Role::User && self.is_silent(it);
        let behind = messages.get(1..).unwrap_or_default();
        let results = behind.iter().take_while(joins);
        let results = results.take_while(|it| self.has_only_results(it) || is_silent(it)).count();
        let user = behind.get(results).filter(joins).is_some_and(|it| it.role == Role::User);
        1 + results + usize::from(user)
    }

    /// Whether this is read as a tool message when it was written.
    fn has_only_results(&self, it: &Message) -> bool {
        let is_result = |it: &Part| !self.has_place(it) || matches!(it, Part::ToolResult(_));
        let is_user = it.role == Role::User && !self.is_silent(it);
        self.is_results(it) || (is_user && it.parts.iter().all(is_result))
    }

    /// Whether nothing of a message has a place.
    pub(super) fn is_silent(&self, it: &Message) -> bool {
        !it.parts.iter().any(|it| self.has_place(it))
    }

    /// Whether this is a tool message, unless it had that role in the source, where it stays.
    pub(super) fn is_results(&self, it: &Message) -> bool {
        let is_spelled = || self.plan(&it.extra).variant(message::ROLE) == message::ROLE_TOOL;
        it.role == Role::Tool && !(self.purpose == Purpose::Return && is_spelled())
    }
}
