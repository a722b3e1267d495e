//! What a session recorded of the messages that a page shows: times, models, usage and cost.
//!
//! ```text
//! record 3  user       09:00:00                    message 1   09:00:00
//! record 4  assistant  09:00:12, usage of the call message 2   09:00:12, 12 s, read 12,000 …
//! ```
//!
//! Usage and prices are those of `msg stats` and `msg cache`.

use std::collections::HashMap;

use msg_cache::{LedgerOptions, SessionLedger};
use msg_core::{Role, rfc3339};
use msg_document::Format;
use msg_session::{Blob, Dialect, Session, SessionOptions, View};
use msg_view::Recorded;
use serde::Deserialize;

use crate::sessions::usage::{provider, responses};
use crate::terminal;

/// What was recorded of each message, and of all responses together.
pub(super) struct Known {
    pub(super) messages: Vec<Recorded>,
    pub(super) whole: Recorded,
}

impl Known {
    /// Without secrets in the names of models.
    pub(super) fn redact(&mut self) {
        for it in self.messages.iter_mut().chain([&mut self.whole]) {
            it.model = it.model.take().map(|it| terminal::text(&it).0);
        }
    }
}

/// What a session of JSON lines or of one document recorded; none of what is not a session, or cannot be read.
pub(super) fn read(bytes: &[u8], name: &str) -> Option<Known> {
    let format = Format::recognise(bytes, name).ok().filter(|it| it.is_session())?;
    let dialect: Dialect = format.name().parse().ok()?;
    let session = Session::new(dialect, vec![Blob::new(name, bytes)]);
    let view = session.read(&SessionOptions::default()).ok()?;
    let mut messages = timed(&view, bytes);
    let places = places(&view);
    let mut whole = Recorded::default();
    let mut ledger = SessionLedger::new(provider(dialect), LedgerOptions::default());
    for response in responses(dialect, bytes) {
        let (record, time) = (response.record, response.time.clone());
        let is_main = response.chain.is_empty();
        let row = ledger.push(response);
        let used = Recorded {
            model: row.model,
            responses: 1,
            read: row.usage.read,
            written: row.usage.written(),
            new: row.usage.input,
            output: row.usage.output,
            cost: row.cost,
            ..Recorded::default()
        };
        whole.add(&used);
        let place = places.get(&record).copied().or_else(|| {
            // Some agents count after the answer, in a record of its own.
            let counts_later = is_main && dialect != Dialect::ClaudeCode;
            counts_later.then(|| answer_before(&view, record)).flatten()
        });
        if let Some(message) = place.and_then(|it| messages.get_mut(it)) {
            message.add(&used);
            message.time = message.time.take().or(time.filter(|it| rfc3339(it).is_some()));
        }
    }
    whole.seconds = messages.iter().filter_map(|it| it.seconds).reduce(|one, it| one + it);
    Some(Known { messages, whole })
}

/// The message of each record, from 1.
fn places(view: &View) -> HashMap<u64, usize> {
    let of_message = |(at, origins): (usize, &Vec<msg_session::PartOrigin>)| {
        origins.iter().map(move |it| (u64::from(it.record) + 1, at)).collect::<Vec<_>>()
    };
    view.origins.iter().enumerate().flat_map(of_message).collect()
}

/// The last answer of the model that began before a record.
fn answer_before(view: &View, record: u64) -> Option<usize> {
    let began = |it: &Vec<msg_session::PartOrigin>| {
        it.first().is_some_and(|it| u64::from(it.record) + 1 < record)
    };
    (0..view.messages.len()).rev().find(|it| {
        view.messages[*it].role == Role::Assistant && view.origins.get(*it).is_some_and(began)
    })
}

/// Each message with the time of its first record, and the seconds since the message before.
fn timed(view: &View, bytes: &[u8]) -> Vec<Recorded> {
    #[derive(Deserialize)]
    struct Line {
        timestamp: Option<serde_json::Value>,
    }
    let time = |line: &[u8]| {
        let time = serde_json::from_slice::<Line>(line).ok()?.timestamp?;
        time.as_str().map(str::to_owned)
    };
    let times: Vec<Option<String>> = bytes.split(|it| *it == b'\n').map(time).collect();
    let mut before: Option<f64> = None;
    let mut res = Vec::with_capacity(view.messages.len());
    for at in 0..view.messages.len() {
        let record = view.origins.get(at).and_then(|it| it.first()).map(|it| it.record as usize);
        let time = record.and_then(|it| times.get(it).cloned().flatten());
        let now = time.as_deref().and_then(rfc3339);
        let time = time.filter(|_| now.is_some());
        // How long the user took is nothing that the conversation took.
        let message = &view.messages[at];
        let is_answer = message.role != Role::User || message.tool_results().next().is_some();
        let since = now.zip(before).map(|(now, before)| (now - before).max(0.0));
        let seconds = since.filter(|_| is_answer);
        before = now.or(before);
        res.push(Recorded { time, seconds, ..Recorded::default() });
    }
    res
}
