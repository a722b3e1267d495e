//! Summaries from an OpenAI-compatible endpoint: one blocking request each, several at once, each
//! with a time limit. What fails is the answer's error; nothing is tried again.

use std::time::Duration;

use msg_compact::{SummaryError, SummaryRequest};
use msg_document::Summarizer;
use msg_openai::{ChatRequest, ReadOptions, chat};

use crate::endpoint::{self, Api, Patience};
use crate::exit::Failure;
use crate::parallel;

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
