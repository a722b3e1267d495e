//! An OpenAI-compatible endpoint: where it is, whose key is sent, and one blocking request at a time.
//!
//! It knows nothing of what is asked, nor what the reply means.

use std::time::Duration;

use ureq::{Agent, Body, http::Response};

use crate::exit::Failure;

/// The longest body of a refusal that is read, in bytes.
const MAX_REFUSAL: u64 = 64 << 10;

/// Time limits of a request; none means that nobody is hurried.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    /// For the whole of a request.
    pub(crate) whole: Option<Duration>,
    /// Until the reply begins.
    pub(crate) begin: Option<Duration>,
}

/// Where requests go.
pub(crate) struct Endpoint {
    url: String,
    key: Option<String>,
    agent: Agent,
}

impl Endpoint {
    /// The endpoint at `url`, which may be the base (`…/v1`) or the whole (`…/chat/completions`).
    /// The key is read from `OPENAI_API_KEY`; without one, none is sent.
    pub(crate) fn new(url: &str, patience: Patience) -> Result<Self, Failure> {
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Err(Failure::Usage(format!("found {url:?}, expected an http or https URL")));
        }
        let base = url.trim_end_matches('/');
        let path = "/chat/completions";
        let url = if base.ends_with(path) { base.to_owned() } else { format!("{base}{path}") };
        let config = Agent::config_builder()
            .timeout_global(patience.whole)
            .timeout_recv_response(patience.begin)
            .http_status_as_error(false);
        let key = std::env::var("OPENAI_API_KEY").ok().filter(|it| !it.is_empty());
        Ok(Self { url, key, agent: config.build().into() })
    }

    /// Sends a request body; gives the reply once it has begun, or a sentence that says why there
    /// is none. A status that means a refusal is such a sentence.
    pub(crate) fn post(&self, body: &[u8]) -> Result<Response<Body>, String> {
        let mut call = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(key) = &self.key {
            call = call.header("authorization", format!("Bearer {key}"));
        }
        let mut reply = call.send(body).map_err(|it| it.to_string())?;
        let status = reply.status();
        if status.is_success() {
            return Ok(reply);
        }
        let said =
            reply.body_mut().with_config().limit(MAX_REFUSAL).read_to_vec().unwrap_or_default();
        let said: String = String::from_utf8_lossy(&said).chars().take(500).collect();
        Err(format!("the endpoint answered {status}: {}", said.trim()))
    }
}
