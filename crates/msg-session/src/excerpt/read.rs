//! Reads the excerpt of a source: one pass, a line at a time, in which the frame rules are applied.

use std::borrow::Cow;
use std::cell::RefCell;

use super::clean::Clean;
use super::feed::{Fed, Feed};
use super::shorten::Shortened;
use super::{Effect, Elided};
use crate::Error;
use crate::finding::Finding;
use crate::frame::{Lines, Record, byte_order_mark, save_line, too_large};
use crate::json::BLANKS;
use crate::source::{ReadAt, fill};

const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads the excerpt; records of more than `max_record` bytes are not looked into.
pub(crate) fn read(source: &dyn ReadAt, max_record: u64) -> Result<Lines<'_>, Error> {
    let mut findings = Vec::new();
    let mut start = [0; 3];
    let has_mark = fill(source, 0, &mut start)? == MARK.len() && start == MARK;
    let skipped = if has_mark { MARK.len() as u64 } else { 0 };
    findings.extend(has_mark.then(byte_order_mark));
    let mut reader = Excerpter {
        short: Shortened::default(),
        clean: Clean::new(source, skipped),
        records: Vec::new(),
        findings,
        line: 0,
        effect: Effect { written: u64::from(has_mark), removed: u64::from(has_mark), bytes: 0 },
    };
    let mut feed = Feed::new(source, skipped, max_record);
    while let Some(fed) = feed.next()? {
        reader.line += 1;
        match fed.is_too_large {
            true => reader.too_large(&fed),
            false => reader.line(feed.bytes(fed.span.clone()), fed.line_end),
        }
    }
    Ok(reader.finish())
}

struct Excerpter<'s> {
    short: Shortened,
    clean: Clean<'s>,
    records: Vec<Record>,
    findings: Vec<Finding>,
    line: u32,
    effect: Effect,
}

impl<'s> Excerpter<'s> {
    fn line(&mut self, line: &[u8], line_end: &'static str) {
        let at = self.clean.len();
        let whole = (line.len() + line_end.len()) as u64;
        let Ok(text) = std::str::from_utf8(line) else { return self.damaged(line, line_end) };
        if text.trim_matches(BLANKS).is_empty() {
            self.short.blank(text, at);
            self.short.text.push_str(line_end);
            return self.clean.push_same(whole);
        }
        let start = self.short.text.len();
        if !self.short.record(text, at) {
            return self.damaged(line, line_end);
        }
        self.push(start, false);
        self.short.text.push_str(line_end);
        self.clean.push_same(whole);
    }

    fn push(&mut self, start: usize, opaque: bool) {
        self.records.push(Record::new(start..self.short.text.len(), self.line, opaque));
    }

    fn too_large(&mut self, fed: &Fed) {
        self.findings.push(too_large(fed.len, self.records.len(), self.line));
        let start = self.short.text.len();
        self.short.whole_line(fed.len, self.clean.len());
        self.push(start, true);
        self.short.text.push_str(fed.line_end);
        self.clean.push_same(fed.len + fed.line_end.len() as u64);
    }

    fn damaged(&mut self, line: &[u8], line_end: &'static str) {
        let saved = save_line(line, line_end.as_bytes(), self.line);
        self.findings.extend(saved.findings);
        let mut at = self.clean.len();
        for (object, behind) in &saved.pieces {
            let start = self.short.text.len();
            if !object.is_empty() && self.short.record(object, at) {
                self.push(start, false);
            }
            self.short.text.push_str(behind);
            at += (object.len() + behind.len()) as u64;
        }
        let whole = (line.len() + line_end.len()) as u64;
        self.clean.push_damaged(whole, at - self.clean.len());
        self.effect.removed += 1;
        self.effect.written += saved.pieces.len() as u64;
    }

    fn finish(self) -> Lines<'s> {
        Lines {
            text: Cow::Owned(self.short.text),
            records: self.records,
            findings: self.findings,
            elided: Some(Box::new(Elided {
                clean: self.clean,
                holes: self.short.holes,
                effect: self.effect,
                failure: RefCell::new(None),
            })),
        }
    }
}
