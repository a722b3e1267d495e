//! `msg fit --in-session`: the outcome as the agent's own compaction record in its session (SE-97).

use std::path::Path;

use msg_compact::Outcome;
use msg_core::{Message, Role};
use msg_document::{FitOptions, Fitter, Summarizer};
use msg_session::{Compacted, Dialect, Finding, RepairOptions};

use crate::commands::doctor::mend::{in_use_or, sound_or_back};
use crate::context::Context;
use crate::exit::{Failure, Status};
use crate::output::Output;
use crate::render::plural;
use crate::sessions::load::load;
use crate::sessions::put_back::put_back;

/// Compacts the session at `path` in place, or with `dry_run` prints what would be appended.
pub(super) fn run(
    cx: &Context,
    path: &Path,
    from: Option<Dialect>,
    dry_run: bool,
    mut options: FitOptions,
    summarizer: &dyn Summarizer,
) -> Result<Status, Failure> {
    let max_bytes = options.max_bytes.unwrap_or(u64::MAX);
    let mut loaded = load(path, from, max_bytes)?;
    let name = loaded.name.clone();
    let refuse = |text: String| Failure::Refused(format!("{name}: {text}"));
    let mut session = loaded.session(from).map_err(|it| refuse(it.to_string()))?;
    loaded.blobs = session.blobs().to_vec();
    let messages = session.messages().map_err(|it| refuse(it.to_string()))?;
    // What an agent resumes it also compacts: two user messages in a row are not an error of its session.
    let checked = session.check(&RepairOptions::default());
    options.repair |= checked.is_ok_and(|it| !it.iter().any(Finding::is_error));
    let fitted = Fitter::new(options).and_then(|it| it.fit_messages(messages.clone(), summarizer));
    let fitted = fitted.map_err(|it| Failure::refused(it, &name))?;
    if matches!(fitted.outcome, Outcome::CannotFit(_)) {
        cx.note(&format!("msg: {name}: it does not fit; nothing is written\n"));
        return Ok(Status::Problems);
    }
    if fitted.first_changed.is_none() {
        cx.note(&format!("msg: {name}: it fits as it is; nothing is written\n"));
        return Ok(Status::Clean);
    }
    let summary = summary(&messages, &fitted.messages);
    let tokens = fitted.totals().0.tokens;
    let compacted = Compacted { messages: &fitted.messages, summary, tokens };
    let lines = session.compact(&compacted).map_err(|it| refuse(it.to_string()))?;
    if dry_run {
        let mut out = Output::stdout();
        out.write(lines.as_bytes())?;
        return out.finish().map(|()| Status::Clean);
    }
    in_use_or(&loaded.stamps).map_err(&refuse)?;
    let backup = put_back(&loaded, session.blobs()).map_err(|it| refuse(it.to_string()))?;
    loaded.blobs.clear();
    // What is on disk now says what it should, or the old session comes back (SE-93).
    let is_there = load(path, from, max_bytes).is_ok_and(|it| it.blobs == session.blobs());
    let backup = sound_or_back(&name, is_there, backup)?;
    if !cx.quiet {
        let (count, backup) = (plural(fitted.messages.len(), "message"), backup.display());
        cx.note(&format!("msg: {name}: compacted to {count}; the old session is {backup}\n"));
    }
    Ok(Status::Clean)
}

/// The message of a user that was not there before: it holds the summary.
fn summary(before: &[Message], after: &[Message]) -> Option<usize> {
    let is_new = |it: &Message| it.role == Role::User && !before.contains(it);
    after.iter().position(is_new)
}
