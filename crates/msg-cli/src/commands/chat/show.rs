//! An answer on the terminal while it comes: text on standard output, thoughts on standard error.

use std::io::{self, IsTerminal, Write};

use msg_core::StreamEvent;

use crate::context::Context;
use crate::endpoint::Masking;
use crate::terminal;

/// What has been shown, so that lines end where something else begins.
pub(super) struct Show {
    is_on: bool,
    thoughts: bool,
    /// Text for a terminal may not command it.
    is_terminal: bool,
    dim: bool,
    last: Shown,
    ends_line: bool,
    /// Takes the endpoint's key out of what is shown.
    masking: Masking,
    /// What is to be shown, in order.
    waiting: Vec<(Place, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Nothing,
    Thought,
    Text,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Out,
    Err,
}

impl Show {
    pub(super) fn new(cx: &Context, is_on: bool, masking: Masking) -> Self {
        Self {
            is_on,
            thoughts: !cx.quiet,
            is_terminal: io::stdout().is_terminal(),
            dim: cx.color_err,
            last: Shown::Nothing,
            ends_line: true,
            masking,
            waiting: Vec::new(),
        }
    }

    /// Takes what an event adds; [`Self::flush`] shows it. A closed output is not a reason to lose the answer.
    pub(super) fn event(&mut self, event: &StreamEvent<'_>) {
        if !self.is_on {
            return;
        }
        match event {
            StreamEvent::TextDelta { text, .. } | StreamEvent::RefusalDelta { text, .. } => {
                self.turn_to(Shown::Text);
                let text = self.masking.piece(text);
                self.print(&text);
            }
            StreamEvent::ReasoningDelta { text, .. } if self.thoughts => {
                self.turn_to(Shown::Thought);
                let text = self.masking.piece(text);
                self.think(&text);
            }
            StreamEvent::ToolCall { call, .. } if self.thoughts => {
                self.turn_to(Shown::Thought);
                self.think(&format!("[call of {}, recorded and not run]\n", call.name));
            }
            _ => {}
        }
    }

    /// Says something that is not part of the answer.
    pub(super) fn aside(&mut self, text: &str) {
        self.end();
        if self.thoughts {
            self.put(Place::Err, format!("msg: {}\n", terminal::visible(text)));
            self.flush();
        }
    }

    /// Ends the last line, and shows all.
    pub(super) fn end(&mut self) {
        self.turn_to(Shown::Nothing);
        self.flush();
    }

    /// Shows what was taken.
    pub(super) fn flush(&mut self) {
        for (place, text) in self.waiting.drain(..) {
            let mut to: Box<dyn Write> = match place {
                Place::Out => Box::new(io::stdout().lock()),
                Place::Err => Box::new(io::stderr().lock()),
            };
            let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
        }
    }

    fn turn_to(&mut self, next: Shown) {
        if self.last == next {
            return;
        }
        let rest = self.masking.rest();
        match self.last {
            _ if rest.is_empty() => {}
            Shown::Text => self.print(&rest),
            _ => self.think(&rest),
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
        self.ends_line = text.ends_with('\n') || text.is_empty() && self.ends_line;
        let text =
            if self.is_terminal { terminal::visible(text).into_owned() } else { text.to_owned() };
        self.put(Place::Out, text);
    }

    fn think(&mut self, text: &str) {
        self.ends_line = text.ends_with('\n') || text.is_empty() && self.ends_line;
        let text = terminal::visible(text);
        let text = if self.dim { format!("\x1b[2m{text}\x1b[0m") } else { text.into_owned() };
        self.put(Place::Err, text);
    }

    fn put(&mut self, place: Place, text: String) {
        match self.waiting.last_mut() {
            Some((last, before)) if *last == place => before.push_str(&text),
            _ => self.waiting.push((place, text)),
        }
    }
}
