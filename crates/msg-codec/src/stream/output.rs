//! The three texts of a message and their events: one place where a delta is kept and announced.

use std::borrow::Cow;

use msg_core::StreamEvent;

use super::channel::Channel;
use super::step::Step;
use crate::json::Str;

/// Which text of a message a delta belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// What the model says.
    Text,
    /// What it thought.
    Reasoning,
    /// Why it refuses.
    Refusal,
}

impl TextKind {
    /// Appends a delta and announces what it added.
    pub fn push(self, channel: &mut Channel, text: Str<'_>, step: &mut Step<'_, '_>) {
        let added = channel.push(text, &mut step.text_gauge());
        self.announce(added, step);
    }

    /// Ends a text; what a half surrogate at its end became is announced.
    pub fn end(self, channel: &mut Channel, step: &mut Step<'_, '_>) {
        let added = channel.end(&mut step.text_gauge());
        self.announce(added, step);
    }

    /// Sends a delta that is not empty.
    pub fn announce(self, text: &str, step: &mut Step<'_, '_>) {
        if text.is_empty() {
            return;
        }
        let (choice, text) = (step.choice, Cow::Borrowed(text));
        (step.sink)(match self {
            Self::Text => StreamEvent::TextDelta { choice, text },
            Self::Reasoning => StreamEvent::ReasoningDelta { choice, text },
            Self::Refusal => StreamEvent::RefusalDelta { choice, text },
        });
    }
}
