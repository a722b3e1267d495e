//! One line that shows what a message says (MS-17).
//!
//! For logs and lists; reasoning is left out, and nothing can be read back from it.

use std::borrow::Cow;

use crate::{Message, Other, Part, truncate};

impl Message {
    /// One line of at most `max_chars` characters (MS-17): text, refusals, calls as
    /// `name(arguments)`, the texts of results, `[image]`, `[audio]`, `[file NAME]`. White space
    /// and control characters become single spaces. Reads no further than it must.
    ///
    /// ```
    /// use msg_core::{Message, Part, ToolCall};
    /// let message = Message::assistant("Let me\nlook.")
    ///     .with_part(Part::ToolCall(ToolCall::new("call_1", "read", "{\"path\": \"a\"}")));
    /// assert_eq!(message.preview(100), "Let me look. read({\"path\": \"a\"})");
    /// assert_eq!(message.preview(10), "Let me lo…");
    /// ```
    pub fn preview(&self, max_chars: usize) -> String {
        let mut line = Line::new(max_chars);
        write_parts(&self.parts, &mut line);
        match truncate(&line.text, max_chars) {
            Cow::Borrowed(it) if it.len() == line.text.len() => line.text,
            it => it.into_owned(),
        }
    }
}

/// Walks nested results with a stack of its own: they may be built to any depth.
fn write_parts(parts: &[Part], line: &mut Line) {
    let mut stack = vec![parts.iter()];
    while let Some(level) = stack.last_mut() {
        if line.is_full() {
            return;
        }
        match level.next() {
            None => {
                stack.pop();
            }
            Some(Part::ToolResult(result)) => stack.push(result.content.parts().iter()),
            Some(part) => write_piece(part, line),
        }
    }
}

fn write_piece(part: &Part, line: &mut Line) {
    match part {
        Part::Text(it) | Part::Refusal(it) => line.piece(&[&it.text]),
        Part::ToolCall(it) => line.piece(&[&it.name, "(", it.arguments.text(), ")"]),
        Part::Image(_) => line.piece(&["[image]"]),
        Part::Audio(_) => line.piece(&["[audio]"]),
        Part::File(it) => match it.filename.as_deref() {
            None | Some("") => line.piece(&["[file]"]),
            Some(name) => line.piece(&["[file ", name, "]"]),
        },
        Part::Other(it) => line.piece(&["[", &other_type(it), "]"]),
        Part::Reasoning(_) | Part::ToolResult(_) => {}
    }
}

/// The `type` of the JSON, or `other` where it has none.
pub(crate) fn other_type(other: &Other) -> Cow<'_, str> {
    msg_json::string_member(other.value.text(), "type").unwrap_or(Cow::Borrowed("other"))
}

/// Collects text with its white space folded, up to one character more than will be shown: the
/// one that tells `truncate` that something was cut.
struct Line {
    text: String,
    n_chars: usize,
    limit: usize,
    /// White space was seen behind the text so far; it counts once something follows.
    space: bool,
}

impl Line {
    fn new(max_chars: usize) -> Self {
        Self { text: String::new(), n_chars: 0, limit: max_chars.saturating_add(1), space: false }
    }

    fn is_full(&self) -> bool {
        self.n_chars >= self.limit
    }

    fn piece(&mut self, texts: &[&str]) {
        self.space = true;
        for c in texts.iter().flat_map(|it| it.chars()) {
            if self.is_full() {
                return;
            }
            if c.is_whitespace() || c.is_control() {
                self.space = true;
            } else {
                self.push(c);
            }
        }
    }

    fn push(&mut self, c: char) {
        if self.space && !self.text.is_empty() {
            self.text.push(' ');
            self.n_chars += 1;
        }
        self.space = false;
        self.text.push(c);
        self.n_chars += 1;
    }
}
