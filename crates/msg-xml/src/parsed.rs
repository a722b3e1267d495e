//! A message that has been read: its segments in order and its diagnostics (XT-2), and the `Collector` that builds it
//! from events.

use std::ops::Range;

use msg_core::{Diagnostic, IdSource, Message, Part, Reasoning, Role};

use crate::call::{ParsedCall, PartialCall, fresh_id};
use crate::code::Code;
use crate::event::{CallEnd, Event, ThinkingStyle};
use crate::lex;
use crate::schema::SchemaSet;

/// A part of the message.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedPart {
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
    Call(ParsedCall),
    /// A call that was cut off.
    Partial(PartialCall),
}

/// A message that has been read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The segments in order.
    pub segments: Vec<ParsedPart>,
    /// What was found, by position.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// The calls that may be run.
    pub fn calls(&self) -> impl Iterator<Item = &ParsedCall> {
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

// Builds a message from events, so that whole and streamed reading cannot differ (XT-41).
//
// ```text
// text "Look: "   thinking "I call ls "   text "<tool>…"    pieces as they were sent
//                                         reclaim           the last turns out to be a call, which goes there
// ```

/// What a piece is: text, or thinking in a style.
type Kind = Option<ThinkingStyle>;

/// Text or thinking. If it is as long as its span, it is the bytes of it.
#[derive(Debug)]
struct Piece {
    kind: Kind,
    text: String,
    span: Range<u64>,
}

#[derive(Debug)]
enum Item {
    Piece(Piece),
    Call(CallEnd),
    /// Something was removed: texts around it do not merge.
    Gap,
}

/// Builds a [`Parsed`] from events (the law of XT-41).
///
/// ```
/// use msg_xml::{Collector, ParseOptions, StreamParser, parse};
/// let text = b"[I look first]\n<tool><tool_name>ls</tool_name></tool>";
/// let mut parser = StreamParser::new(ParseOptions::default());
/// let mut all = Collector::default();
/// for byte in text.chunks(1) {
///     parser.feed(byte).for_each(|event| all.push(event));
/// }
/// parser.finish(None).for_each(|event| all.push(event));
/// assert_eq!(all.finish(), parse(text, None, &ParseOptions::default()));
/// ```
#[derive(Debug, Default)]
pub struct Collector {
    items: Vec<Item>,
    diagnostics: Vec<Diagnostic>,
    /// Where reclaimed calls go.
    insert: Option<usize>,
}

impl Collector {
    /// Takes the next event.
    pub fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Text { text, span } => self.piece(None, &text, span),
            Event::Thinking { text, span, style } => self.piece(Some(style), &text, span),
            Event::ToolEnd { outcome, .. } => self.call(*outcome),
            Event::ToolVoid { code: Code::ToolTooLarge | Code::DepthLimit, .. } => {
                self.items.push(Item::Gap);
            }
            Event::Reclaim(range) => self.reclaim(&range),
            Event::Diagnostic(diagnostic) => self.diagnostics.push(*diagnostic),
            _ => {}
        }
    }

    /// The message, once the parser has finished.
    pub fn finish(self) -> Parsed {
        let mut open = Open::default();
        for item in self.items {
            match item {
                Item::Piece(piece) => open.piece(piece),
                Item::Gap => open.gap = true,
                Item::Call(outcome) => {
                    let span = range(&outcome.call().span);
                    let kind = match outcome {
                        CallEnd::Complete(call) => SegmentKind::Call(call),
                        CallEnd::Partial(call) => SegmentKind::Partial(call),
                    };
                    open.flush();
                    open.segments.push(ParsedPart { span, kind });
                }
            }
        }
        open.flush();
        let mut diagnostics = self.diagnostics;
        msg_core::sort_by_rank(&mut diagnostics, |d| d.at.start);
        Parsed { segments: open.segments, diagnostics }
    }

    /// A piece that goes on with the one before becomes part of it, so that few are kept.
    fn piece(&mut self, kind: Kind, text: &str, span: Range<u64>) {
        let piece = Piece { kind, text: String::new(), span };
        match self.items.last_mut() {
            Some(Item::Piece(last))
                if last.kind == kind
                    && last.span.end == piece.span.start
                    && last.is_exact(last.text.len())
                    && piece.is_exact(text.len()) =>
            {
                last.text.push_str(text);
                last.span.end = piece.span.end;
            }
            _ => self.items.push(Item::Piece(Piece { text: text.to_owned(), ..piece })),
        }
    }

    fn call(&mut self, outcome: CallEnd) {
        let item = Item::Call(outcome);
        match &mut self.insert {
            Some(at) => {
                self.items.insert(*at, item);
                *at += 1;
            }
            None => self.items.push(item),
        }
    }

    /// Takes the range out of what was collected and remembers its place.
    fn reclaim(&mut self, range: &Range<u64>) {
        let mut insert = None;
        let items = std::mem::take(&mut self.items);
        for item in items {
            let Item::Piece(mut piece) = item else {
                self.items.push(item);
                continue;
            };
            let after = piece.split_off(range.end);
            if !piece.split_off(range.start).text.is_empty() {
                insert = Some(self.items.len() + usize::from(!piece.text.is_empty()));
            }
            let rest = [piece, after].into_iter().filter(|piece| !piece.text.is_empty());
            self.items.extend(rest.map(Item::Piece));
        }
        self.insert = insert.or(Some(self.items.len()));
    }
}

impl Piece {
    fn is_exact(&self, len: usize) -> bool {
        self.span.end - self.span.start == len as u64
    }

    /// Cuts it at a position of the input; what is not its bytes is one character, and stays whole.
    fn split_off(&mut self, pos: u64) -> Piece {
        let pos = pos.clamp(self.span.start, self.span.end);
        let at = match usize::try_from(pos - self.span.start) {
            Ok(at) if self.text.is_char_boundary(at) && pos < self.span.end => at,
            _ => self.text.len(),
        };
        let piece =
            Piece { kind: self.kind, text: self.text.split_off(at), span: pos..self.span.end };
        self.span.end = pos;
        piece
    }
}

/// What is not yet a segment: text, and a thought after it.
#[derive(Default)]
struct Open {
    segments: Vec<ParsedPart>,
    text: Option<Piece>,
    thought: Option<Piece>,
    gap: bool,
}

impl Open {
    fn piece(&mut self, piece: Piece) {
        if piece.kind.is_some() {
            return self.think(piece);
        }
        self.end_thought();
        match &mut self.text {
            Some(text) if !self.gap => text.join(&piece),
            _ => {
                self.end_text();
                self.text = Some(piece);
            }
        }
        self.gap = false;
    }

    fn think(&mut self, piece: Piece) {
        match &mut self.thought {
            Some(known) if known.kind == piece.kind && known.span.end == piece.span.start => {
                known.join(&piece);
            }
            _ => {
                self.end_thought();
                self.thought = Some(piece);
            }
        }
    }

    /// A thought of blanks only is not one, and the texts around it are one.
    fn end_thought(&mut self) {
        let Some(thought) = self.thought.take().filter(|it| !lex::all_blank(&it.text)) else {
            return;
        };
        self.end_text();
        self.segments.push(thought.segment());
    }

    fn end_text(&mut self) {
        let text = self.text.take().filter(|it| !lex::all_blank(&it.text));
        self.segments.extend(text.map(Piece::segment));
    }

    fn flush(&mut self) {
        self.end_thought();
        self.end_text();
    }
}

impl Piece {
    fn join(&mut self, more: &Piece) {
        self.text.push_str(&more.text);
        self.span.end = more.span.end;
    }

    fn segment(self) -> ParsedPart {
        let kind = match self.kind {
            Some(style) => SegmentKind::Thinking { text: self.text, style },
            None => SegmentKind::Text(self.text),
        };
        ParsedPart { span: range(&self.span), kind }
    }
}

fn range(span: &Range<u64>) -> Range<usize> {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    size(span.start)..size(span.end)
}
