//! One cell at a time: its definition, its gaps, its body (MF-9 to MF-12).

use super::fences::within;
use super::footnotes;
use super::grammar::{self, Definition, Lexed};
use super::line::{Line, is_empty_line, lines, skip_empty, trim_empty_end};
use super::raw::{Head as CellHead, Place, Places, RawCell};
use super::scan::Head;
use crate::diag::Findings;
use crate::span::Span;
use memchr::memmem;
use std::sync::Arc;

/// Builds the cells that begin at `heads`.
pub(super) fn cells(
    source: &Arc<[u8]>,
    heads: &[Head],
    closed: &[Span],
    found: &mut Findings,
) -> Vec<RawCell> {
    let first_strong = heads.iter().find(|h| h.strong).map_or(usize::MAX, |h| h.start);
    let mut out: Vec<RawCell> = Vec::with_capacity(heads.len());
    let (mut line, mut counted) = (1, 0);
    let mut blocks = Vec::new();
    for (i, head) in heads.iter().enumerate() {
        line += memchr::memchr_iter(b'\n', &source[counted..head.start]).count();
        counted = head.start;
        let end = heads.get(i + 1).map_or(source.len(), |h| h.start);
        let mut draft = Draft::new(source, *head, end, closed);
        if head.start < first_strong {
            draft.footnotes();
            blocks.extend(draft.footnote_block.map(|block| (i, block)));
        }
        draft.define(found);
        out.push(draft.finish(source, i + 1, line));
    }
    footnotes::bind(source, &mut out, &blocks, found);
    for cell in &out {
        if cell.definition().is_none()
            && cell.attrs.is_empty()
            && cell.defined_id().is_none()
            && cell.head().id.is_some()
        {
            found.add(
                cell.head().line.start,
                "msgfile::definition-missing",
                "the cell has an id but no definition",
            );
        }
    }
    out
}

/// What older writers put before definitions at the end of a cell (MF-10).
const FOOTNOTES: &[u8] = b"<!-- Footnotes -->";

struct Draft<'a> {
    source: &'a [u8],
    closed: &'a [Span],
    head: CellHead,
    /// End of what is left for definition, gaps and body.
    end: usize,
    cell_end: usize,
    footnote_block: Option<Span>,
    definition: Option<Span>,
    defined_id: Option<Span>,
    ty: Option<Span>,
    lexed: Lexed,
}

impl<'a> Draft<'a> {
    fn new(source: &'a [u8], head: Head, end: usize, closed: &'a [Span]) -> Self {
        let line = Line::at(source, head.start, end);
        let marker = grammar::marker(line.text(source));
        let shift = |s: Span| Span::new(s.start + line.start, s.end + line.start);
        let head = CellHead {
            line: line.span(),
            level: head.level,
            kind: head.kind,
            strong: head.strong,
            title: marker.and_then(|m| m.title).map(shift),
            id: marker.and_then(|m| m.id).map(shift),
        };
        Self {
            source,
            closed,
            head,
            end,
            cell_end: end,
            footnote_block: None,
            definition: None,
            defined_id: None,
            ty: None,
            lexed: Lexed::default(),
        }
    }

    /// `<!-- Footnotes -->` and then only definitions, to the end of the cell (MF-10). Of several blocks
    /// in a row the first begins it.
    fn footnotes(&mut self) {
        let text = &self.source[self.head.line.end..self.end];
        let (mut begin, mut some) = (self.end, false);
        for hit in memmem::rfind_iter(text, FOOTNOTES) {
            let start = self.head.line.end + hit;
            let line = Line::at(self.source, start, self.end);
            let own_line = self.source[start - 1] == b'\n'
                && is_empty_line(&line.text(self.source)[FOOTNOTES.len()..]);
            let block = own_line.then(|| self.only_definitions(line.next, begin)).flatten();
            let Some(any) = block.filter(|_| !within(self.closed, start)) else { break };
            (begin, some) = (start, some || any);
        }
        if some {
            self.footnote_block = Some(Span::new(begin, self.end));
            self.end = begin;
        }
    }

    /// Whether there are definitions and, beside empty lines, nothing else; none if there is something.
    fn only_definitions(&self, from: usize, to: usize) -> Option<bool> {
        let mut texts = lines(self.source, from, to).map(|it| it.text(self.source));
        texts.try_fold(false, |some, text| {
            let is_one = grammar::definition(text).is_some();
            (is_one || is_empty_line(text)).then_some(some || is_one)
        })
    }

    /// Finds the definition: the first line that is not empty, or a later one of the same id.
    fn define(&mut self, found: &mut Findings) {
        let at = skip_empty(self.source, self.head.line.end, self.end);
        if at == self.end {
            return;
        }
        let line = Line::at(self.source, at, self.end);
        if let Some(def) = grammar::definition(line.text(self.source)) {
            let id = Span::new(at + def.id.start, at + def.id.end);
            let same = self.head.id.is_some_and(|h| h.of(self.source) == id.of(self.source));
            if same || def.ty.is_some() {
                if self.head.id.is_none() {
                    found.add(
                        self.head.line.start,
                        "msgfile::heading-missing-ref",
                        "the heading has no id; its definition's is taken",
                    );
                } else if !same {
                    found.add(
                        at,
                        "msgfile::id-mismatch",
                        "heading and definition have different ids; the heading's counts",
                    );
                }
                self.take(line, def, found);
                let below = self.definition.map_or(line.next, |d| d.end);
                if below < self.end && skip_empty(self.source, below, self.end) == below {
                    found.add(
                        at,
                        "msgfile::definition-not-followed-by-blank",
                        "the body begins directly below the definition",
                    );
                }
                return;
            }
        }
        self.detached(line, found);
    }

    /// A typed definition of the cell's id further down (MF-10).
    fn detached(&mut self, first: Line, found: &mut Findings) {
        let Some(id) = self.head.id else { return };
        let mut needle = b"[^".to_vec();
        needle.extend_from_slice(id.of(self.source));
        needle.extend_from_slice(b"]:");
        let finder = memmem::Finder::new(&needle);
        let mut at = first.next;
        while let Some(hit) = finder.find(&self.source[at..self.end]) {
            let hit = at + hit;
            let indent =
                self.source[..hit].iter().rev().take(4).take_while(|&&b| b == b' ').count();
            let line = Line::at(self.source, hit - indent, self.end);
            at = line.next;
            let begins = line.start >= first.next && self.source[line.start - 1] == b'\n';
            if !begins || within(self.closed, line.start) {
                continue;
            }
            if let Some(def) =
                grammar::definition(line.text(self.source)).filter(|d| d.ty.is_some())
            {
                found.add(
                    line.start,
                    "msgfile::definition-detached",
                    "the definition does not follow its heading",
                );
                self.take(line, def, found);
                return;
            }
        }
    }

    fn take(&mut self, line: Line, def: Definition, found: &mut Findings) {
        let shift = |s: Span| Span::new(s.start + line.start, s.end + line.start);
        self.defined_id = Some(shift(def.id));
        self.ty = def.ty.map(shift);
        attributes(self.source, line, def.attrs, &mut self.lexed, found);
        let mut end = line.next;
        for more in lines(self.source, line.next, self.end) {
            if !grammar::is_continuation(more.text(self.source)) {
                break;
            }
            attributes(self.source, more, 0, &mut self.lexed, found);
            end = more.next;
        }
        duplicates(self.source, line.start, &self.lexed, found);
        self.definition = Some(Span::new(line.start, end));
    }

    /// The body around the definition.
    fn finish(self, source: &Arc<[u8]>, ordinal: usize, line: usize) -> RawCell {
        let from = self.head.line.end;
        let first = skip_empty(source, from, self.end);
        let attached = self.definition.filter(|d| d.start == first);
        let start = attached.map_or(from, |d| d.end);
        let body = skip_empty(source, start, self.end);
        let cut =
            self.definition.filter(|_| attached.is_none()).unwrap_or(Span::new(self.end, self.end));
        let more = skip_empty(source, cut.end, self.end) < self.end;
        let body_end = if more { cut.start } else { trim_empty_end(source, body, cut.start) };
        let rest_end = if more { trim_empty_end(source, cut.end, self.end) } else { cut.end };
        let body =
            (Span::new(body, body_end.max(body)).into(), Span::new(cut.end, rest_end).into());
        RawCell {
            source: Arc::clone(source),
            at: self.places(ordinal, line, body),
            crlf: source[..from].ends_with(b"\r\n"),
            attrs: self.lexed.attrs.into(),
        }
    }

    fn places(&self, ordinal: usize, line: usize, body: (Place, Place)) -> Places {
        let CellHead { line: heading, level, kind, strong, title, id } = self.head;
        Places {
            ordinal: ordinal as u32,
            line: line as u32,
            whole: Span::new(heading.start, self.cell_end).into(),
            end: self.end as u32,
            heading_end: heading.end as u32,
            title: title.into(),
            id: id.into(),
            level,
            kind,
            strong,
            definition: self.definition.into(),
            defined_id: self.defined_id.into(),
            ty: self.ty.into(),
            body,
        }
    }
}

pub(super) fn attributes(
    source: &[u8],
    line: Line,
    from: usize,
    lexed: &mut Lexed,
    found: &mut Findings,
) {
    lexed.codes.clear();
    grammar::attributes(line.text(source), from, line.start, lexed);
    for code in &lexed.codes {
        found.add(line.start, code, oddity(code));
    }
}

/// What is said of a line of attributes in which something is odd.
fn oddity(code: &str) -> &'static str {
    match code {
        "msgfile::unterminated-quote" => {
            "a quote is not closed; the value ends at the next white space"
        }
        "msgfile::smart-quotes" => "typographic quotes are read like straight ones",
        "msgfile::attribute-junk" => "something between the attributes is no attribute",
        "msgfile::ellipsis-ignored" => "an ellipsis between the attributes is ignored",
        _ => "attributes are separated by white space, not by commas",
    }
}

pub(super) fn duplicates(source: &[u8], at: usize, lexed: &Lexed, found: &mut Findings) {
    let keys = lexed.attrs.iter().map(|a| a.key(source));
    let repeated = if lexed.attrs.len() < 9 {
        keys.clone().enumerate().any(|(i, k)| keys.clone().take(i).any(|other| other == k))
    } else {
        // Sorted numbers instead of a set of keys: a line may hold millions.
        let key = |n: u32| lexed.attrs[n as usize].key(source);
        let mut order: Vec<u32> = (0..lexed.attrs.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        order.windows(2).any(|two| key(two[0]) == key(two[1]))
    };
    if repeated {
        found.add(
            at,
            "msgfile::duplicate-attribute",
            "an attribute is there twice; the last one counts",
        );
    }
}
