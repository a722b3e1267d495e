//! Results and calls by the message that they stand in: a tool message with more or less than one result, and
//! messages of other roles, in which they do not stay (CA-6).

use msg_core::{Message, Part};

use super::{Analyzer, defect::What};

impl<'m> Analyzer<'m, '_> {
    pub(super) fn tool(&mut self, at: u32, message: &'m Message) {
        if let [Part::ToolResult(it)] = message.parts.as_slice() {
            self.result(at, 0, &it.call_id, true);
        } else {
            self.mixed_tool(at, message);
        }
    }

    /// A tool message with several results, with other parts, or without a result.
    fn mixed_tool(&mut self, at: u32, message: &'m Message) {
        self.plan.taken_apart.push(at);
        let has_results = message.tool_results().next().is_some();
        let mut others = false;
        for (part, it) in message.parts.iter().enumerate() {
            match it {
                Part::ToolResult(it) => self.result(at, part as u32, &it.call_id, true),
                Part::ToolCall(_) => {
                    self.find(at, Some(part as u32), What::MisplacedPart, "removed the call");
                }
                _ if has_results => {
                    let fix = "joined to the content of the result";
                    self.find(at, Some(part as u32), What::MisplacedPart, fix);
                }
                _ => others = true,
            }
        }
        if others {
            self.find(at, None, What::EmptyToolMessage, "read as a result without an id");
            self.result(at, 0, "", true);
        } else if message.parts.is_empty() {
            self.find(at, None, What::EmptyToolMessage, "dropped the message");
        }
    }

    /// Moves results and calls out of a system or user message; says whether nothing is left of it.
    pub(super) fn moves_parts(&mut self, at: u32, message: &'m Message) -> bool {
        let moves = |it: &Part| matches!(it, Part::ToolCall(_) | Part::ToolResult(_));
        let moved = message.parts.iter().filter(|it| moves(it)).count();
        if moved == 0 {
            return false;
        }
        if message.tool_results().next().is_some() {
            self.misplaced_results(at, message, "moved to a tool message before it");
        }
        for (part, it) in message.parts.iter().enumerate() {
            if it.as_tool_call().is_some() {
                self.find(at, Some(part as u32), What::MisplacedPart, "removed the call");
            }
        }
        moved == message.parts.len()
    }

    /// Moves the results out of a message that is no tool message and has some.
    pub(super) fn misplaced_results(&mut self, at: u32, message: &'m Message, fix: &'static str) {
        self.plan.taken_apart.push(at);
        for (part, it) in message.parts.iter().enumerate() {
            if let Part::ToolResult(it) = it {
                self.find(at, Some(part as u32), What::MisplacedPart, fix);
                self.result(at, part as u32, &it.call_id, false);
            }
        }
    }
}
