//! The quick way into a tree, for chains that are plainly valid: each message is looked at once, and moved.
//!
//! It knows no rule that the analysis does not know, and reports nothing: whatever it does not know to be valid it
//! gives back, for the analysis to judge.

use std::vec::IntoIter;

use msg_core::{Message, Part, ToolCall};

use super::{BodyPair, ChainAst, Header, Section, build::take_exactly};
use crate::{
    analyze::{Reading, RolePart, SMALL_PAIR, read_role},
    constants::SUMMARIZATION_TOOL_NAME,
    pairing::is_paired,
};

/// A tree, and how many calls are in it.
pub(crate) struct Plain {
    pub(crate) chain: ChainAst,
    pub(crate) n_calls: usize,
}

impl Plain {
    /// The tree of these messages, if they are plainly valid: an optional system message, then user
    /// messages, each with body pairs of few calls behind it, whose results stand alone in their messages.
    /// Else the messages, unchanged. With `open`, the last pair may lack results.
    pub(crate) fn build(messages: Vec<Message>, open: bool) -> Result<Plain, Vec<Message>> {
        let users = messages.iter().filter(|it| is(it, RolePart::User)).count();
        let mut chain = ChainAst::new();
        chain.sections.reserve_exact(users + 1);
        let mut rest = Rest { messages: messages.into_iter(), open, n_calls: 0 };
        let mut plain = true;
        while plain && !rest.next().is_empty() {
            let mut section = Section::default();
            plain = rest.section(&mut section, chain.sections.is_empty()).is_some();
            chain.sizes += section.sizes;
            chain.sections.push(section);
        }
        if plain && !chain.sections.is_empty() {
            return Ok(Plain { chain, n_calls: rest.n_calls });
        }
        let mut messages = chain.into_messages();
        messages.extend(rest.messages);
        Err(messages)
    }
}

/// The messages that are still to be looked at.
struct Rest {
    messages: IntoIter<Message>,
    open: bool,
    n_calls: usize,
}

impl Rest {
    fn next(&self) -> &[Message] {
        self.messages.as_slice()
    }

    /// Moves a user message and its pairs to a section; none if it met what is not plain. What it moved
    /// before is in the section.
    fn section(&mut self, section: &mut Section, first: bool) -> Option<()> {
        let system = if first { self.take_header(RolePart::System) } else { None };
        let user = self.take_header(RolePart::User);
        let opened = user.is_some();
        section.set_header(Header::new(system, user));
        let until_user = self.next().iter().take_while(|it| !is(it, RolePart::User));
        let pairs = until_user.filter(|it| is(it, RolePart::Assistant)).count();
        section.body.reserve_exact(pairs);
        while opened && self.next().first().is_some_and(|it| is(it, RolePart::Assistant)) {
            section.add_body_pair(self.pair()?);
        }
        let ended = match self.next().first() {
            None => true,
            // Two user messages in a row are one.
            Some(it) => is(it, RolePart::User) && !section.body.is_empty(),
        };
        (opened && ended).then_some(())
    }

    /// Takes a message of this role, if the next one is such a message without calls and results.
    fn take_header(&mut self, role: RolePart) -> Option<Message> {
        let it = self.next().first()?;
        let moves = |it: &Part| matches!(it, Part::ToolCall(_) | Part::ToolResult(_));
        if !is(it, role) || it.parts.iter().any(moves) {
            return None;
        }
        self.messages.next()
    }

    /// Takes an assistant message and the results of its calls.
    fn pair(&mut self) -> Option<BodyPair> {
        let (assistant, behind) = self.next().split_first()?;
        if assistant.parts.iter().any(|it| it.as_tool_result().is_some()) {
            return None;
        }
        let n_calls = plain_calls(assistant)?;
        let n_tools = behind.iter().take_while(|it| is(it, RolePart::Tool)).count();
        let may_lack = self.open && n_tools == behind.len();
        if n_tools > n_calls || n_tools < n_calls && !may_lack {
            return None;
        }
        if n_calls > 0 && !are_answers(&behind[..n_tools], assistant) {
            return None;
        }
        self.n_calls += n_calls;
        let assistant = self.messages.next()?;
        Some(BodyPair::new(assistant, take_exactly(n_tools, &mut self.messages)))
    }
}

/// How many calls a message has, if they are few, have names and different ids, and are no summarization
/// with others.
fn plain_calls(message: &Message) -> Option<usize> {
    if message.parts.iter().any(is_paired) {
        return None;
    }
    let mut n_calls = 0;
    for (at, call) in message.tool_calls().enumerate() {
        let earlier = || message.tool_calls().take(at);
        let plain = at < SMALL_PAIR
            && !call.name.is_empty()
            && !call.id.is_empty()
            && !earlier().any(|it| it.id == call.id || it.name == SUMMARIZATION_TOOL_NAME);
        if !plain {
            return None;
        }
        n_calls = at + 1;
    }
    Some(n_calls)
}

/// Whether each of these messages is one result, and each answers another call.
fn are_answers(tools: &[Message], assistant: &Message) -> bool {
    let mut answered = 0_u32;
    tools.iter().enumerate().all(|(nth, it)| {
        let [Part::ToolResult(result)] = it.parts.as_slice() else { return false };
        let answers = |it: &ToolCall| it.id == result.call_id;
        // Nearly always results come in the order of their calls.
        let call = match assistant.tool_calls().nth(nth).is_some_and(answers) {
            true => Some(nth),
            false => assistant.tool_calls().position(answers),
        };
        let Some(bit) = call.map(|it| 1 << it) else { return false };
        let free = answered & bit == 0;
        answered |= bit;
        free
    })
}

#[inline]
fn is(message: &Message, role: RolePart) -> bool {
    read_role(message) == Reading::Known(role)
}
