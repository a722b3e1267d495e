//! Builds a message from events, so that whole and streamed reading cannot differ (the law of XT-41).

use std::ops::Range;

use msg_core::Diagnostic;

use crate::code::Code;
use crate::event::{Event, Outcome, ThinkingStyle};
use crate::lex;
use crate::parsed::{Parsed, Segment, SegmentKind};

/// A run of pieces whose text is the bytes of their span.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: u64,
    to: u64,
    at: usize,
}

#[derive(Debug)]
enum Item {
    Text {
        text: String,
        pieces: Vec<Piece>,
    },
    Thinking {
        text: String,
        pieces: Vec<Piece>,
        style: ThinkingStyle,
    },
    Call {
        span: Range<u64>,
        outcome: Outcome,
    },
    /// Something was removed: texts around it do not merge.
    Gap,
}

/// Builds a [`Parsed`] from events (the law of XT-41).
///
/// ```
/// use msg_xml::{Collector, Options, StreamParser, parse};
/// let text = b"[I look first]\n<tool><tool_name>ls</tool_name></tool>";
/// let mut parser = StreamParser::new(Options::default());
/// let mut all = Collector::default();
/// for byte in text.chunks(1) {
///     parser.feed(byte).for_each(|event| all.push(event));
/// }
/// parser.finish(None).for_each(|event| all.push(event));
/// assert_eq!(all.finish(), parse(text, None, &Options::default()));
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
            Event::Text { text, span } => self.text(&text, span),
            Event::Thinking { text, span, style } => self.thinking(&text, span, style),
            Event::ToolEnd { outcome, .. } => self.call(*outcome),
            Event::ToolVoid { code, .. } => {
                if matches!(code, Code::ToolTooLarge | Code::DepthLimit) {
                    self.items.push(Item::Gap);
                }
            }
            Event::Reclaim(range) => self.reclaim(range),
            Event::Diagnostic(diagnostic) => self.diagnostics.push(*diagnostic),
            _ => {}
        }
    }

    /// The message, once the parser has finished.
    pub fn finish(self) -> Parsed {
        let mut segments: Vec<Segment> = Vec::new();
        let mut gap = false;
        let mut pending: Option<(String, Range<usize>)> = None;
        let flush = |pending: &mut Option<(String, Range<usize>)>, segments: &mut Vec<Segment>| {
            if let Some((text, span)) = pending.take().filter(|(t, _)| !lex::all_blank(t)) {
                segments.push(Segment { span, kind: SegmentKind::Text(text) });
            }
        };
        for item in self.items {
            match item {
                Item::Text { text, pieces } => {
                    let span = cover(&pieces);
                    match &mut pending {
                        Some((all, covered)) if !gap => {
                            all.push_str(&text);
                            covered.end = span.end;
                        }
                        _ => {
                            flush(&mut pending, &mut segments);
                            pending = Some((text, span));
                        }
                    }
                    gap = false;
                }
                Item::Thinking { text, .. } if lex::all_blank(&text) => {}
                Item::Thinking { text, pieces, style } => {
                    flush(&mut pending, &mut segments);
                    segments.push(Segment {
                        span: cover(&pieces),
                        kind: SegmentKind::Thinking { text, style },
                    });
                }
                Item::Call { span, outcome } => {
                    flush(&mut pending, &mut segments);
                    let kind = match outcome {
                        Outcome::Complete(call) => SegmentKind::Call(call),
                        Outcome::Partial(call) => SegmentKind::Partial(call),
                    };
                    segments.push(Segment { span: size(span.start)..size(span.end), kind });
                }
                Item::Gap => gap = true,
            }
        }
        flush(&mut pending, &mut segments);
        let mut diagnostics = self.diagnostics;
        diagnostics.sort_by_key(|d| d.at.start);
        Parsed { segments, diagnostics }
    }

    fn text(&mut self, text: &str, span: Range<u64>) {
        if let Some(Item::Text { text: all, pieces }) = self.items.last_mut() {
            extend(all, pieces, text, span);
        } else {
            let pieces = vec![Piece { from: span.start, to: span.end, at: 0 }];
            self.items.push(Item::Text { text: text.to_owned(), pieces });
        }
    }

    fn thinking(&mut self, text: &str, span: Range<u64>, style: ThinkingStyle) {
        if let Some(Item::Thinking { text: all, pieces, style: known }) = self.items.last_mut()
            && *known == style
            && pieces.last().is_some_and(|p| p.to == span.start)
        {
            extend(all, pieces, text, span);
        } else {
            let pieces = vec![Piece { from: span.start, to: span.end, at: 0 }];
            self.items.push(Item::Thinking { text: text.to_owned(), pieces, style });
        }
    }

    fn call(&mut self, outcome: Outcome) {
        let span = match &outcome {
            Outcome::Complete(call) => call.span.clone(),
            Outcome::Partial(call) => call.span.clone(),
        };
        let item = Item::Call { span, outcome };
        match &mut self.insert {
            Some(at) => {
                self.items.insert(*at, item);
                *at += 1;
            }
            None => self.items.push(item),
        }
    }

    /// Takes the range out of what was collected and remembers its place.
    fn reclaim(&mut self, range: Range<u64>) {
        let mut i = 0;
        while i < self.items.len() {
            let (Item::Text { text, pieces } | Item::Thinking { text, pieces, .. }) =
                &mut self.items[i]
            else {
                i += 1;
                continue;
            };
            let Some(last) = pieces.last() else { break };
            if last.to <= range.start {
                i += 1;
                continue;
            }
            let (cut, rest) = split_off(text, pieces, range.start);
            let (kept, kept_pieces) = after(cut, rest, range.end);
            let emptied = text.is_empty();
            let style = match &self.items[i] {
                Item::Thinking { style, .. } => Some(*style),
                _ => None,
            };
            let at = if emptied {
                self.items.remove(i);
                i
            } else {
                i + 1
            };
            if !kept_pieces.is_empty() {
                let item = match style {
                    Some(style) => Item::Thinking { text: kept, pieces: kept_pieces, style },
                    None => Item::Text { text: kept, pieces: kept_pieces },
                };
                self.items.insert(at, item);
                self.insert = Some(at);
                return;
            }
            i = at;
            self.insert = Some(at);
        }
        if self.insert.is_none() {
            self.insert = Some(self.items.len());
        }
    }
}

fn extend(all: &mut String, pieces: &mut Vec<Piece>, text: &str, span: Range<u64>) {
    let at = all.len();
    all.push_str(text);
    let exact = span.end - span.start == text.len() as u64;
    match pieces.last_mut() {
        Some(last)
            if exact && last.to == span.start && (last.to - last.from) as usize == at - last.at =>
        {
            last.to = span.end;
        }
        _ => pieces.push(Piece { from: span.start, to: span.end, at }),
    }
}

/// Cuts text and pieces at an input position; what comes from there on is returned, with pieces counted from it.
fn split_off(text: &mut String, pieces: &mut Vec<Piece>, pos: u64) -> (String, Vec<Piece>) {
    let n = pieces.partition_point(|p| p.to <= pos);
    let mut rest: Vec<Piece> = pieces.split_off(n);
    let Some(first) = rest.first_mut() else { return (String::new(), rest) };
    let mut cut = first.at;
    if first.from < pos {
        let inside = (pos - first.from) as usize;
        pieces.push(Piece { to: pos, ..*first });
        cut += inside;
        (first.from, first.at) = (pos, cut);
    }
    while !text.is_char_boundary(cut.min(text.len())) {
        cut -= 1;
    }
    let tail = text.split_off(cut.min(text.len()));
    for piece in &mut rest {
        piece.at -= cut;
    }
    (tail, rest)
}

fn after(mut text: String, mut pieces: Vec<Piece>, pos: u64) -> (String, Vec<Piece>) {
    split_off(&mut text, &mut pieces, pos)
}

fn cover(pieces: &[Piece]) -> Range<usize> {
    match (pieces.first(), pieces.last()) {
        (Some(first), Some(last)) => size(first.from)..size(last.to),
        _ => 0..0,
    }
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
