//! What the special tokens of models mean in text: headers and ends of harmony's messages (XT-48), calls that begin
//! without a `<` (XT-51, XT-53, XT-54), and tokens after a call (XT-56).

use super::thinking::Thought;
use super::{Machine, Mode};
use crate::dialect::Reader;
use crate::input::{Incomplete, Input};
use crate::options::Thinking;
use crate::special::{
    FAMILIES, HARMONY, MISTRAL_OPEN, Message, Spot, TokenReader, header, token, trailing,
};

/// What ends a message of harmony.
const ENDS: &[&str] = &["<|end|>", "<|return|>", "<|call|>"];
/// What begins the next one.
const BEGINS: &[&str] = &["<|start|>", "<|channel|>"];

/// One past what ends a thought of harmony at `p`; the header of the next message stays.
pub(super) fn thought_end(w: &Input<'_>, p: usize) -> Result<Option<usize>, Incomplete> {
    match token(w, p, ENDS)? {
        None => Ok(token(w, p, BEGINS)?.map(|_| p)),
        found => Ok(found),
    }
}

impl Machine {
    /// Whether a call that is the whole message begins; only blanks and thinking are before this place.
    pub(super) fn whole_call(&mut self, w: &Input<'_>) -> Result<bool, Incomplete> {
        let (p, next) = w.after_blanks(self.pos)?;
        if matches!(next, Some(b'{' | b'[')) {
            let (dialects, call) = (self.opts.dialects.list(), self.message.calls);
            if let Some(reader) = Reader::begin_value(w, p, dialects, Spot::First, call)? {
                self.message.first = false;
                self.begin_block(p, reader);
                return Ok(true);
            }
        }
        // A tag may be one of thinking.
        self.message.first = next == Some(b'<');
        Ok(false)
    }

    /// Text ends at `p`, where a call begins.
    fn begin_block(&mut self, p: usize, reader: Reader) {
        self.text_upto(p);
        self.lines.start = false;
        self.queue.begin(self.message.calls);
        self.mode = Mode::Block(reader);
    }

    /// A `[` in text (XT-54).
    pub(super) fn list_call(&mut self, w: &Input<'_>, p: usize) -> Result<(), Incomplete> {
        if token(w, p, &[MISTRAL_OPEN])?.is_some() && !self.message.thought_open {
            let (dialects, call) = (self.opts.dialects.list(), self.message.calls);
            if let Some(reader) = Reader::begin_value(w, p, dialects, Spot::Text, call)? {
                self.begin_block(p, reader);
                return Ok(());
            }
        }
        self.pos = p + 1;
        Ok(())
    }

    /// A header of harmony, or the end of one of its messages, at `p`; whether there is one.
    pub(super) fn harmony(&mut self, w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
        if !self.opts.dialects.reads(&HARMONY) || self.message.thought_open {
            return Ok(false);
        }
        if self.message.harmony
            && let Some(end) = token(w, p, ENDS)?
        {
            self.pass_token(p, end);
            return Ok(true);
        }
        let Some(found) = header(w, p)? else { return Ok(false) };
        let thinks = self.opts.thinking != Thinking::Off;
        match found.message {
            Message::Thinking if !thinks => return Ok(false),
            Message::Text => self.pass_token(p, found.end),
            Message::Thinking => {
                self.pass_token(p, found.end);
                let mut thought = Thought::new(p, found.end, None);
                thought.by_token = true;
                self.mode = Mode::Thinking(thought);
            }
            Message::Call(tool) => {
                let reader = TokenReader::harmony(p, found.end, tool, self.message.calls);
                self.begin_block(p, Reader::tokens(reader));
            }
        }
        (self.message.harmony, self.message.first) = (true, false);
        Ok(true)
    }

    /// XT-56: a token at `p` that ends a section or turn after a call of its family; whether there is one.
    pub(super) fn ends_nothing(&mut self, w: &Input<'_>, p: usize) -> Result<bool, Incomplete> {
        if !self.message.token_call {
            return Ok(false);
        }
        for family in FAMILIES {
            if self.opts.dialects.reads(family)
                && let Some(end) = trailing(w, p, family)?
            {
                self.pass_token(p, end);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Leaves out a token.
    fn pass_token(&mut self, p: usize, end: usize) {
        self.text_upto(p);
        (self.pos, self.sent) = (end, end);
        self.lines.start = false;
    }
}
