//! The JSON form of a compaction (CP-70).

use msg_compact::{CompactionRecord, Outcome};
use msg_core::Message;
use msg_openai::{EncodeOptions, chat};
use serde::Serialize;

use super::options::FitOptions;
use super::run::{Fitted, Goal};
use crate::json::ObjectWriter;

#[derive(Serialize)]
struct CannotFitForm {
    floor: u64,
    limit: u64,
    why: &'static str,
}

impl Fitted {
    /// The line of `msg fit --jsonl`, without its end.
    pub fn to_json(&self, options: &FitOptions) -> Vec<u8> {
        let (before, after) = self.totals(options.best_effort);
        let (status, requests) = match &self.outcome {
            Outcome::NotNeeded(it) => ("not-needed", it.requests),
            Outcome::Compacted(it) => ("compacted", it.requests),
            Outcome::CannotFit(it) => ("cannot-fit", it.requests),
        };
        let mut members = ObjectWriter::new()
            .with("fits", &self.fits())
            .with("status", &status)
            .with("before", &before)
            .with("after", &after)
            .with("requests", &requests)
            .with("first_changed", &self.first_changed)
            .with("edits", &self.edits(options.best_effort))
            .raw("messages", &openai(&self.messages));
        if let Outcome::CannotFit(it) = &self.outcome {
            let form = CannotFitForm { floor: it.floor, limit: it.usable, why: it.why.as_str() };
            members = members.with("cannot_fit", &form);
        }
        if options.records {
            members = members.with("records", &self.records(options.best_effort));
        }
        if let Some(plan) = &self.plan {
            members = members.with("plan", plan);
        }
        members.finish()
    }

    /// The records of what was done.
    pub fn records(&self, best_effort: bool) -> &[CompactionRecord] {
        match &self.outcome {
            Outcome::Compacted(it) => &it.records,
            Outcome::CannotFit(it) => {
                it.best.as_ref().filter(|_| best_effort).map_or(&[], |it| &it.records)
            }
            Outcome::NotNeeded(_) => &[],
        }
    }
}

/// The answer of `--apply` and `--undo`.
pub fn reached_json(goal: Goal, messages: &[Message]) -> Vec<u8> {
    ObjectWriter::new().with("status", &goal.status()).raw("messages", &openai(messages)).finish()
}

fn openai(messages: &[Message]) -> Vec<u8> {
    let mut json = Vec::new();
    chat::write(messages, &EncodeOptions::default(), &mut json);
    json
}
