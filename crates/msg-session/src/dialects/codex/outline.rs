//! What a Codex record is for its neighbours, so that a long session need not be held.

use std::collections::HashMap;

use super::envelope;
use super::items::{Family, Item, Kind};
use crate::excerpt::{Outline, Step};
use crate::finding::Place;
use crate::json::{Object, Value};

/// What is known of the records so far.
#[derive(Default)]
pub(super) struct Outliner {
    records: usize,
    /// Whether lines that come are numbered among those that are there, as mends of warnings want it.
    numbers_new: bool,
    is_paginated: bool,
    ordinal: Option<u64>,
    /// Whether all that comes is needed: the header is not where it belongs, or lines get new numbers.
    needs_all: bool,
    /// Calls whose output has not come, with what may answer them.
    open: HashMap<String, Family>,
}

impl Outliner {
    pub(super) fn new(all: bool) -> Self {
        Self { numbers_new: all, ..Self::default() }
    }

    pub(super) fn outline(&mut self, record: &Object<'_>) -> Outline {
        let outline = match envelope(record) {
            Some((kind, payload)) => self.record(record, &kind, &payload),
            None => Outline::of(Step::Unknown),
        };
        self.records += 1;
        match self.needs_all && outline.step != Step::Back {
            true => Outline { step: Step::Unknown, ..outline },
            false => outline,
        }
    }

    fn record(&mut self, record: &Object<'_>, kind: &str, payload: &Object<'_>) -> Outline {
        if self.records == 0 {
            self.is_paginated = payload.text("history_mode").is_some_and(|it| it == "paginated");
            self.needs_all = kind != "session_meta" || self.is_paginated && self.numbers_new;
        }
        if self.is_paginated {
            let ordinal = record.get("ordinal").and_then(|it| it.number());
            self.needs_all |= ordinal <= self.ordinal;
            self.ordinal = ordinal;
        }
        match kind {
            "response_item" => self.items(record.get("payload").into_iter().collect()),
            "compacted" => {
                let list = payload.get("replacement_history").and_then(|it| it.array());
                let outline = self.items(list.unwrap_or_default());
                Outline { step: Step::Unknown, ..outline }
            }
            "session_meta" if self.records > 0 => Outline::of(Step::Unknown),
            // It counts the messages of the user.
            "event_msg" if payload.text("type").is_some_and(|it| it == "thread_rolled_back") => {
                Outline::of(Step::Back)
            }
            _ => Outline::of(Step::Aside),
        }
    }

    /// What items are; the step is that of the last one.
    fn items(&mut self, list: Vec<Value<'_>>) -> Outline {
        let mut res = Outline::of(Step::Unknown);
        for value in list {
            let Some(item) = Item::new((0, None), Place::line(1), value) else {
                res.step = Step::Unknown;
                continue;
            };
            let id = item.call_id().map(|it| it.1.into_owned());
            res.step = match (item.kind, &id) {
                (Kind::Call(_) | Kind::Output(_), None) => Step::Unknown,
                (Kind::Output(family), Some(id)) => match self.open.remove(id) {
                    Some(other) if other != family => Step::Back,
                    _ => Step::Results,
                },
                (kind, _) => step(kind),
            };
            match item.kind {
                Kind::Call(family) => {
                    self.open.extend(id.clone().map(|it| (it, family)));
                    res.calls.extend(id);
                }
                Kind::Output(_) => res.results.extend(id),
                _ => {}
            }
        }
        res
    }
}

fn step(kind: Kind) -> Step {
    match kind {
        Kind::UserMessage => Step::Question,
        // All of an answer that stands together is one piece.
        Kind::AssistantMessage | Kind::ServerCall | Kind::Call(_) => {
            Step::Answer(Some(String::new()))
        }
        Kind::Output(_) => Step::Results,
        Kind::Reasoning => Step::Thought,
        Kind::Message | Kind::Compaction | Kind::Other => Step::Aside,
    }
}
