//! Summaries from an OpenAI-compatible endpoint: one blocking request each, several at once, each
//! with a time limit. What fails is the answer's error; nothing is tried again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use msg_compact::{SummaryError, SummaryRequest};
use msg_core::Report;
use msg_openai::{ChatRequest, ReadOptions, chat};
use ureq::Agent;

use crate::exit::Failure;

/// An endpoint and the model to ask there.
pub(crate) struct Endpoint {
    url: String,
    model: String,
    key: Option<String>,
    at_once: usize,
    agent: Agent,
}

/// The longest reply that is read, in bytes.
const MAX_REPLY: u64 = 16 << 20;

impl Endpoint {
    /// The endpoint at `url`, which may be the base (`…/v1`) or the whole (`…/chat/completions`).
    pub(crate) fn new(
        url: &str,
        model: &str,
        at_once: usize,
        timeout: Duration,
    ) -> Result<Self, Failure> {
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Err(Failure::Usage(format!("found --summarizer {url}, expected an http or https URL")));
        }
        let base = url.trim_end_matches('/');
        let path = "/chat/completions";
        let url = if base.ends_with(path) { base.to_owned() } else { format!("{base}{path}") };
        let config = Agent::config_builder().timeout_global(Some(timeout)).http_status_as_error(false);
        Ok(Self {
            url,
            model: model.to_owned(),
            key: std::env::var("OPENAI_API_KEY").ok().filter(|it| !it.is_empty()),
            at_once,
            agent: config.build().into(),
        })
    }

    /// Asks for all of them, a limited number at once; answers in the order of the requests.
    pub(crate) fn answer(&self, requests: &[SummaryRequest]) -> Vec<Result<String, SummaryError>> {
        let next = AtomicUsize::new(0);
        let workers = self.at_once.min(requests.len());
        let mut answers: Vec<(usize, Result<String, SummaryError>)> = thread::scope(|scope| {
            let work = || {
                let mut done = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(request) = requests.get(number) else { return done };
                    done.push((number, self.ask(request)));
                }
            };
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            workers.into_iter().flat_map(|it| it.join().unwrap_or_default()).collect()
        });
        answers.sort_by_key(|it| it.0);
        answers.into_iter().map(|it| it.1).collect()
    }

    fn ask(&self, request: &SummaryRequest) -> Result<String, SummaryError> {
        let mut body = Vec::new();
        let prompt = ChatRequest::new(&self.model, request.prompt());
        prompt.write(&mut body, &mut Report::default());
        let mut call = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(key) = &self.key {
            call = call.header("authorization", format!("Bearer {key}"));
        }
        let mut reply = call.send(&body[..]).map_err(|it| SummaryError::new(it.to_string()))?;
        let status = reply.status();
        let body = reply.body_mut().with_config().limit(MAX_REPLY).read_to_vec();
        let body = body.map_err(|it| SummaryError::new(it.to_string()))?;
        if !status.is_success() {
            let shown: String = String::from_utf8_lossy(&body).chars().take(200).collect();
            return Err(SummaryError::new(format!("the endpoint answered {status}: {shown}")));
        }
        text_of(&body)
    }
}

/// The text of a reply's first choice.
fn text_of(body: &[u8]) -> Result<String, SummaryError> {
    let mut report = Report::default();
    let read = chat::read(body, &ReadOptions::new(), &mut report);
    let document = read.map_err(|it| SummaryError::new(format!("the reply is no completion: {it}")))?;
    match document {
        chat::Document::Response(it) => {
            let first = it.messages().next().map(|it| it.text().into_owned());
            first.ok_or_else(|| SummaryError::new("the reply has no choice"))
        }
        _ => Err(SummaryError::new("the reply is no completion")),
    }
}
