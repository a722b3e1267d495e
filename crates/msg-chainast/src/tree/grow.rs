//! A tree that grows while its messages are mended, so that there is no list of them in between. Like
//! building from a list, it checks nothing.

use std::vec::Drain;

use msg_core::Message;

use super::{
    BodyPair, Carrier, ChainAst, Header, Section,
    build::{role_of, take_exactly},
};
use crate::walk::RolePart;

/// A tree whose last section may still grow.
pub(crate) struct GrowingTree {
    chain: ChainAst,
    last: Section,
}

impl GrowingTree {
    /// An empty tree with room for this many sections.
    pub(crate) fn with_capacity(sections: usize) -> Self {
        let mut chain = ChainAst::new();
        chain.sections.reserve_exact(sections);
        GrowingTree { chain, last: Section::default() }
    }

    /// Takes messages that belong to no section before the last: headers, and whole pairs. Behind them will
    /// come this many pairs of the same section.
    pub(crate) fn take<C: Carrier>(&mut self, messages: &mut Vec<C>, pairs_behind: usize) {
        let mut rest = messages.drain(..);
        while let Some(it) = rest.next() {
            match role_of(&it) {
                RolePart::Assistant => self.last.add_body_pair(pair(it, &mut rest)),
                RolePart::System => self.begin(Some(it.into_message()), None),
                // Tool messages without a pair are not in a valid chain.
                RolePart::User | RolePart::Tool => self.user(it.into_message()),
            }
        }
        if self.last.body.is_empty() {
            self.last.body.reserve_exact(pairs_behind);
        }
    }

    pub(crate) fn finish(mut self) -> ChainAst {
        self.close();
        self.chain
    }

    fn user(&mut self, user: Message) {
        if self.last.header.user.is_none() && self.last.body.is_empty() {
            let Section { mut header, body, .. } = std::mem::take(&mut self.last);
            self.last = Section::new(Header::new(header.take_system(), Some(user)), body);
        } else {
            self.begin(None, Some(user));
        }
    }

    fn begin(&mut self, system: Option<Message>, user: Option<Message>) {
        self.close();
        self.last = Section::new(Header::new(system, user), Vec::new());
    }

    fn close(&mut self) {
        let section = std::mem::take(&mut self.last);
        if section.sizes.messages > 0 {
            self.chain.sizes += section.sizes;
            self.chain.sections.push(section);
        }
    }
}

/// A pair of an assistant message and the tool messages behind it.
fn pair<C: Carrier>(assistant: C, rest: &mut Drain<'_, C>) -> BodyPair {
    let is_tool = |it: &&C| role_of::<C>(it) == RolePart::Tool;
    let tools = rest.as_slice().iter().take_while(is_tool).count();
    BodyPair::new(assistant.into_message(), take_exactly(tools, rest))
}
