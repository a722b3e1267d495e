//! Edits of the whole chain: clearing reasoning, sanitising arguments (CA-46, CA-56).

use msg_core::{CallKind, Code, Diagnostic, Message, Part};

use crate::{
    arguments::sanitized,
    reasoning::remove_reasoning,
    tree::{BodyPair, ChainAst},
};

impl ChainAst {
    /// Removes reasoning parts and call signatures everywhere, and says from which messages (CA-46). Extra
    /// members that would be read as reasoning go too. One pass.
    pub fn clear_reasoning(&mut self) -> Vec<Diagnostic> {
        let mut changes = Vec::new();
        for (at, message) in self.messages_mut().enumerate() {
            if remove_reasoning(message) {
                let it = Diagnostic::info(
                    Code::new("chain::cleared-reasoning"),
                    "reasoning that was to be cleared",
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

    /// All messages, to be changed in place; sizes are counted again by who does so.
    pub(crate) fn messages_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        self.sections.iter_mut().flat_map(|it| {
            let system = it.header.system.as_deref_mut().into_iter();
            let header = system.chain(it.header.user.as_mut());
            header.chain(it.body.iter_mut().flat_map(pair_messages_mut))
        })
    }
}

fn pair_messages_mut(pair: &mut BodyPair) -> impl Iterator<Item = &mut Message> {
    std::iter::once(&mut pair.assistant).chain(&mut pair.tools)
}
