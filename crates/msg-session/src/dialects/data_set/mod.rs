//! Data sets of conversations, one a line (sharegpt also as one array): checked a line at a time, and never
//! given an invented result (SE-70).
//!
//! ```text
//! {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}]}       openai-jsonl
//! {"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello."}]}           sharegpt
//! ```

mod chat;
mod entries;
mod share_gpt;

use super::{Checked, Format};
use crate::Error;
use crate::blob::Blob;
use crate::finding::{Finding, Place};
use crate::json::Object;
use crate::options::RepairOptions;
use crate::view::View;

use entries::Entries;

/// Fine-tuning lines.
pub(crate) struct OpenAiJsonl;

/// ShareGPT conversations.
pub(crate) struct ShareGpt;

impl Format for OpenAiJsonl {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        view(super::only(blobs), options, chat::view)
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        Ok(check(super::only(blobs), options, chat::check))
    }
}

impl Format for ShareGpt {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        view(super::only(blobs), options, share_gpt::view)
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        Ok(check(super::only(blobs), options, share_gpt::check))
    }
}

/// The faults of a line: each code once.
#[derive(Default)]
pub(super) struct Faults(Vec<(&'static str, &'static str)>);

impl Faults {
    pub(super) fn add(&mut self, code: &'static str, message: &'static str) {
        if self.0.iter().all(|it| it.0 != code) {
            self.0.push((code, message));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The conversation of a data set: the only one, or the one whose number is named as leaf.
fn view(
    bytes: &[u8],
    options: &RepairOptions,
    read: fn(&Object<'_>, usize) -> View,
) -> Result<View, Error> {
    let entries = Entries::of(bytes);
    let objects: Vec<_> = (0..entries.len()).filter_map(|it| entries.object(it)).collect();
    let at = match &options.leaf {
        Some(leaf) => leaf.parse().map_err(|_| Error::NoLeaf(leaf.clone()))?,
        None if objects.len() > 1 => return Err(Error::Several { count: objects.len() }),
        None => 0,
    };
    match (objects.get(at), &options.leaf) {
        (Some(object), _) => Ok(View { findings: entries.findings.clone(), ..read(object, at) }),
        (None, Some(leaf)) => Err(Error::NoLeaf(leaf.clone())),
        (None, None) => Ok(View { findings: entries.findings.clone(), ..View::default() }),
    }
}

fn check(bytes: &[u8], options: &RepairOptions, rules: fn(&Object<'_>) -> Faults) -> Checked {
    let entries = Entries::of(bytes);
    let faults: Vec<Faults> = (0..entries.len())
        .map(|at| match entries.object(at) {
            Some(object) => rules(&object),
            None => {
                let mut faults = Faults::default();
                faults.add("session::bad-line", "the line is not a JSON object");
                faults
            }
        })
        .collect();
    let is_bad = |at: usize| !faults[at].is_empty();
    // Never all: a data set without lines is of no use to anybody.
    let drops = options.drop && (0..entries.len()).any(|it| !is_bad(it));
    let mut findings = entries.findings.clone();
    for (at, it) in faults.iter().enumerate() {
        let place = Place::line(entries.line(at));
        findings.extend(it.0.iter().map(|(code, message)| {
            let finding = Finding::error(code, place, *message);
            if drops { finding.mended("remove the line", true) } else { finding }
        }));
    }
    let mut edits = Vec::new();
    if drops {
        edits.extend(entries.drop(is_bad));
    }
    for (line, edit) in entries.blank_lines() {
        let finding = Finding::warning("session::blank-line", Place::line(line), "a blank line");
        findings.push(finding.mended("remove the line", options.all));
        edits.extend(options.all.then_some(edit));
    }
    Checked::of_text(&entries.text, entries.len(), entries.len(), findings, edits)
}
