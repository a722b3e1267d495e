//! The messages of a tree, a section, a header or a pair, in the order of the chain (CA-40).

use std::{iter::FusedIterator, slice};

use msg_core::Message;

use super::{header::Header, pair::BodyPair, section::Section};

/// Borrows messages in the order of the chain.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    sections: slice::Iter<'a, Section>,
    system: Option<&'a Message>,
    user: Option<&'a Message>,
    pairs: slice::Iter<'a, BodyPair>,
    tools: slice::Iter<'a, Message>,
    left: usize,
}

impl<'a> Messages<'a> {
    fn empty(left: usize) -> Self {
        Messages {
            sections: [].iter(),
            system: None,
            user: None,
            pairs: [].iter(),
            tools: [].iter(),
            left,
        }
    }

    pub(crate) fn of_sections(sections: &'a [Section], left: usize) -> Self {
        Messages { sections: sections.iter(), ..Messages::empty(left) }
    }

    pub(crate) fn of_section(section: &'a Section) -> Self {
        Messages::of_sections(slice::from_ref(section), section.sizes.messages)
    }

    pub(crate) fn of_header(header: &'a Header) -> Self {
        Messages {
            system: header.system(),
            user: header.user(),
            ..Messages::empty(header.sizes.messages)
        }
    }

    pub(crate) fn of_pair(pair: &'a BodyPair) -> Self {
        Messages { pairs: slice::from_ref(pair).iter(), ..Messages::empty(pair.sizes.messages) }
    }

    fn step(&mut self) -> Option<&'a Message> {
        loop {
            if let Some(message) = self.tools.next() {
                return Some(message);
            }
            if let Some(message) = self.system.take().or_else(|| self.user.take()) {
                return Some(message);
            }
            if let Some(pair) = self.pairs.next() {
                self.tools = pair.tools.iter();
                return Some(&pair.assistant);
            }
            let section = self.sections.next()?;
            self.system = section.header.system();
            self.user = section.header.user();
            self.pairs = section.body.iter();
        }
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = &'a Message;

    fn next(&mut self) -> Option<&'a Message> {
        let message = self.step()?;
        self.left -= 1;
        Some(message)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Messages<'_> {}
impl FusedIterator for Messages<'_> {}
