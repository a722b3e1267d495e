//! A block of a stream that is rewritten while it arrives: what it is, and what of it is not written yet.

use msg_codec::{Json, stream::Brackets};
use msg_core::{Extra, RawJson};

use super::{
    frame,
    message::{INPUT, SIGNATURE, TEXT, THINKING, call_head, text_head, thinking_head, unknown},
};

#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// Its start is written.
    pub(super) begun: bool,
    /// Nothing more comes.
    pub(super) ended: bool,
    /// What is not written yet.
    pub(super) pending: String,
    /// What comes after the last of its deltas.
    pub(super) end: BlockEnd,
    /// The unknown members that it begins with.
    pub(super) extra: Extra,
}

/// What a block says only when it ends.
#[derive(Debug, Clone, Default)]
pub(super) enum BlockEnd {
    #[default]
    Plain,
    Signature(String),
    Citations(RawJson),
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Text,
    Thinking {
        /// Bytes of the text that have come.
        len: usize,
    },
    /// A block of one piece, as JSON.
    Whole(String),
    Call {
        id: String,
        name: String,
        brackets: Brackets,
    },
}

impl Block {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            begun: false,
            ended: false,
            pending: String::new(),
            end: BlockEnd::Plain,
            extra: Extra::default(),
        }
    }

    /// A block that says this, and begins with such unknown members.
    pub(super) fn of(kind: Kind, text: String, extra: &Extra) -> Self {
        Self { pending: text, extra: extra.clone(), ..Self::new(kind) }
    }

    /// Whether it is a thought of so many bytes that goes on.
    pub(super) fn is_thought(&self, bytes: usize) -> bool {
        !self.ended && matches!(self.kind, Kind::Thinking { len } if len == bytes)
    }

    /// Whether it may end when another block waits.
    pub(super) fn may_end(&self) -> bool {
        match &self.kind {
            Kind::Text | Kind::Thinking { .. } | Kind::Whole(_) => true,
            Kind::Call { brackets, .. } => self.ended || brackets.closed(),
        }
    }

    pub(super) fn begin(&self, index: u64, out: &mut Vec<u8>) {
        if let Kind::Whole(json) = &self.kind {
            return frame::block_start(out, index, |it| frame::compact(it, json));
        }
        frame::block_start(out, index, |it| {
            it.object(|it| {
                match &self.kind {
                    Kind::Text => text_head(it),
                    Kind::Thinking { .. } => thinking_head(it),
                    Kind::Call { id, name, .. } => call_head(it, id, name),
                    Kind::Whole(_) => {}
                }
                unknown(it, &self.extra);
            });
        });
    }

    /// Writes what has come of it.
    pub(super) fn write(&mut self, index: u64, out: &mut Vec<u8>) {
        if !self.begun {
            self.begun = true;
            self.begin(index, out);
        }
        let delta = match self.kind {
            Kind::Text => TEXT,
            Kind::Thinking { .. } => THINKING,
            Kind::Call { .. } => INPUT,
            Kind::Whole(_) => return,
        };
        if !self.pending.is_empty() {
            frame::block_delta(out, index, delta, &self.pending);
            self.pending.clear();
        }
        match std::mem::take(&mut self.end) {
            BlockEnd::Plain => {}
            BlockEnd::Signature(text) => frame::block_delta(out, index, SIGNATURE, &text),
            BlockEnd::Citations(list) => {
                let citations = Json::from_valid(list.text()).elements();
                citations.for_each(|it| frame::citation(out, index, it));
            }
        }
    }
}
