//! Names of documents, and the text beside them (PM-107 to PM-109).

use msg_core::{File, Part, Role};

use super::{
    names::{cut, limit},
    state::{Conform, error},
};
use crate::{constants::EMPTY_CONTENT, profile::CharClass};

/// What a document is called of whose name nothing stays.
const NAMELESS: &str = "document";

impl Conform<'_, '_> {
    pub(super) fn file_names(&mut self) {
        let class = &self.profile.file_name_class;
        let max = limit(self.profile.file_name_max);
        if class.is_any() && max == usize::MAX {
            return;
        }
        let judge = |part: &Part| {
            let Part::File(File { filename: Some(name), .. }) = part else { return None };
            let new = accepted_name(name, class, max);
            let sentence = || format!("the document name `{name}` is not accepted");
            (new != *name).then(|| (error("profile::file-name", sentence(), "renamed"), Some(new)))
        };
        self.mend_parts(judge, |part, new| {
            if let Part::File(it) = part {
                it.filename = Some(new);
            }
        });
    }

    pub(super) fn file_texts(&mut self) {
        if !self.profile.file_needs_text {
            return;
        }
        for at in 0..self.items.len() {
            let message = &self.items[at].message;
            let has_text = |it: &Part| it.as_text().is_some_and(|it| !it.trim().is_empty());
            let Some(file) = message.parts.iter().position(|it| matches!(it, Part::File(_))) else {
                continue;
            };
            if message.role != Role::User || message.parts.iter().any(has_text) {
                continue;
            }
            let sentence = "a document without a text beside it";
            let fix = "inserted a placeholder text";
            self.at_part(at, file, error("profile::file-without-text", sentence, fix));
            let place = (self.items[at].origin.message, 0);
            self.items[at].push_part(Part::text(EMPTY_CONTENT), place);
        }
    }
}

/// A name of accepted characters: its ending goes, others become a space, and spaces do not follow spaces.
fn accepted_name(name: &str, class: &CharClass, max: usize) -> String {
    let accepted = |it: &str| {
        class.accepts(it)
            && it.len() <= max
            && !it.contains("  ")
            && it.trim() == it
            && !it.is_empty()
    };
    if accepted(name) {
        return name.to_owned();
    }
    let stem = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 5 => stem,
        _ => name,
    };
    let words: String = stem.chars().map(|it| if class.contains(it) { it } else { ' ' }).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let new = cut(&words, max).trim_end();
    if new.is_empty() { NAMELESS.to_owned() } else { new.to_owned() }
}
