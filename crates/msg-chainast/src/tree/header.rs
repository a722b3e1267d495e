//! The header of a section: what opens it (CA-1). It does not judge whether its messages fit there.

use msg_core::Message;

use super::{Messages, sizes::Sizes};

/// An optional system message and an optional user message.
///
/// ```
/// use msg_chainast::{Header, Message};
///
/// let header = Header::new(Some(Message::system("Be brief.")), Some(Message::user("Hello")));
/// assert_eq!(header.size(), 14);
/// assert_eq!(header.messages().len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    /// Nearly every section is without one, and pays one word for it.
    pub(crate) system: Option<Box<Message>>,
    pub(crate) user: Option<Message>,
    pub(crate) sizes: Sizes,
}

impl Header {
    /// A header of these messages (CA-60).
    #[doc(alias = "NewHeader")]
    pub fn new(system: Option<Message>, user: Option<Message>) -> Self {
        let mut header = Header { system: system.map(Box::new), user, sizes: Sizes::default() };
        header.recount();
        header
    }

    /// The system or developer message.
    #[doc(alias = "SystemMessage")]
    pub fn system(&self) -> Option<&Message> {
        self.system.as_deref()
    }

    /// The user message.
    #[doc(alias = "HumanMessage")]
    pub fn user(&self) -> Option<&Message> {
        self.user.as_ref()
    }

    /// Size in bytes (CA-20).
    pub fn size(&self) -> usize {
        self.sizes.bytes
    }

    /// System message, user message.
    pub fn messages(&self) -> Messages<'_> {
        Messages::of_header(self)
    }

    /// Takes the system message out; whoever does so counts the section again.
    pub(crate) fn take_system(&mut self) -> Option<Message> {
        let system = *self.system.take()?;
        self.sizes -= Sizes::of(&system);
        Some(system)
    }

    /// Puts a system message in the place of the one that was there, and gives that back.
    pub(crate) fn put_back_system(&mut self, system: Message) -> Option<Message> {
        let old = self.take_system();
        self.sizes += Sizes::of(&system);
        self.system = Some(Box::new(system));
        old
    }

    pub(crate) fn into_messages(self) -> impl Iterator<Item = Message> {
        [self.system.map(|it| *it), self.user].into_iter().flatten()
    }

    /// Counts the header again after its messages were changed in place.
    pub(crate) fn recount(&mut self) {
        self.sizes = [self.system(), self.user()].into_iter().flatten().map(Sizes::of).sum();
    }
}
