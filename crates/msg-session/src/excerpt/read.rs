//! Reads the excerpt of a source: one pass, a line at a time, in which the frame rules are applied.

use std::borrow::Cow;
use std::cell::RefCell;

use super::clean::Clean;
use super::feed::{Fed, Feed};
use super::settle::{Described, Mark, Settler, Step, Verdict};
use super::shorten::Shortened;
use super::{Effect, Elided};
use crate::Error;
use crate::finding::Finding;
use crate::frame::{Lines, Record, byte_order_mark, save_line, too_large};
use crate::json::{BLANKS, Object};
use crate::source::{ReadAt, fill};
use crate::surrogate;

/// The byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Says what a record is for its neighbours; see [`super::settle`]. It is told too whether the text of the record
/// is free of escapes that could be half a character.
pub(crate) type Describe<'d> = dyn FnMut(&Object<'_>, bool) -> Described + 'd;

/// How many records are kept whatever they are: a session of fewer is held as it is.
const KEPT: usize = 4096;

/// Up to how many bytes a source is held as it is, however many records it has: asking what each of them is costs
/// a quarter of the diagnosis, and gains nothing.
const SMALL: u64 = 4 << 20;

/// Reads the excerpt; records of more than `max_record` bytes are not looked into.
pub(crate) fn read(source: &dyn ReadAt, max_record: u64) -> Result<Lines<'_>, Error> {
    let all = read_with(source, max_record, None)?;
    Ok(all.expect("because nothing is dropped, so that nothing is missed"))
}

/// As [`read`], without stretches in which no rule finds anything, as `describe` says.
pub(crate) fn read_settled<'s>(
    source: &'s dyn ReadAt,
    max_record: u64,
    describe: &mut Describe<'_>,
) -> Result<Lines<'s>, Error> {
    match source.size() <= SMALL {
        true => read(source, max_record),
        false => read_behind(source, max_record, KEPT, describe),
    }
}

/// As [`read_settled`], of a session with more records than `kept`.
pub(super) fn read_behind<'s>(
    source: &'s dyn ReadAt,
    max_record: u64,
    kept: usize,
    describe: &mut Describe<'_>,
) -> Result<Lines<'s>, Error> {
    match read_with(source, max_record, Some((Settler::new(kept), describe)))? {
        Some(lines) => Ok(lines),
        None => read(source, max_record),
    }
}

/// The excerpt; none if a record was missed that was dropped.
fn read_with<'s, 'd>(
    source: &'s dyn ReadAt,
    max_record: u64,
    settler: Option<(Settler, &'d mut Describe<'d>)>,
) -> Result<Option<Lines<'s>>, Error> {
    let mut findings = Vec::new();
    let mut start = [0; 3];
    let has_mark = fill(source, 0, &mut start)? == MARK.len() && start == MARK;
    let skipped = if has_mark { MARK.len() as u64 } else { 0 };
    findings.extend(has_mark.then(byte_order_mark));
    let mut reader = Excerpter {
        short: Shortened::default(),
        clean: Clean::new(source, skipped),
        records: Vec::new(),
        dropped: 0,
        settler,
        findings,
        line: 0,
        effect: Effect { written: u64::from(has_mark), removed: u64::from(has_mark), bytes: 0 },
    };
    let mut feed = Feed::new(source, skipped, max_record);
    while let Some(fed) = feed.next()? {
        reader.line += 1;
        match fed.is_too_large {
            true => reader.too_large(&fed),
            false if !reader.line(feed.bytes(fed.span.clone()), fed.line_end) => return Ok(None),
            false => {}
        }
    }
    Ok(Some(reader.finish()))
}

struct Excerpter<'s, 'd> {
    short: Shortened,
    clean: Clean<'s>,
    records: Vec<Record>,
    /// How many records have left the excerpt.
    dropped: usize,
    settler: Option<(Settler, &'d mut Describe<'d>)>,
    findings: Vec<Finding>,
    line: u32,
    effect: Effect,
}

impl<'s> Excerpter<'s, '_> {
    /// Takes a line; says whether all that it needs is there.
    fn line(&mut self, line: &[u8], line_end: &'static str) -> bool {
        let at = self.clean.len();
        let whole = (line.len() + line_end.len()) as u64;
        let Ok(text) = std::str::from_utf8(line) else {
            return self.damaged(line, line_end);
        };
        if text.trim_matches(BLANKS).is_empty() {
            self.short.blank(text, at);
            self.short.text.push_str(line_end);
            self.clean.push_same(whole);
            return true;
        }
        let start = self.mark();
        if !self.short.record(text, at) {
            return self.damaged(line, line_end);
        }
        self.push(start.text, false);
        let end = self.short.text.len();
        self.short.text.push_str(line_end);
        self.clean.push_same(whole);
        let is_plain = !surrogate::may_have_halves(line);
        self.settle(start, end, is_plain)
    }

    /// Where the next line begins.
    fn mark(&self) -> Mark {
        Mark {
            text: self.short.text.len(),
            holes: self.short.holes.len(),
            record: self.records.len(),
            clean: self.clean.len(),
        }
    }

    /// Lets stretches go that this record settles; says whether it needs none of them.
    fn settle(&mut self, start: Mark, end: usize, is_plain: bool) -> bool {
        let behind = self.mark();
        let Some((settler, describe)) = &mut self.settler else { return true };
        let Some(object) = Object::whole(&self.short.text[start.text..end], start.text) else {
            settler.unsettled();
            return true;
        };
        let mut described = describe(&object, is_plain);
        described.step = match described.step {
            // Nothing is missed yet.
            Step::Back if self.dropped == 0 => Step::Unsettled,
            step if is_plain || step == Step::Back => step,
            _ => Step::Unsettled,
        };
        match settler.record(described, start, behind) {
            Verdict::Drop(from, to) => self.drop(from, to),
            Verdict::Restart => return false,
            Verdict::Nothing => {}
        }
        true
    }

    /// Takes the records between these out of the excerpt.
    fn drop(&mut self, from: Mark, to: Mark) {
        let (text, count) = (to.text - from.text, to.record - from.record);
        self.short.text.drain(from.text..to.text);
        self.short.holes.join(from.text..to.text, from.holes..to.holes, to.clean);
        self.records.drain(from.record..to.record);
        self.records[from.record..].iter_mut().for_each(|it| it.moved_up(text));
        if let Some(first) = self.records.get_mut(from.record) {
            first.is_behind_gap = true;
        }
        self.dropped += count;
    }

    fn push(&mut self, start: usize, opaque: bool) {
        let number = self.records.len() + self.dropped;
        let record = Record::new(start..self.short.text.len(), self.line, opaque);
        self.records.push(record.numbered(number));
    }

    fn unsettled(&mut self) {
        if let Some((settler, _)) = &mut self.settler {
            settler.unsettled();
        }
    }

    fn too_large(&mut self, fed: &Fed) {
        self.unsettled();
        self.findings.push(too_large(fed.len, self.records.len() + self.dropped, self.line));
        let start = self.short.text.len();
        self.short.whole_line(fed.len, self.clean.len());
        self.push(start, true);
        self.short.text.push_str(fed.line_end);
        self.clean.push_same(fed.len + fed.line_end.len() as u64);
    }

    fn damaged(&mut self, line: &[u8], line_end: &'static str) -> bool {
        self.unsettled();
        let saved = save_line(line, line_end.as_bytes(), self.line);
        self.findings.extend(saved.findings);
        let mut at = self.clean.len();
        let mut is_settled = true;
        for (object, behind) in &saved.pieces {
            let start = self.mark();
            if !object.is_empty() && self.short.record(object, at) {
                self.push(start.text, false);
                is_settled &= self.settle(start, self.short.text.len(), false);
            }
            self.short.text.push_str(behind);
            at += (object.len() + behind.len()) as u64;
        }
        let whole = (line.len() + line_end.len()) as u64;
        self.clean.push_damaged(whole, at - self.clean.len());
        self.effect.removed += 1;
        self.effect.written += saved.pieces.len() as u64;
        is_settled
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
