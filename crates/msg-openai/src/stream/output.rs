//! The three texts of a message and their events: one place where a delta is kept and announced.

use std::borrow::Cow;

use msg_core::StreamEvent;

use super::calls::Step;
use super::channel::Channel;
use super::wire::Str;

/// Which text a delta belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Reasoning,
    Refusal,
}

/// Appends a delta and announces what it added.
pub(crate) fn push(kind: Kind, channel: &mut Channel, text: Str<'_>, step: &mut Step<'_, '_>) {
    let added = channel.push(text, &mut step.text_gauge());
    announce(kind, added, step);
}

/// Ends a text; what a half surrogate at its end became is announced.
pub(crate) fn end(kind: Kind, channel: &mut Channel, step: &mut Step<'_, '_>) {
    let added = channel.end(&mut step.text_gauge());
    announce(kind, added, step);
}

/// Sends a delta that is not empty.
pub(crate) fn announce(kind: Kind, text: &str, step: &mut Step<'_, '_>) {
    if text.is_empty() {
        return;
    }
    let (choice, text) = (step.choice, Cow::Borrowed(text));
    (step.sink)(match kind {
        Kind::Text => StreamEvent::TextDelta { choice, text },
        Kind::Reasoning => StreamEvent::ReasoningDelta { choice, text },
        Kind::Refusal => StreamEvent::RefusalDelta { choice, text },
    });
}
