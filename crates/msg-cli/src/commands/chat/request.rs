//! The history of a file as a request: mended, fitted into the agent's window, with its settings.

use std::borrow::Cow;

use msg_chainast::{ChainAst, Profile, RepairOptions};
use msg_core::{Code, Diagnostic, Message, RawJson, SeededIds};
use msg_document::{Digest, FitOptions, Refusal, fit_messages};
use msg_openai::ChatRequest;

use super::who::Settings;

/// What is sent, and what was changed for it.
pub(super) struct Asking {
    pub(super) agent: String,
    pub(super) model: String,
    /// The request, as JSON.
    pub(super) body: Vec<u8>,
    /// What the model does not get as the file has it.
    pub(super) edits: Vec<Diagnostic>,
}

impl Asking {
    /// The request for these messages.
    ///
    /// Fails if they cannot fit the agent's window, and for a profile that does not exist.
    pub(super) fn new(
        messages: Vec<Message>,
        who: Settings,
        profile: Option<&str>,
    ) -> Result<Self, Box<Diagnostic>> {
        let (messages, edits) = match who.config.context_window {
            Some(window) => fitted(messages, window, who.config.max_output_tokens, profile)?,
            None => mended(messages, profile)?,
        };
        let mut body = Vec::new();
        request(messages, &who).write(&mut body);
        Ok(Self { agent: who.agent, model: who.model, body, edits })
    }
}

/// Mended and compacted: what the answer may take is kept free.
fn fitted(
    messages: Vec<Message>,
    window: u64,
    answer: Option<u64>,
    profile: Option<&str>,
) -> Result<(Vec<Message>, Vec<Diagnostic>), Box<Diagnostic>> {
    let options = FitOptions {
        budget: Some(i64::try_from(window).unwrap_or(i64::MAX)),
        reserve: answer.filter(|it| *it < window).map(Into::into),
        repair: true,
        profile: profile.map(str::to_owned),
        ..FitOptions::default()
    };
    let mut fitted = fit_messages(messages, &options, &Digest).map_err(Refusal::into_diagnostic)?;
    let mut edits = fitted.edits(false);
    if fitted.fits() {
        return Ok((std::mem::take(&mut fitted.messages), edits));
    }
    // The last one says why.
    Err(edits.pop().map_or_else(|| bad("the history does not fit"), Box::new))
}

fn mended(
    messages: Vec<Message>,
    profile: Option<&str>,
) -> Result<(Vec<Message>, Vec<Diagnostic>), Box<Diagnostic>> {
    let mut options = RepairOptions::default();
    if let Some(name) = profile {
        let unknown = || bad(format!("no profile is called {name:?} (msg profiles lists them)"));
        options = options.profile(Profile::named(name).ok_or_else(unknown)?);
    }
    let (ast, found) = ChainAst::repair(messages, &options, &mut SeededIds::new(0));
    let edits = found.into_iter().filter(|it| it.fix.is_some()).collect();
    Ok((ast.into_messages(), edits))
}

fn bad(text: impl Into<Cow<'static, str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::new("cli::bad-option"), text))
}

fn request(messages: Vec<Message>, who: &Settings) -> ChatRequest {
    let config = &who.config;
    let reasons = config.reasoning == Some(true);
    let mut request = ChatRequest::new(&who.model, messages).stream(true).include_usage(true);
    if let Some(temperature) = config.temperature.filter(|_| config.use_temperature != Some(false)) {
        request = request.temperature(temperature);
    }
    // OpenAI's reasoning models refuse `max_tokens`; compatible servers know nothing else.
    request = match config.max_output_tokens {
        Some(tokens) if reasons => request.max_completion_tokens(tokens),
        Some(tokens) => request.max_tokens(tokens),
        None => request,
    };
    let effort = RawJson::new("\"medium\"").ok().filter(|_| reasons);
    effort.into_iter().fold(request, |it, effort| it.set("reasoning_effort", effort))
}
