//! Trees of sections, and messages out of trees, as Rust's collections do it. Messages become a tree by
//! parsing or repairing, since not every list is one.

use std::vec;

use msg_core::Message;

use super::{BodyPair, ChainAst, Header, Section};

impl Section {
    /// The header and the pairs. Nothing is copied.
    pub fn into_parts(self) -> (Header, Vec<BodyPair>) {
        (self.header, self.body)
    }
}

impl Header {
    /// The system message and the user message. Nothing is copied.
    pub fn into_parts(self) -> (Option<Message>, Option<Message>) {
        (self.system.map(|it| *it), self.user)
    }
}

impl BodyPair {
    /// The assistant message and its tool messages. Nothing is copied.
    pub fn into_parts(self) -> (Message, Vec<Message>) {
        (self.assistant, self.tools)
    }
}

impl ChainAst {
    /// The sections. Nothing is copied.
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message};
    ///
    /// let chain = ChainAst::parse(vec![Message::user("Hi"), Message::assistant("Hello.")])?;
    /// let again: ChainAst = chain.clone().into_sections().into_iter().collect();
    /// assert_eq!(again, chain);
    /// # Ok::<(), msg_chainast::ParseError>(())
    /// ```
    pub fn into_sections(self) -> Vec<Section> {
        self.sections
    }
}

impl Extend<Section> for ChainAst {
    fn extend<I: IntoIterator<Item = Section>>(&mut self, sections: I) {
        for section in sections {
            self.add_section(section);
        }
    }
}

impl FromIterator<Section> for ChainAst {
    fn from_iter<I: IntoIterator<Item = Section>>(sections: I) -> Self {
        let mut chain = ChainAst::new();
        chain.extend(sections);
        chain
    }
}

impl IntoIterator for ChainAst {
    type Item = Message;
    type IntoIter = vec::IntoIter<Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_messages().into_iter()
    }
}

impl<'a> IntoIterator for &'a ChainAst {
    type Item = &'a Message;
    type IntoIter = super::Messages<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.messages()
    }
}

impl TryFrom<Vec<Message>> for ChainAst {
    type Error = crate::ParseError;

    fn try_from(messages: Vec<Message>) -> Result<Self, Self::Error> {
        ChainAst::parse(messages)
    }
}
