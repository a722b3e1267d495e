//! An answer on the terminal while it comes: text on standard output, thoughts on standard error.

use std::io::{self, IsTerminal, Write};

use msg_core::StreamEvent;

use crate::cli::Context;
use crate::render;

/// What has been shown, so that lines end where something else begins.
pub(super) struct Show {
    is_on: bool,
    thoughts: bool,
    /// Text for a terminal may not command it.
    is_terminal: bool,
    dim: bool,
    last: Shown,
    ends_line: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Nothing,
    Thought,
    Text,
}

impl Show {
    pub(super) fn new(cx: &Context, is_on: bool) -> Self {
        Self {
            is_on,
            thoughts: !cx.quiet,
            is_terminal: io::stdout().is_terminal(),
            dim: cx.color_err,
            last: Shown::Nothing,
            ends_line: true,
        }
    }

    /// Shows what an event adds. Nobody reading it is no reason to lose the answer.
    pub(super) fn event(&mut self, event: &StreamEvent<'_>) {
        if !self.is_on {
            return;
        }
        match event {
            StreamEvent::TextDelta { text, .. } | StreamEvent::RefusalDelta { text, .. } => {
                self.turn_to(Shown::Text);
                self.print(text);
            }
            StreamEvent::ReasoningDelta { text, .. } if self.thoughts => {
                self.turn_to(Shown::Thought);
                self.think(text);
            }
            StreamEvent::ToolCall { call, .. } if self.thoughts => {
                self.turn_to(Shown::Thought);
                self.think(&format!("[call of {}, recorded and not run]\n", call.name));
            }
            _ => {}
        }
    }

    /// Ends the last line.
    pub(super) fn end(&mut self) {
        self.turn_to(Shown::Nothing);
    }

    fn turn_to(&mut self, next: Shown) {
        if self.last == next {
            return;
        }
        if !self.ends_line {
            match self.last {
                Shown::Text => self.print("\n"),
                _ => self.think("\n"),
            }
        }
        self.last = next;
    }

    fn print(&mut self, text: &str) {
        self.ends_line = text.ends_with('\n');
        let text = if self.is_terminal { safe_lines(text) } else { text.to_owned() };
        let mut out = io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    fn think(&mut self, text: &str) {
        self.ends_line = text.ends_with('\n');
        let text = safe_lines(text);
        let text = if self.dim { format!("\x1b[2m{text}\x1b[0m") } else { text };
        let mut err = io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}

/// Text that does nothing to a terminal but fill it.
fn safe_lines(text: &str) -> String {
    let line = |it: &str| it.split('\t').map(render::safe).collect::<Vec<_>>().join("\t");
    text.split('\n').map(|it| line(it.trim_end_matches('\r'))).collect::<Vec<_>>().join("\n")
}
