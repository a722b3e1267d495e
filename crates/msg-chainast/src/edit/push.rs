//! Messages at the end of a chain, one at a time: taken if the chain stays one, and given back.

use std::{collections::HashSet, sync::LazyLock};

use msg_core::{Message, Part, ToolResult};

use super::{
    PairId,
    index::{ResultPlace, Target},
};
use crate::{
    CheckOptions, ParseError,
    analyze::{Chain, Reading, RolePart, read_role},
    check::check_chain,
    tree::{BodyPair, BodyPairKind, ChainAst, Header, Section, sizes::Sizes},
};

/// What stands for all that is before the last pair: it opens the section of that pair.
static OPENER: LazyLock<Message> = LazyLock::new(|| Message::user("q"));

impl ChainAst {
    /// Appends a message, if the chain is a valid open chain with it ([`ChainAst::parse_open`]): an assistant
    /// message with calls, then their results one by one, and what follows once all are there.
    ///
    /// O(message) for results, O(message and last pair) for others, amortised.
    ///
    /// # Errors
    /// What `parse_open` says of the chain with the message, which the error gives back
    /// ([`ParseError::into_messages`]); the chain is as it was. O(chain).
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message, Part, ToolCall};
    ///
    /// let mut chain = ChainAst::new();
    /// chain.push(Message::user("Oslo?"))?;
    /// chain.push(Message::assistant("").with_part(ToolCall::new("call_1", "get_weather", "{}")))?;
    /// let early = chain.push(Message::user("Are you there?")).unwrap_err();
    /// assert_eq!(early.diagnostics()[0].code, "chain::missing-tool-result");
    /// chain.push(Message::tool_result("call_1", "sunny"))?;
    /// chain.push(Message::user("Are you there?"))?;
    /// assert_eq!(chain.sections().len(), 2);
    /// # Ok::<(), msg_chainast::ParseError>(())
    /// ```
    pub fn push(&mut self, message: Message) -> Result<(), ParseError> {
        let only_results = message.parts.iter().all(|it| it.as_tool_result().is_some());
        let role = read_role(&message);
        if role == Reading::Known(RolePart::Tool) && only_results && self.answers(&message) {
            self.push_results(message);
        } else if self.may_follow(&message) {
            self.push_by_role(message, role);
        } else {
            return Err(self.refused(message));
        }
        self.assert_sizes();
        Ok(())
    }

    /// Takes the last message out and gives it back; what is left is a valid open chain if the chain was one.
    /// O(1), but the next lookup of an id reads the tree again where the message had calls or results.
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message};
    ///
    /// let mut chain = ChainAst::parse(vec![Message::user("Hi"), Message::assistant("Hello.")])?;
    /// assert_eq!(chain.pop(), Some(Message::assistant("Hello.")));
    /// assert_eq!(chain.pop(), Some(Message::user("Hi")));
    /// assert_eq!((chain.pop(), chain.size()), (None, 0));
    /// # Ok::<(), msg_chainast::ParseError>(())
    /// ```
    pub fn pop(&mut self) -> Option<Message> {
        let last = self.sections.len().checked_sub(1)?;
        let message = self.in_section(last, Section::pop)?;
        if self.sections[last].sizes.messages == 0 {
            self.sections.pop();
        }
        if message.parts.iter().any(|it| matches!(it, Part::ToolCall(_) | Part::ToolResult(_))) {
            self.index.reset();
        }
        self.assert_sizes();
        Some(message)
    }

    /// Whether the message has results, and each answers another pending call of the last pair. A summarization
    /// pair is left to the slow way: it has one call.
    fn answers(&self, message: &Message) -> bool {
        let Some(last) = self.last_pair() else { return false };
        if self.sections[last.section].body[last.pair].kind() == BodyPairKind::Summarization {
            return false;
        }
        let last = (last.section as u32, last.pair as u32);
        let ids = self.index.of(&self.sections);
        let is_pending = |it: &ToolResult| match ids.target(&self.sections, &it.call_id) {
            Some(Target::Pending(call, _)) => (call.section, call.pair) == last,
            _ => false,
        };
        let mut seen = HashSet::new();
        let mut results = message.tool_results();
        !message.parts.is_empty()
            && results.all(|it| {
                !it.call_id.is_empty() && is_pending(it) && seen.insert(it.call_id.as_str())
            })
    }

    /// The last pair, if the chain ends with one.
    fn last_pair(&self) -> Option<PairId> {
        let section = self.sections.len().checked_sub(1)?;
        let pair = self.sections[section].body.len().checked_sub(1)?;
        Some(PairId { section, pair })
    }

    /// Whether the end of the chain is valid with the message; what is before that does not matter to it.
    fn may_follow(&self, message: &Message) -> bool {
        let mut end: Vec<&Message> = Vec::new();
        match self.sections.last().map(|it| (it, it.body.last())) {
            None => {}
            Some((section, None)) => end.extend(section.messages()),
            Some((_, Some(pair))) => {
                end.push(&OPENER);
                end.extend(pair.messages());
            }
        }
        end.push(message);
        let options = CheckOptions::new().with_open();
        let found = check_chain(Chain::References(&end), None, &options);
        !found.iter().any(msg_core::Diagnostic::is_error)
    }

    /// Puts results behind those of the last pair, and into the index.
    fn push_results(&mut self, message: Message) {
        let Some(last) = self.last_pair() else { return };
        let at = self.sections[last.section].body[last.pair].tools.len() as u32;
        let (section, pair) = (last.section as u32, last.pair as u32);
        for (part, it) in message.tool_results().enumerate() {
            let target = self.index.of(&self.sections).target(&self.sections, &it.call_id);
            if let Some(Target::Pending(_, entry)) = target {
                let place = ResultPlace { section, pair, message: at, part: part as u32 };
                self.index.of_mut(&self.sections).answer(entry, place);
            }
        }
        self.push_tool(last, message);
    }

    /// Puts a message that may follow where its role belongs.
    fn push_by_role(&mut self, message: Message, role: Reading) {
        let last = self.section_ids().last();
        match (role, last) {
            (Reading::Known(RolePart::Assistant), Some(last)) => {
                self.add_body_pair(last, BodyPair::new(message, Vec::new()));
            }
            (Reading::Known(RolePart::Tool), Some(_)) => {
                self.index.reset();
                if let Some(last) = self.last_pair() {
                    self.push_tool(last, message);
                }
            }
            (Reading::Known(RolePart::System), _) => {
                self.add_section(Section::new(Header::new(Some(message), None), Vec::new()));
            }
            (_, Some(last)) if self.sections[last.0].is_system_alone() => {
                self.in_section(last.0, |it| it.put_user(message));
            }
            _ => {
                self.add_section(Section::new(Header::new(None, Some(message)), Vec::new()));
            }
        }
    }

    fn refused(&self, message: Message) -> ParseError {
        let mut all: Vec<&Message> = self.messages().collect();
        all.push(&message);
        let found = check_chain(Chain::References(&all), None, &CheckOptions::new().with_open());
        ParseError::new(found, vec![message])
    }
}

impl Section {
    /// Whether it is the system message at the start of a chain, and nothing else yet.
    fn is_system_alone(&self) -> bool {
        self.header.user.is_none() && self.body.is_empty()
    }

    /// Takes the last message out.
    fn pop(&mut self) -> Option<Message> {
        let message = match self.body.last_mut() {
            Some(pair) => match pair.tools.pop() {
                Some(tool) => {
                    pair.sizes -= Sizes::of(&tool);
                    tool
                }
                None => self.body.pop()?.assistant,
            },
            None => self.header.pop()?,
        };
        self.sizes -= Sizes::of(&message);
        Some(message)
    }
}

impl Header {
    /// Takes the user message out, or the system message if there is no other.
    fn pop(&mut self) -> Option<Message> {
        let Some(user) = self.user.take() else { return self.take_system() };
        self.sizes -= Sizes::of(&user);
        Some(user)
    }
}
