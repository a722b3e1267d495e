//! Reasoning and call inputs taken out of assistant messages.

use msg_chainast::reasoning::remove_reasoning;
use msg_core::{Message, Part};

use super::{ChainState, Change};
use crate::token_index::Cost;

impl ChainState<'_> {
    /// What an assistant message costs without reasoning parts and call signatures; none if it has
    /// none, or would be left without a part.
    pub(crate) fn cost_without_reasoning(&self, section: usize, pair: usize) -> Option<Cost> {
        let assistant = self.assistant(self.pair(section, pair)?);
        if !self.facts(assistant).has_reasoning {
            return None;
        }
        let old = self.unreduced(assistant);
        let (reasoning, rest): (Vec<&Part>, Vec<&Part>) =
            old.parts.iter().partition(|it| it.as_reasoning().is_some());
        if rest.is_empty() {
            return None;
        }
        let with_parts = |parts: Vec<&Part>| {
            let mut message = Message::new(old.role.clone());
            message.parts = parts.into_iter().cloned().collect();
            message
        };
        let counter = self.input.index.counter();
        match counter.frame(&old.role) {
            // Signatures cost nothing, so that what goes is the reasoning parts.
            Some(frame) => {
                let gone = counter.message(&with_parts(reasoning)).saturating_sub(frame);
                Some(assistant.cost.minus(Cost { tokens: gone, bytes: 0 }))
            }
            None => {
                let mut new = with_parts(rest);
                new.name.clone_from(&old.name);
                remove_reasoning(&mut new);
                Some(self.cost_of(&new))
            }
        }
    }

    /// Takes reasoning and call signatures out of an assistant message, which costs this much then.
    pub(crate) fn replace_without_reasoning(&mut self, section: usize, pair: usize, cost: Cost) {
        let Some(assistant) = self.pair(section, pair).map(|it| self.assistant(it)) else { return };
        let change = match self.change(assistant) {
            None | Some(Change::NoReasoning) => Change::NoReasoning,
            Some(_) => {
                let mut message = self.message(assistant).into_owned();
                remove_reasoning(&mut message);
                Change::New(message.into())
            }
        };
        self.replace_item(section, pair, 0, change, cost);
    }

    /// The assistant message of a pair with the arguments of these calls set to `{}`, where they
    /// are longer.
    pub(crate) fn without_inputs(
        &self,
        section: usize,
        pair: usize,
        ids: &[String],
    ) -> Option<Message> {
        let assistant = self.assistant(self.pair(section, pair)?);
        let longer =
            |it: &msg_core::ToolCall| ids.contains(&it.id) && it.arguments.text().len() > 2;
        if !self.unreduced(assistant).tool_calls().any(longer) {
            return None;
        }
        let mut new = self.message(assistant).into_owned();
        for part in &mut new.parts {
            if let Part::ToolCall(it) = part
                && longer(it)
            {
                it.arguments = "{}".into();
            }
        }
        Some(new)
    }
}
