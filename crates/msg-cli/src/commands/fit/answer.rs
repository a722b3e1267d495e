//! The JSON form of a compaction (CP-70).

use msg_compact::Outcome;
use msg_core::{Message, Report};
use msg_openai::{EncodeOptions, chat};
use serde::Serialize;

use super::run::Fitted;
use super::options::FitOptions;
use crate::members::Members;

#[derive(Serialize)]
struct CannotFitForm {
    floor: u64,
    limit: u64,
    why: &'static str,
}

/// The object that stands for a compaction, in one line.
pub(crate) fn json(fitted: &Fitted, options: &FitOptions) -> Vec<u8> {
    let (before, after) = fitted.totals(options.best_effort);
    let (status, requests) = match &fitted.outcome {
        Outcome::NotNeeded(it) => ("not-needed", it.requests),
        Outcome::Compacted(it) => ("compacted", it.requests),
        Outcome::CannotFit(it) => ("cannot-fit", it.requests),
    };
    let mut members = Members::new()
        .with("fits", &fitted.fits())
        .with("status", &status)
        .with("before", &before)
        .with("after", &after)
        .with("requests", &requests)
        .with("first_changed", &fitted.first_changed)
        .with("edits", &fitted.edits(options.best_effort))
        .raw("messages", &openai(&fitted.messages));
    if let Outcome::CannotFit(it) = &fitted.outcome {
        let form = CannotFitForm { floor: it.floor, limit: it.usable, why: it.why.as_str() };
        members = members.with("cannot_fit", &form);
    }
    if options.records {
        members = members.with("records", &records(fitted, options.best_effort));
    }
    if let Some(plan) = &fitted.plan {
        members = members.with("plan", plan);
    }
    members.finish()
}

/// The answer of `--apply` and `--undo`.
pub(crate) fn of_plan(status: &str, messages: &[Message]) -> Vec<u8> {
    Members::new().with("status", &status).raw("messages", &openai(messages)).finish()
}

/// The records of what was done.
pub(crate) fn records(fitted: &Fitted, best_effort: bool) -> &[msg_compact::CompactionRecord] {
    match &fitted.outcome {
        Outcome::Compacted(it) => &it.records,
        Outcome::CannotFit(it) => it.best.as_ref().filter(|_| best_effort).map_or(&[], |it| &it.records),
        Outcome::NotNeeded(_) => &[],
    }
}

fn openai(messages: &[Message]) -> Vec<u8> {
    let mut json = Vec::new();
    chat::write(messages, &EncodeOptions::default(), &mut json, &mut Report::default());
    json
}
