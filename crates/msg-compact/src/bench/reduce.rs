//! Reasoning and call inputs taken out of assistant messages.

use msg_core::{Message, Part};

use super::Workbench;

impl Workbench<'_> {
    /// The assistant message of a pair without reasoning parts and call signatures; none if it has
    /// none, or would be left without a part.
    pub(crate) fn without_reasoning(&self, section: usize, pair: usize) -> Option<Message> {
        let old = self.message(self.sections[section].pairs[pair].items.first()?);
        let has_any = old.parts.iter().any(|it| match it {
            Part::Reasoning(_) => true,
            Part::ToolCall(it) => it.signature.is_some(),
            _ => false,
        });
        if !has_any {
            return None;
        }
        let mut new = old.clone();
        new.parts.retain(|it| !matches!(it, Part::Reasoning(_)));
        for part in &mut new.parts {
            if let Part::ToolCall(it) = part {
                it.signature = None;
            }
        }
        (!new.parts.is_empty()).then_some(new)
    }

    /// The assistant message of a pair with the arguments of these calls set to `{}`, where they
    /// are longer.
    pub(crate) fn without_inputs(
        &self,
        section: usize,
        pair: usize,
        ids: &[String],
    ) -> Option<Message> {
        let old = self.message(self.sections[section].pairs[pair].items.first()?);
        let longer =
            |it: &msg_core::ToolCall| ids.contains(&it.id) && it.arguments.text().len() > 2;
        if !old.tool_calls().any(longer) {
            return None;
        }
        let mut new = old.clone();
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
