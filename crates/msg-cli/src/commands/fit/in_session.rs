//! `msg fit --in-session`: the outcome as the agent's own compaction record in its session (SE-97).

use std::{path::Path, time::Duration};

use msg_compact::{CompactOutcome, SummaryError, SummaryRequest};
use msg_core::{Message, Role};
use msg_document::{FitOptions, Fitter, Summarizer};
use msg_openai::{ChatRequest, ReadOptions, chat};
use msg_session::{Compacted, Dialect, Finding, SessionOptions};

use crate::commands::doctor::mend::{in_use_or, sound_or_back};
use crate::context::Context;
use crate::endpoint::{Api, Patience};
use crate::exit::{Failure, Status};
use crate::output::Output;
use crate::render::plural;
use crate::sessions::load::load;
use crate::sessions::put_back::put_back;
use crate::{endpoint, parallel};

/// Errors that no message has: `msg doctor --fix` mends what can be mended of them.
const OF_THE_FILE: [&str; 6] = [
    "session::missing-header",
    "session::misplaced-header",
    "session::bad-header",
    "session::id-mismatch",
    "session::bad-ordinal",
    "session::missing-time",
];

/// Compacts the session at `path` in place, or with `dry_run` prints what would be appended.
pub(super) fn run(
    cx: &Context,
    path: &Path,
    from: Option<Dialect>,
    dry_run: bool,
    mut options: FitOptions,
    summarizer: &dyn Summarizer,
) -> Result<Status, Failure> {
    let max_bytes = options.read.max_bytes;
    let mut loaded = load(path, from, max_bytes)?;
    let name = loaded.name.clone();
    let refuse = |text: String| Failure::Refused(format!("{name}: {text}"));
    let mut session = loaded.session(from).map_err(|it| refuse(it.to_string()))?;
    loaded.blobs = session.blobs().to_vec();
    let messages = session.messages().map_err(|it| refuse(it.to_string()))?;
    // What an agent resumes it also compacts: two user messages in a row are not an error of its session, nor is what
    // only keeps the file from being loaded.
    let checked = session.check(&SessionOptions::default());
    let is_of_messages = |it: &Finding| it.is_error() && !OF_THE_FILE.contains(&it.code.as_str());
    let is_sound = checked.is_ok_and(|it| !it.iter().any(is_of_messages));
    options.repair |= is_sound;
    let fitted = Fitter::new(options).and_then(|it| it.fit_messages(messages.clone(), summarizer));
    let fitted = fitted.map_err(|it| {
        if !is_sound {
            cx.note(&format!("msg: {name}: `msg doctor --fix` mends the session first\n"));
        }
        Failure::refused(it, &name)
    })?;
    if matches!(fitted.outcome, CompactOutcome::CannotFit(_)) {
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

// Summaries from an OpenAI-compatible endpoint: one blocking request each, several at once, each
// with a time limit. What fails is the answer's error; nothing is tried again.

/// An endpoint and the model to ask there.
pub(crate) struct Endpoint {
    endpoint: endpoint::Endpoint,
    model: String,
    at_once: usize,
}

/// The longest reply that is read, in bytes.
const MAX_REPLY: u64 = 16 << 20;

impl Endpoint {
    /// The endpoint at `url` with a time limit for each request.
    pub(crate) fn new(
        url: &str,
        model: &str,
        at_once: usize,
        timeout: Duration,
    ) -> Result<Self, Failure> {
        let patience = Patience { whole: Some(timeout), ..Patience::default() };
        let endpoint = endpoint::Endpoint::new(Api::OpenAi, url, model, patience)?;
        Ok(Self { endpoint, model: model.to_owned(), at_once })
    }

    fn ask(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        let mut body = Vec::new();
        let prompt = ChatRequest::new(&self.model, request.prompt()?);
        prompt.write(&mut body);
        let mut reply =
            self.endpoint.post(&body).map_err(|it| SummaryError::new(it.to_string()))?;
        let body = reply.body_mut().with_config().limit(MAX_REPLY).read_to_vec();
        let body = body.map_err(|it| SummaryError::new(it.to_string()))?;
        text_of(&body).map(|it| self.endpoint.masked(it))
    }
}

impl Summarizer for Endpoint {
    /// Asks for all of them, a limited number at once; answers in the order of the requests.
    fn answer(&self, requests: &[SummaryRequest<'_>]) -> Vec<Result<String, SummaryError>> {
        parallel::each(requests, self.at_once, |it| self.ask(it))
    }
}

/// The text of a reply's first choice.
fn text_of(body: &[u8]) -> Result<String, SummaryError> {
    let read = chat::read(body, &ReadOptions::new());
    let (document, _) =
        read.map_err(|it| SummaryError::new(format!("the reply is not a completion: {it}")))?;
    match document {
        chat::Document::Response(it) => {
            let first = it.messages.first().map(|it| it.text().into_owned());
            first.ok_or_else(|| SummaryError::new("the reply has no choice"))
        }
        _ => Err(SummaryError::new("the reply is not a completion")),
    }
}
