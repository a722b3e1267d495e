//! Reading a tree: its messages in the order of the chain (CA-40), and its outline without texts, the JSON of `msg ast`.
//! Also the quick test whether a list is a valid chain, which most lists pass.

use std::{iter::FusedIterator, slice};

use msg_core::{Message, Part, ToolCall};
use serde::Serialize;

use super::{BodyPair, ChainAst, ChainSection, Header};
use crate::{
    analyze::{Reading, RolePart, SMALL_PAIR, read_role},
    constants::SUMMARIZATION_TOOL_NAME,
    pairing::is_paired,
};

/// Serializes `size` and `sections`; the program adds the rest of its form.
///
/// ```
/// use msg_chainast::{ChainAst, Message};
///
/// let chain = ChainAst::parse(vec![Message::user("Hello")])?;
/// let json = serde_json::to_value(chain.view())?;
/// assert_eq!(json["sections"][0]["header"]["human_parts"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize)]
pub struct TreeView<'a> {
    size: usize,
    sections: Vec<SectionView<'a>>,
}

impl<'a> TreeView<'a> {
    pub(crate) fn of(chain: &'a ChainAst) -> Self {
        TreeView {
            size: chain.size(),
            sections: chain.sections.iter().map(SectionView::of).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct SectionView<'a> {
    size: usize,
    header: HeaderView,
    body: Vec<PairView<'a>>,
}

impl<'a> SectionView<'a> {
    fn of(it: &'a ChainSection) -> Self {
        SectionView {
            size: it.size(),
            header: HeaderView::of(it.header()),
            body: it.body.iter().map(PairView::of).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct HeaderView {
    system: bool,
    human: bool,
    human_parts: usize,
    size: usize,
}

impl HeaderView {
    fn of(it: &Header) -> Self {
        HeaderView {
            system: it.system.is_some(),
            human: it.user.is_some(),
            human_parts: it.user.as_ref().map_or(0, |it| it.parts.len()),
            size: it.size(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct PairView<'a> {
    kind: &'static str,
    size: usize,
    valid: bool,
    tool_messages: usize,
    tool_call_ids: Vec<&'a str>,
    response_ids: Vec<&'a str>,
    pending: Vec<&'a str>,
    unmatched: Vec<&'a str>,
}

impl<'a> PairView<'a> {
    fn of(it: &'a BodyPair) -> Self {
        let info = it.tool_calls_info();
        PairView {
            kind: it.kind().as_str(),
            size: it.size(),
            valid: it.is_valid(),
            tool_messages: it.tools.len(),
            tool_call_ids: it.assistant.tool_calls().map(|it| it.id.as_str()).collect(),
            response_ids: it.results().map(|(_, it)| it.call_id.as_str()).collect(),
            pending: info.pending.iter().map(|it| it.call().id.as_str()).collect(),
            unmatched: info.unmatched.iter().map(|it| it.call_id.as_str()).collect(),
        }
    }
}

// The messages of a tree, a section, a header or a pair, in the order of the chain (CA-40).

/// Borrows messages in the order of the chain.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    sections: slice::Iter<'a, ChainSection>,
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

    pub(crate) fn of_sections(sections: &'a [ChainSection], left: usize) -> Self {
        Messages { sections: sections.iter(), ..Messages::empty(left) }
    }

    pub(crate) fn of_section(section: &'a ChainSection) -> Self {
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

// Whether a list is plainly a valid chain: a look at each message, without a plan. It reports nothing; a list that it
// does not accept is left to the analysis.

/// Whether these messages are plainly valid: an optional system message, then user messages, each with body pairs of
/// few calls after it, whose results are alone in their messages. With `open`, the last pair may lack results.
pub(crate) fn is_plainly_valid(messages: &[Message], open: bool) -> bool {
    let lead = messages.first().is_some_and(|it| is_header(it, RolePart::System));
    let mut rest = &messages[usize::from(lead)..];
    let has_user = !rest.is_empty();
    while let [user, after @ ..] = rest {
        // Two user messages in a row are one.
        let follows = after.first().is_none_or(|it| is(it, RolePart::Assistant));
        if !follows || !is_header(user, RolePart::User) {
            return false;
        }
        rest = after;
        while let [assistant, after @ ..] = rest
            && is(assistant, RolePart::Assistant)
        {
            let n_tools = after.iter().take_while(|it| is(it, RolePart::Tool)).count();
            let (tools, next) = after.split_at(n_tools);
            if !is_plain_pair(assistant, tools, open && next.is_empty()) {
                return false;
            }
            rest = next;
        }
    }
    has_user
}

/// Whether a message is of this role, and has no calls and results.
fn is_header(message: &Message, role: RolePart) -> bool {
    let moves = |it: &Part| matches!(it, Part::ToolCall(_) | Part::ToolResult(_));
    is(message, role) && !message.parts.iter().any(moves)
}

/// Whether an assistant message has few calls, and these tool messages are their results.
fn is_plain_pair(assistant: &Message, tools: &[Message], may_lack: bool) -> bool {
    let moves = |it: &Part| it.as_tool_result().is_some() || is_paired(it);
    let fits = |n_calls| tools.len() == n_calls || tools.len() < n_calls && may_lack;
    !assistant.parts.iter().any(moves)
        && few_calls(assistant).is_some_and(fits)
        && are_answers(tools, assistant)
}

/// How many calls a message has, if they are few, have names and different ids, and are not a summarization
/// with others.
fn few_calls(message: &Message) -> Option<usize> {
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
