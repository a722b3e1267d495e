//! A message that has been read: segments in order, and what was found on the way (XT-2). How it is built from events
//! is `collector`.

use std::ops::Range;

use msg_core::{Diagnostic, IdSource, Message, Part, Reasoning, Role};

use crate::call::{Call, PartialCall, fresh_id};
use crate::event::ThinkingStyle;
use crate::schema::SchemaSet;

/// A part of the message.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The bytes of the input that it covers; markup around a thought is not part of it.
    pub span: Range<usize>,
    /// What it is.
    pub kind: SegmentKind,
}

/// What a segment is.
#[derive(Clone, Debug, PartialEq)]
pub enum SegmentKind {
    /// Text for the reader, exact.
    Text(String),
    /// A thought, exact.
    Thinking {
        /// Its text.
        text: String,
        /// How it was written.
        style: ThinkingStyle,
    },
    /// A call that may be run.
    Call(Call),
    /// A call that was cut off.
    Partial(PartialCall),
}

/// A message that has been read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The segments in order.
    pub segments: Vec<Segment>,
    /// What was found, by position.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// The calls that may be run.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.segments.iter().filter_map(|s| match &s.kind {
            SegmentKind::Call(call) => Some(call),
            _ => None,
        })
    }

    /// What the complete calls lack and what they have too much ([`SchemaSet::check`]), by position. A step of its
    /// own: none of it is in `diagnostics`.
    pub fn check(&self, schema: &SchemaSet) -> Vec<Diagnostic> {
        self.calls().flat_map(|call| schema.check(call)).collect()
    }

    /// The call that was cut off.
    pub fn partial(&self) -> Option<&PartialCall> {
        self.segments.iter().find_map(|s| match &s.kind {
            SegmentKind::Partial(call) => Some(call),
            _ => None,
        })
    }

    /// All text, joined.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for segment in &self.segments {
            if let SegmentKind::Text(text) = &segment.kind {
                out.push_str(text);
            }
        }
        out
    }

    /// The thoughts.
    pub fn thinking(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|s| match &s.kind {
            SegmentKind::Thinking { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The neutral message, parts in order. A partial call becomes a tool call part too: its arguments are what there is.
    pub fn into_message(self, ids: &mut dyn IdSource) -> Message {
        let mut message = Message::new(Role::Assistant);
        for segment in self.segments {
            message.parts.push(match segment.kind {
                SegmentKind::Text(text) => Part::text(text),
                SegmentKind::Thinking { text, .. } => Part::Reasoning(Reasoning::new(text)),
                SegmentKind::Call(call) => Part::ToolCall(call.to_core(fresh_id(ids))),
                SegmentKind::Partial(call) => Part::ToolCall(call.known.to_core(fresh_id(ids))),
            });
        }
        message
    }
}
