//! Building a tree from the messages of a valid chain (CA-3), and collecting sections. Nothing is checked: the analysis
//! has already accepted the messages.

use std::vec::{self, IntoIter};

use msg_core::Message;

use super::{ChainAst, Header, Section, pair::BodyPair};
use crate::analyze::{Reading, RolePart, read_role};

impl ChainAst {
    /// Sorts the messages of a valid chain into sections; they are moved, not copied. Each list of the tree
    /// is allocated once, for what it will hold.
    pub(crate) fn build(messages: Vec<Message>) -> Self {
        let users = messages.iter().filter(|it| role_of(it) == RolePart::User).count();
        let mut chain = ChainAst::new();
        chain.sections.reserve_exact(users.max(1));
        let mut rest = messages.into_iter();
        while !rest.as_slice().is_empty() {
            let section = take_section(&mut rest);
            chain.sizes += section.sizes;
            chain.sections.push(section);
        }
        chain
    }
}

/// Takes the messages up to the next user message that begins a section; at least one.
fn take_section(rest: &mut IntoIter<Message>) -> Section {
    let system = next_if(rest, RolePart::System);
    let user = next_if(rest, RolePart::User);
    let mut header = Header::new(system, user);
    let until_user = rest.as_slice().iter().take_while(|it| role_of(it) != RolePart::User);
    let pairs = until_user.filter(|it| role_of(it) == RolePart::Assistant).count();
    let mut body = Vec::with_capacity(pairs);
    while let Some(assistant) = next_if(rest, RolePart::Assistant) {
        let tools = rest.as_slice().iter().take_while(|it| role_of(it) == RolePart::Tool).count();
        body.push(BodyPair::new(assistant, take_exactly(tools, rest)));
    }
    if header.sizes.messages == 0 && body.is_empty() {
        // The analysis leaves no such message; one message a section is what keeps this loop moving.
        header = Header::new(None, rest.next());
    }
    Section::new(header, body)
}

/// The next messages, in a list with room for no more of them: collecting makes room for four.
fn take_exactly(n: usize, rest: &mut IntoIter<Message>) -> Vec<Message> {
    let mut messages = Vec::with_capacity(n);
    messages.extend(rest.take(n));
    messages
}

fn next_if(rest: &mut IntoIter<Message>, role: RolePart) -> Option<Message> {
    let fits = rest.as_slice().first().is_some_and(|it| role_of(it) == role);
    if fits { rest.next() } else { None }
}

fn role_of(message: &Message) -> RolePart {
    match read_role(message) {
        Reading::Known(role) => role,
        // The analysis leaves no other message in a chain.
        _ => RolePart::User,
    }
}

// Trees of sections, and messages out of trees, as Rust's collections do it. Messages become a tree by
// parsing or repairing, since not every list is one.

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
