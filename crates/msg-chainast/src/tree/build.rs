//! A tree from the messages of a valid chain (CA-3). It checks nothing: that the messages are a chain,
//! the walk has said before.

use msg_core::Message;

use super::{ChainAst, Header, Section, pair::BodyPair, sizes::Sizes};
use crate::walk::{Reading, RolePart, read_role};

impl ChainAst {
    /// Sorts the messages of a valid chain into sections; they are moved, not copied.
    pub(crate) fn build(messages: impl IntoIterator<Item = Message>) -> Self {
        let mut chain = ChainAst::new();
        for message in messages {
            chain.push_message(message);
        }
        chain
    }

    fn push_message(&mut self, message: Message) {
        let sizes = Sizes::of(&message);
        self.sizes += sizes;
        let role = match read_role(&message) {
            Reading::Known(role) => role,
            // The walk leaves no other message in a chain.
            _ => RolePart::User,
        };
        let begins = match (role, self.sections.last()) {
            (_, None) => true,
            (RolePart::User, Some(it)) => it.header.user.is_some() || !it.body.is_empty(),
            _ => false,
        };
        if begins {
            self.sections.push(Section::default());
        }
        let section = self.sections.last_mut().expect("because one was begun if there was none");
        section.sizes += sizes;
        match role {
            RolePart::System => section.header.put_system(message, sizes),
            RolePart::User => section.header.put_user(message, sizes),
            RolePart::Assistant => {
                section.body.push(BodyPair { assistant: message, tools: Vec::new(), sizes });
            }
            RolePart::Tool => {
                let pair = section.body.last_mut().expect("because a result follows its call");
                pair.sizes += sizes;
                pair.tools.push(message);
            }
        }
    }
}

impl Header {
    fn put_system(&mut self, message: Message, sizes: Sizes) {
        self.system = Some(message);
        self.sizes += sizes;
    }

    fn put_user(&mut self, message: Message, sizes: Sizes) {
        self.user = Some(message);
        self.sizes += sizes;
    }
}
