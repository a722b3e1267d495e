//! Bracket thinking (XT-8): a line that begins with `[` and holds a sentence.

use super::span::{Span, SpanEnd};
use super::{Machine, Mode};
use crate::block::opener::opener;
use crate::event::Ev;
use crate::event::ThinkingStyle;
use crate::input::{Incomplete, Input, MORE, Need};
use crate::lex::trim;
use crate::options::Thinking;

/// Longest candidate.
const BRACKET_MAX: usize = 16384;

/// A `[` that may open a thought.
#[derive(Debug)]
pub(super) struct Bracket {
    pub(super) start: usize,
    at: usize,
    depth: usize,
    span: Option<Span>,
    /// At the beginning of a line inside the brackets.
    line: bool,
    /// The matching `]` has been found here.
    close: Option<usize>,
}

impl Bracket {
    pub(super) fn new(start: usize) -> Self {
        Bracket { start, at: start + 1, depth: 1, span: None, line: false, close: None }
    }

    /// Where the matching `]` stands; `None` if this is no thought.
    fn run(&mut self, w: &Input<'_>) -> Result<Option<usize>, Incomplete> {
        if w.at(self.start + 1) == Some(b'[') {
            return Ok(None);
        }
        loop {
            if let Some(close) = self.close {
                return Ok(self.followed_well(w)?.then_some(close));
            }
            if self.at - self.start >= BRACKET_MAX {
                return Ok(None);
            }
            if let Some(span) = &mut self.span {
                self.at = match span.run(w)? {
                    SpanEnd::Closed(p) | SpanEnd::Text(p) | SpanEnd::Open(p) => p,
                };
                self.span = None;
                continue;
            }
            if self.line {
                if line_ends_it(w, self.at, self.start + BRACKET_MAX)? {
                    return Ok(None);
                }
                self.line = false;
            }
            let Some(b) = w.at(self.at) else {
                return if w.eof { Ok(None) } else { Err(MORE.by(self.start + BRACKET_MAX)) };
            };
            match b {
                b'\\' => {
                    let Some(next) = w.at(self.at + 1) else {
                        return if w.eof { Ok(None) } else { Err(MORE) };
                    };
                    // A character of several bytes has no byte that counts.
                    self.at += if next < 0x80 { 2 } else { 1 };
                }
                b'`' => self.span = Some(Span::new(self.at)),
                b'[' => {
                    self.depth += 1;
                    self.at += 1;
                }
                b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.close = Some(self.at);
                    }
                    self.at += 1;
                }
                b'\r' if w.at(self.at + 1).is_none() && !w.eof => return Err(MORE),
                b'\r' | b'\n' => {
                    self.at += if b == b'\r' && w.at(self.at + 1) == Some(b'\n') { 2 } else { 1 };
                    self.line = true;
                }
                b'<' if opener(w, self.at)?.is_some() => return Ok(None),
                _ => self.at += 1,
            }
        }
    }

    /// Only spaces and tabs up to the line break, the end of input or a real opener.
    fn followed_well(&mut self, w: &Input<'_>) -> Result<bool, Incomplete> {
        self.at = skip_spaces(w, self.at);
        match w.at(self.at) {
            None if !w.eof => Err(Incomplete::on(Need::NotIn(b" \t"))),
            None | Some(b'\r' | b'\n') => Ok(true),
            Some(b'<') => Ok(opener(w, self.at)?.is_some()),
            Some(_) => Ok(false),
        }
    }

    /// Whether more input could still have made this a thought.
    fn undecided(&self, w: &Input<'_>) -> bool {
        let rest = w.str(self.at.min(w.end()), w.end()).trim_matches([' ', '\t']);
        rest.is_empty()
            || self.close.is_none() && rest == "\\"
            || self.close.is_some() && rest.starts_with('<') && !rest.contains('>')
    }
}

impl Machine {
    pub(super) fn bracket(&mut self, w: &Input<'_>) -> Result<(), Incomplete> {
        let Mode::Bracket(bracket) = &mut self.mode else { return Ok(()) };
        let start = bracket.start;
        let close = bracket.run(w)?;
        self.message.thought_open = close.is_none() && self.message.cut && bracket.undecided(w);
        self.mode = Mode::Text;
        let Some(close) = close.filter(|&close| is_thought(w.str(start + 1, close))) else {
            return Ok(());
        };
        self.text_upto(start);
        self.think(start + 1, close, ThinkingStyle::Bracket);
        self.pos = close + 1;
        self.sent = self.pos;
        Ok(())
    }

    /// Sends a piece of thinking, unless it is left out.
    pub(super) fn think(&mut self, from: usize, to: usize, style: ThinkingStyle) {
        let mut from = from;
        while from < to && self.opts.thinking == Thinking::Extract {
            let end = self.next_seam(from, to);
            self.queue.push(Ev::Thinking { from, to: end, style });
            from = end;
        }
    }
}

/// A blank line, a line that begins with `[`, or no more than blanks up to `limit`.
fn line_ends_it(w: &Input<'_>, pos: usize, limit: usize) -> Result<bool, Incomplete> {
    let p = skip_spaces(w, pos);
    match w.at(p) {
        _ if p >= limit => Ok(true),
        None if !w.eof => Err(Incomplete::on(Need::NotIn(b" \t")).by(limit)),
        None | Some(b'\r' | b'\n') => Ok(true),
        Some(b'[') => Ok(p - pos <= 3 && w.str(pos, p).bytes().all(|b| b == b' ')),
        Some(_) => Ok(false),
    }
}

/// Skips spaces and tabs.
fn skip_spaces(w: &Input<'_>, pos: usize) -> usize {
    let rest = w.from(pos);
    pos + rest.iter().position(|b| !matches!(b, b' ' | b'\t')).unwrap_or(rest.len())
}

/// Whether the content of brackets reads like a thought (XT-8).
pub(crate) fn is_thought(content: &str) -> bool {
    let text = without_enumerator(trim(content));
    if !text.chars().next().is_some_and(char::is_alphabetic) {
        return false;
    }
    let trimmed = trim(content);
    if is_json_items(trimmed) || is_word_list(text) {
        return false;
    }
    let caseless = text
        .chars()
        .filter(|c| !c.is_ascii() && c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase())
        .count();
    let ends = text.ends_with(['.', '!', '?', '…', '。', '！', '？']);
    let words = text.split([' ', '\t', '\r', '\n']).filter(|w| !w.is_empty()).count();
    caseless >= 4
        || caseless >= 1 && ends
        || text.chars().any(char::is_lowercase) && (words >= 2 || ends)
}

fn without_enumerator(text: &str) -> &str {
    let digits = text.bytes().take(4).take_while(u8::is_ascii_digit).count();
    if !(1..=3).contains(&digits) {
        return text;
    }
    let Some(rest) = text[digits..].strip_prefix(['.', ')']) else { return text };
    match rest.strip_prefix([' ', '\t']) {
        Some(rest) => trim(rest),
        None => text,
    }
}

fn is_json_items(text: &str) -> bool {
    let array = format!("[{text}]");
    crate::json::parse(&array, 64).is_some()
}

/// A comma list of single words.
fn is_word_list(text: &str) -> bool {
    let word = |w: &str| {
        let w = trim(w);
        !w.is_empty()
            && w.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '"' | '-'))
    };
    text.contains(',') && text.split(',').all(word)
}
