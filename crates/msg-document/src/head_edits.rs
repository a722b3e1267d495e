//! The edits of settings that a provider refuses, each with the JSON Pointer of its place (RQ-1).
//!
//! ```text
//! {"model":"o3","max_tokens":9,"tools":[{…,"parameters":{}}]}
//!   /max_tokens            Rename "max_completion_tokens"
//!   /tools/0/…/parameters  Set {"type":"object"}
//! ```

use std::collections::BTreeMap;

use msg_core::{Diagnostic, RawJson, pointer_step};
use msg_formats::HeadEdit;
use msg_json::Writer;

/// Whether an edit is proposed or was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tense {
    Imperative,
    Past,
}

/// The edits of the members of a request.
#[derive(Debug, Default)]
pub(crate) struct HeadEdits {
    /// The edits by JSON Pointer.
    edits: BTreeMap<String, HeadEdit>,
    /// The findings, each with its edit.
    pub(crate) found: Vec<Diagnostic>,
    /// Whether a check of the head found an error, which its edits may leave.
    pub(crate) may_remain: bool,
}

impl HeadEdits {
    pub(crate) fn add(&mut self, pointer: impl Into<String>, edit: HeadEdit) {
        self.edits.insert(pointer.into(), edit);
    }

    /// The members that are added to the body.
    pub(crate) fn added(&self) -> impl Iterator<Item = (&'static str, &RawJson)> {
        self.edits.values().filter_map(|it| match it {
            HeadEdit::Add(name, raw) => Some((*name, raw)),
            _ => None,
        })
    }

    /// The edit of a member of the body; `None` if neither it nor anything inside it changes.
    pub(crate) fn member(&self, name: &str, raw: &RawJson) -> Option<HeadEdit> {
        let pointer = format!("/{}", pointer_step(name));
        let inside = || RawJson::written(|it| self.write(raw, &pointer, it));
        let own = self.edits.get(&pointer).cloned();
        own.or_else(|| self.touches(&pointer).then(|| HeadEdit::Set(inside())))
    }

    /// Whether there is an edit inside the value at a pointer.
    fn touches(&self, pointer: &str) -> bool {
        let below = format!("{pointer}/");
        let first = self.edits.range(below.clone()..).next();
        first.is_some_and(|it| it.0.starts_with(&below))
    }

    /// Writes a value with its edits. Recurses only along the pointers.
    fn write(&self, raw: &RawJson, pointer: &str, it: &mut Writer<'_>) {
        if !self.touches(pointer) {
            it.raw(raw.text());
        } else if let Some(members) = raw.members() {
            it.object(|it| {
                for (name, value) in members {
                    let pointer = format!("{pointer}/{}", pointer_step(&name));
                    match self.edits.get(&pointer) {
                        Some(HeadEdit::Set(new)) => it.key(&name).raw(new.text()),
                        Some(HeadEdit::Rename(name, new)) => {
                            it.key(name).raw(new.as_ref().unwrap_or(&value).text());
                        }
                        Some(HeadEdit::Remove) => {}
                        Some(HeadEdit::Add(..)) | None => {
                            self.write(&value, &pointer, it.key(&name));
                        }
                    }
                }
            });
        } else if let Ok(items) = raw.parse::<Vec<RawJson>>() {
            let places = items.iter().enumerate().map(|(at, it)| (format!("{pointer}/{at}"), it));
            let left = places.filter(|it| self.edits.get(&it.0) != Some(&HeadEdit::Remove));
            it.array(left, |it, (pointer, item)| self.write(item, &pointer, it));
        } else {
            it.raw(raw.text());
        }
    }
}
