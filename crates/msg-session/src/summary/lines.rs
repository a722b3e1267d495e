//! The lines of a session for its summary, out of a source of any size.

use std::collections::VecDeque;

use super::Gathering;
use super::head::{self, Head};
use crate::Error;
use crate::excerpt::Feed;
use crate::frame::save_lines;
use crate::json::{BLANKS, Object};
use crate::options::RepairOptions;
use crate::source::{ReadAt, fill};

/// How many records are read as a whole in search of the folder that the agent worked in.
const FIRST: usize = 50;

/// How many of the last lines are looked at for a time.
const LAST: usize = 8;

pub(super) fn read(source: &dyn ReadAt, to: &mut Gathering) -> Result<(), Error> {
    let mut feed = Feed::new(source, 0, RepairOptions::default().max_record);
    let mut lines = Lines { to, records: 0, last: VecDeque::new() };
    let mut offset = 0;
    while let Some(fed) = feed.next()? {
        if !fed.is_too_large {
            lines.line(feed.bytes(fed.span.clone()), offset);
        }
        offset += fed.len + fed.line_end.len() as u64;
    }
    lines.time_of_the_last(source)
}

struct Lines<'g> {
    to: &'g mut Gathering,
    records: usize,
    /// The last lines whose time was not read: offset and length.
    last: VecDeque<(u64, usize)>,
}

impl Lines<'_> {
    fn line(&mut self, line: &[u8], offset: u64) {
        let whole = line.trim_ascii();
        if whole.is_empty() {
            return;
        }
        self.records += 1;
        let is_known = self.to.summary.project.is_some() || self.records > FIRST;
        if is_known
            && whole.ends_with(b"}")
            && let Ok(text) = std::str::from_utf8(line)
            && let Some(head) = head::read(self.to.dialect, text)
            && self.takes(&head)
        {
            self.last.push_back((offset, line.len()));
            if self.last.len() > LAST {
                self.last.pop_front();
            }
            return;
        }
        self.whole(line);
    }

    /// Counts what is said, if nothing else is wanted of the line.
    fn takes(&mut self, head: &Head<'_>) -> bool {
        match head {
            Head::Said(role) if role == "user" && self.to.first_words.is_none() => return false,
            Head::Said(role) => self.to.said(role, None),
            Head::Quiet => {}
        }
        true
    }

    /// Reads a line as a whole, or what can be saved of it.
    fn whole(&mut self, line: &[u8]) {
        let before = self.to.summary.time.take();
        let text = std::str::from_utf8(line).ok().map(|it| it.trim_matches(BLANKS));
        match text.and_then(|it| Object::whole(it, 0)) {
            Some(object) => self.to.record(&object),
            None => {
                for (object, _) in &save_lines(std::iter::once(line), "", 0, 0).pieces {
                    Object::whole(object, 0).iter().for_each(|it| self.to.record(it));
                }
            }
        }
        match self.to.summary.time {
            Some(_) => self.last.clear(),
            None => self.to.summary.time = before,
        }
    }

    fn time_of_the_last(mut self, source: &dyn ReadAt) -> Result<(), Error> {
        while let Some((offset, len)) = self.last.pop_back() {
            let mut line = vec![0; len];
            let read = fill(source, offset, &mut line)?;
            let before = self.to.summary.time.take();
            let text = String::from_utf8_lossy(&line[..read]);
            Object::whole(&text, 0).iter().for_each(|it| self.to.common(it));
            if self.to.summary.time.is_some() {
                break;
            }
            self.to.summary.time = before;
        }
        Ok(())
    }
}
