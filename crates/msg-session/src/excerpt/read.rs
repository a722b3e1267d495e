//! Reads the lines of a source in one pass, in which the frame rules are applied: their whole text, or its excerpt.

use std::cell::RefCell;

use super::Elided;
use super::clean::Clean;
use super::feed::{Feed, FeedLine};
use super::shorten::Shortened;
use super::sound::{Mark, Outline, SoundTurns, Step, Verdict};
use crate::Error;
use crate::effect::Effect;
use crate::finding::Finding;
use crate::frame::{Lines, Record, byte_order_mark, save_line, too_large};
use crate::json::{BLANKS, Object};
use crate::source::{ReadAt, fill};
use crate::surrogate;

/// The byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Says what a record is for its neighbours; see [`super::sound`]. It is told too whether the text of the record
/// is free of escapes that could be half a character.
pub(crate) type Outlines<'d> = dyn FnMut(&Object<'_>, bool) -> Outline + 'd;

/// How many records are kept whatever they are: a session of fewer is held as it is.
const KEPT: usize = 4096;

/// Up to how many bytes a source is held as it is, however many records it has: asking what each of them is costs
/// a quarter of the diagnosis, and gains nothing.
const SMALL: u64 = 4 << 20;

/// Reads lines whole; those of more than `max_record` bytes are not looked into. Linear.
pub(crate) fn read_whole(bytes: &[u8], max_record: u64) -> Lines<'static> {
    let all = read_with(&bytes, max_record, Keep::Whole);
    let all = all.ok().flatten().expect("because bytes that are held can always be read");
    Lines { text: all.text, records: all.records, findings: all.findings, elided: None }
}

/// Reads the excerpt; records of more than `max_record` bytes are not looked into.
pub(crate) fn read(source: &dyn ReadAt, max_record: u64) -> Result<Lines<'_>, Error> {
    let all = read_with(source, max_record, Keep::Excerpt)?;
    Ok(all.expect("because nothing is dropped, so that nothing is missed"))
}

/// As [`read`], without turns in which no rule finds anything, as `outlines` says.
pub(crate) fn read_unsound<'s>(
    source: &'s dyn ReadAt,
    max_record: u64,
    outlines: &mut Outlines<'_>,
) -> Result<Lines<'s>, Error> {
    match source.size() <= SMALL {
        true => read(source, max_record),
        false => read_behind(source, max_record, KEPT, outlines),
    }
}

/// As [`read_unsound`], of a session with more records than `kept`.
pub(super) fn read_behind<'s>(
    source: &'s dyn ReadAt,
    max_record: u64,
    kept: usize,
    outlines: &mut Outlines<'_>,
) -> Result<Lines<'s>, Error> {
    match read_with(source, max_record, Keep::Unsound(Box::new(SoundTurns::new(kept)), outlines))? {
        Some(lines) => Ok(lines),
        None => read(source, max_record),
    }
}

/// What is kept of a session.
enum Keep<'d> {
    /// All text.
    Whole,
    /// The excerpt of each record.
    Excerpt,
    /// The excerpts of turns in which something may be found.
    Unsound(Box<SoundTurns>, &'d mut Outlines<'d>),
}

/// The lines; none if a record was missed that was dropped.
fn read_with<'s, 'd>(
    source: &'s dyn ReadAt,
    max_record: u64,
    keep: Keep<'d>,
) -> Result<Option<Lines<'s>>, Error> {
    let mut start = [0; 3];
    let has_mark = fill(source, 0, &mut start)? == MARK.len() && start == MARK;
    let skipped = if has_mark { MARK.len() as u64 } else { 0 };
    // A line that is too large is passed over, where its text is not wanted.
    let max_held = if matches!(keep, Keep::Whole) { u64::MAX } else { max_record };
    let mut reader = LineReader {
        short: Shortened::default(),
        clean: Clean::new(source, skipped),
        records: Vec::new(),
        dropped: 0,
        keep,
        findings: has_mark.then(byte_order_mark).into_iter().collect(),
        line: 0,
        effect: Effect { written: u64::from(has_mark), removed: u64::from(has_mark), bytes: 0 },
    };
    let mut feed = Feed::new(source, skipped, max_held);
    while let Some(line) = feed.next()? {
        reader.line += 1;
        let bytes = feed.bytes(line.span.clone());
        match line.len > max_record {
            true => reader.too_large(&line, bytes),
            false if !reader.line(bytes, line.line_end) => return Ok(None),
            false => {}
        }
    }
    Ok(Some(reader.finish()))
}

struct LineReader<'s, 'd> {
    short: Shortened,
    clean: Clean<'s>,
    records: Vec<Record>,
    /// How many records have left the excerpt.
    dropped: usize,
    keep: Keep<'d>,
    findings: Vec<Finding>,
    line: u32,
    effect: Effect,
}

impl<'s> LineReader<'s, '_> {
    /// Takes a line; says whether all that it needs is there.
    fn line(&mut self, line: &[u8], line_end: &'static str) -> bool {
        let at = self.clean.len();
        let whole = (line.len() + line_end.len()) as u64;
        let Ok(text) = std::str::from_utf8(line) else {
            return self.damaged(line, line_end);
        };
        if text.trim_matches(BLANKS).is_empty() {
            match self.keep {
                Keep::Whole => self.short.text.push_str(text),
                _ => self.short.blank(text, at),
            }
            self.short.text.push_str(line_end);
            self.clean.push_same(whole);
            return true;
        }
        let start = self.mark();
        if !self.record(text, at) {
            return self.damaged(line, line_end);
        }
        self.push(start.text, false);
        let end = self.short.text.len();
        self.short.text.push_str(line_end);
        self.clean.push_same(whole);
        let is_plain = !surrogate::may_have_halves(line);
        self.drop_sound(start, end, is_plain)
    }

    /// Adds the text of a record; nothing if the line is no object.
    fn record(&mut self, line: &str, clean: u64) -> bool {
        if !matches!(self.keep, Keep::Whole) {
            return self.short.record(line, clean);
        }
        let is_object = Object::whole(line, 0).is_some();
        self.short.text.push_str(if is_object { line } else { "" });
        is_object
    }

    /// Where the next line begins.
    fn mark(&self) -> Mark {
        Mark {
            text: self.short.text.len(),
            omissions: self.short.offsets.len(),
            record: self.records.len(),
            clean: self.clean.len(),
        }
    }

    /// Drops the turns that are sound now that this record has come; says whether it needs none that was dropped.
    fn drop_sound(&mut self, start: Mark, end: usize, is_plain: bool) -> bool {
        let behind = self.mark();
        let Keep::Unsound(turns, outlines) = &mut self.keep else { return true };
        let Some(object) = Object::whole(&self.short.text[start.text..end], start.text) else {
            turns.keep_turn();
            return true;
        };
        let mut outline = outlines(&object, is_plain);
        outline.step = match outline.step {
            // Nothing is missed yet.
            Step::Back if self.dropped == 0 => Step::Unknown,
            step if is_plain || step == Step::Back => step,
            _ => Step::Unknown,
        };
        match turns.record(outline, start, behind) {
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
        self.short.offsets.join(from.text..to.text, from.omissions..to.omissions, to.clean);
        self.records.drain(from.record..to.record);
        self.records[from.record..].iter_mut().for_each(|it| it.moved_up(text));
        if let Some(first) = self.records.get_mut(from.record) {
            first.is_behind_gap = true;
        }
        self.dropped += count;
    }

    fn push(&mut self, start: usize, opaque: bool) {
        let number = self.records.len() + self.dropped;
        let span = start..self.short.text.len();
        self.records.push(Record::new(span, self.line, number, opaque));
    }

    /// Something was found in this turn.
    fn keep_turn(&mut self) {
        if let Keep::Unsound(turns, _) = &mut self.keep {
            turns.keep_turn();
        }
    }

    fn too_large(&mut self, line: &FeedLine, bytes: &[u8]) {
        self.keep_turn();
        self.findings.push(too_large(line.len, self.records.len() + self.dropped, self.line));
        let start = self.short.text.len();
        match self.keep {
            Keep::Whole => self.short.text.push_str(&String::from_utf8_lossy(bytes)),
            _ => self.short.whole_line(line.len, self.clean.len()),
        }
        self.push(start, true);
        self.short.text.push_str(line.line_end);
        self.clean.push_same(line.len + line.line_end.len() as u64);
    }

    fn damaged(&mut self, line: &[u8], line_end: &'static str) -> bool {
        self.keep_turn();
        let saved = save_line(line, line_end.as_bytes(), self.line);
        self.findings.extend(saved.findings);
        let mut at = self.clean.len();
        let mut is_all = true;
        for (object, behind) in &saved.pieces {
            let start = self.mark();
            if !object.is_empty() && self.record(object, at) {
                self.push(start.text, false);
                is_all &= self.drop_sound(start, self.short.text.len(), false);
            }
            self.short.text.push_str(behind);
            at += (object.len() + behind.len()) as u64;
        }
        let whole = (line.len() + line_end.len()) as u64;
        self.clean.push_damaged(whole, at - self.clean.len());
        self.effect.removed += 1;
        self.effect.written += saved.pieces.len() as u64;
        is_all
    }

    fn finish(self) -> Lines<'s> {
        Lines {
            text: self.short.text,
            records: self.records,
            findings: self.findings,
            elided: Some(Box::new(Elided {
                clean: self.clean,
                offsets: self.short.offsets,
                effect: self.effect,
                failure: RefCell::new(None),
            })),
        }
    }
}
