//! Replacing and removing sections and pairs, and edits over the whole chain: clearing reasoning, sanitising arguments
//! (CA-46, CA-56). What is replaced is given back; nothing is copied or checked.

use msg_core::{CallKind, Code, Diagnostic, Message, Part, Role};

use super::{PairId, SectionId};
use crate::{
    arguments::sanitized,
    reasoning::remove_reasoning,
    tree::{BodyPair, ChainAst, Section},
};

impl ChainAst {
    /// The ids of a section's pairs, in order.
    ///
    /// # Panics
    /// If the id is that of another tree and this one has fewer sections.
    pub fn pair_ids(&self, section: SectionId) -> impl ExactSizeIterator<Item = PairId> + use<> {
        let SectionId(at) = section;
        (0..self.sections[at].body.len()).map(move |pair| PairId { section: at, pair })
    }

    /// Puts another section in the place of one, and gives that back. O(1); the next lookup of an id reads the
    /// tree again.
    ///
    /// ```
    /// use msg_chainast::{BodyPair, ChainAst, Message, Section};
    ///
    /// let mut chain = ChainAst::parse(vec![Message::user("Hi"), Message::assistant("Hello.")])?;
    /// let id = chain.section_ids().next().ok_or("no section")?;
    /// let header = chain.sections()[0].header().clone();
    /// let old = chain.replace_section(id, Section::new(header, vec![BodyPair::summary("greeted")]));
    /// let (_, pairs) = old.into_parts();
    /// assert_eq!(pairs.len(), 1);
    /// assert!(chain.validate().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the id is that of another tree and this one has fewer sections.
    pub fn replace_section(&mut self, section: SectionId, new: Section) -> Section {
        let old = self.in_section(section.0, |it| std::mem::replace(it, new));
        self.calls_moved();
        old
    }

    /// Takes a section out; the ids of sections after it name the ones after them then. O(sections).
    ///
    /// # Panics
    /// If the id is that of another tree and this one has fewer sections.
    pub fn remove_section(&mut self, section: SectionId) -> Section {
        let old = self.sections.remove(section.0);
        self.sizes -= old.sizes;
        self.calls_moved();
        old
    }

    /// Puts another pair in the place of one, and gives that back. O(1); the next lookup of an id reads the
    /// tree again.
    ///
    /// # Panics
    /// If the id is that of another tree, and this one has no such pair.
    pub fn replace_body_pair(&mut self, pair: PairId, new: BodyPair) -> BodyPair {
        let old = self
            .in_section(pair.section, |it| it.in_pair(pair.pair, |it| std::mem::replace(it, new)));
        self.calls_moved();
        old
    }

    /// Takes a pair out; the ids of pairs after it in the section name the ones after them then. O(pairs of
    /// the section).
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message};
    ///
    /// let said = ["Hello.", "How are you?"].map(Message::assistant);
    /// let mut chain = ChainAst::parse([&[Message::user("Hi")], said.as_slice()].concat())?;
    /// let section = chain.section_ids().next().ok_or("no section")?;
    /// let pair = chain.pair_ids(section).next().ok_or("no pair")?;
    /// assert_eq!(chain.remove_body_pair(pair).assistant().text(), "Hello.");
    /// assert_eq!(chain.size(), 14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the id is that of another tree, and this one has no such pair.
    pub fn remove_body_pair(&mut self, pair: PairId) -> BodyPair {
        let old = self.in_section(pair.section, |it| {
            let old = it.body.remove(pair.pair);
            it.sizes -= old.sizes;
            old
        });
        self.calls_moved();
        old
    }

    fn calls_moved(&mut self) {
        self.index.reset();
        self.assert_sizes();
    }
}

// What goes over the whole chain: clearing reasoning, sanitising arguments (CA-46, CA-56), lending all messages.

impl ChainAst {
    /// Removes reasoning parts and call signatures everywhere, and says from which messages (CA-46). Extra
    /// members that would be read as reasoning go too. One pass.
    pub fn clear_reasoning(&mut self) -> Vec<Diagnostic> {
        let mut changes = Vec::new();
        for (at, message) in self.messages_mut().enumerate() {
            if remove_reasoning(message) {
                let it = Diagnostic::info(
                    Code::new("chain::cleared-reasoning"),
                    "reasoning, cleared on request",
                );
                changes.push(it.at_message(at).with_fix("removed"));
            }
        }
        if !changes.is_empty() {
            self.index.reset();
            self.recount();
        }
        changes
    }

    /// Makes the arguments of function calls JSON, and says which were not (CA-56): control characters in
    /// strings are escaped; what is still no JSON becomes `{}`. One pass.
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message, Part, ToolCall};
    ///
    /// let call = Part::ToolCall(ToolCall::new("a", "f", "{\"cut"));
    /// let mut chain = ChainAst::parse_open(vec![Message::user("q"), Message::assistant("").with_part(call)])?;
    /// assert_eq!(chain.sanitize_arguments().len(), 1);
    /// assert_eq!(chain.pending_calls().next().map(|it| it.call().arguments.text()), Some("{}"));
    /// # Ok::<(), msg_chainast::ParseError>(())
    /// ```
    pub fn sanitize_arguments(&mut self) -> Vec<Diagnostic> {
        let mut changes = Vec::new();
        for (at, message) in self.messages_mut().enumerate() {
            for (part, it) in message.parts.iter_mut().enumerate() {
                let Part::ToolCall(call) = it else { continue };
                if !matches!(call.kind, CallKind::Function | CallKind::Unspecified) {
                    continue;
                }
                let Some(text) = sanitized(call.arguments.text()) else { continue };
                let (code, sentence) = match call.arguments.text() {
                    "" => ("chain::empty-arguments", "empty argument text"),
                    _ => ("chain::invalid-arguments", "arguments are not JSON"),
                };
                let it = Diagnostic::warning(Code::new(code), sentence).at_part(at, part);
                changes.push(it.at_call(&call.id).with_fix(format!("set to `{text}`")));
                call.arguments = text.into();
            }
        }
        if !changes.is_empty() {
            self.recount();
        }
        changes
    }

    /// Lends all messages as one list to a function that wants a slice, such as the writer of a wire format.
    /// They are moved into the list and back, also where the function panics; no text is copied. O(messages).
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message};
    ///
    /// let mut chain = ChainAst::parse(vec![Message::user("Hi"), Message::assistant("Hello.")])?;
    /// let json = chain.lend_messages(serde_json::to_string::<[Message]>)?;
    /// assert!(json.starts_with(r#"[{"role":"user""#));
    /// assert_eq!(chain.size(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lend_messages<T>(&mut self, read: impl FnOnce(&[Message]) -> T) -> T {
        let take = |it: &mut Message| std::mem::replace(it, Message::new(Role::User));
        let list = self.messages_mut().map(take).collect();
        let lent = Lent { chain: self, list };
        read(&lent.list)
    }

    /// All messages, to be changed in place; sizes are counted again by who does so.
    pub(crate) fn messages_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        self.sections.iter_mut().flat_map(|it| {
            let system = it.header.system.as_deref_mut().into_iter();
            let header = system.chain(it.header.user.as_mut());
            header.chain(it.body.iter_mut().flat_map(pair_messages_mut))
        })
    }
}

/// Messages on loan; they go back when it is dropped.
struct Lent<'a> {
    chain: &'a mut ChainAst,
    list: Vec<Message>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        for (place, message) in self.chain.messages_mut().zip(self.list.drain(..)) {
            *place = message;
        }
    }
}

fn pair_messages_mut(pair: &mut BodyPair) -> impl Iterator<Item = &mut Message> {
    std::iter::once(&mut pair.assistant).chain(&mut pair.tools)
}
