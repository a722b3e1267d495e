//! Putting sections and pairs in the place of others, and taking them out. Nothing is copied or checked;
//! what was there is given back.

use super::{PairId, SectionId};
use crate::tree::{BodyPair, ChainAst, Section};

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

    /// Takes a section out; the ids of sections behind it name the ones after them then. O(sections).
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

    /// Takes a pair out; the ids of pairs behind it in the section name the ones after them then. O(pairs of
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
