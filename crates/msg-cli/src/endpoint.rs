//! An endpoint of one of the kinds of [`Api`]: its URL, its key, and one blocking request at a time.
//!
//! Knows nothing about requests and replies. The key is only sent to the named host: not to another host by redirect,
//! and never included in error messages.
//!
//! ```text
//! POST https://host/v1/messages      Api: path, names of the key, headers of the kind
//! 429, 503                           unanswered, retry_after: whether and when to ask again
//! …sk-…                              Masking: the key never reaches a message
//! ```

mod unanswered;

use std::time::Duration;

use ureq::http::{Response, Uri};
use ureq::{Agent, Body};

use crate::exit::{Failure, refuse_if};

pub(crate) use self::unanswered::Unanswered;

/// The maximum number of redirects, to the same host only.
const MAX_REDIRECTS: usize = 3;

/// Time limits of a request; `None` means no limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    /// For the complete request.
    pub(crate) whole: Option<Duration>,
    /// Until the reply begins.
    pub(crate) begin: Option<Duration>,
}

/// The target of requests.
pub(crate) struct Endpoint {
    api: Api,
    url: String,
    key: Option<String>,
    headers: Vec<(&'static str, String)>,
    agent: Agent,
}

impl Endpoint {
    /// The endpoint of this kind at `url`, which may be the base (`…/v1`) or complete (`…/chat/completions`), for a
    /// model that may be part of the URL. The key is read from the kind's variable; without it, none is sent.
    pub(crate) fn new(
        api: Api,
        url: &str,
        model: &str,
        patience: Patience,
    ) -> Result<Self, Failure> {
        refuse_if(
            !(url.starts_with("http://") || url.starts_with("https://")),
            format!("endpoint {url:?}: expected an http or https URL"),
        )?;
        refuse_if(
            cfg!(not(feature = "https")) && url.starts_with("https://"),
            "this build has no HTTPS (feature `https`): use an http:// URL",
        )?;
        let url = api.url(url, model);
        let config = Agent::config_builder()
            .timeout_global(patience.whole)
            .timeout_recv_response(patience.begin)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false);
        let keys = api.key_names().iter().filter_map(|name| std::env::var(name).ok());
        let key = keys.into_iter().find(|it| !it.is_empty());
        Ok(Self { api, url, key, headers: Vec::new(), agent: config.build().into() })
    }

    /// Adds headers to every request.
    pub(crate) fn with_headers(
        mut self,
        headers: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        self.headers.extend(headers);
        self
    }

    /// Sends a request body and returns the reply once it has begun. Fails without a reply, and for an error status.
    pub(crate) fn post(&self, body: &[u8]) -> Result<Response<Body>, Unanswered> {
        let mut url = self.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let reply = self.post_to(&url, body)?;
            match self.redirected(&url, &reply)? {
                Some(next) => url = next,
                None if reply.status().is_success() => return Ok(reply),
                None => {
                    let is_refused = matches!(reply.status().as_u16(), 401 | 403);
                    let key = self.unset_key().filter(|_| is_refused);
                    let told = |it| self.masked(it) + &key.unwrap_or_default();
                    return Err(Unanswered::of_status(reply).without(told));
                }
            }
        }
        Err(Unanswered::Final(format!("the endpoint redirects more than {MAX_REDIRECTS} times")))
    }

    fn post_to(&self, url: &str, body: &[u8]) -> Result<Response<Body>, Unanswered> {
        let mut call = self.agent.post(url).header("content-type", "application/json");
        let own = self.api.headers(self.key.as_deref());
        for (name, value) in self.headers.iter().chain(&own) {
            call = call.header(*name, value);
        }
        call.send(body).map_err(|it| {
            Unanswered::Final(self.masked(format!("{} cannot be asked: {it}", shown(url))))
        })
    }

    /// The target of a redirect. Only 307 and 308 keep the method, and only the same host gets the request with its
    /// key.
    fn redirected(&self, from: &str, reply: &Response<Body>) -> Result<Option<String>, Unanswered> {
        if !reply.status().is_redirection() {
            return Ok(None);
        }
        let to =
            reply.headers().get("location").and_then(|it| it.to_str().ok()).unwrap_or_default();
        let next = same_host(from, to).filter(|_| matches!(reply.status().as_u16(), 307 | 308));
        let told = || {
            let what = "the endpoint redirects to";
            Unanswered::Final(self.masked(format!(
                "{what} {to:?}, where nothing is sent; --url names it if it is meant"
            )))
        };
        next.ok_or_else(told).map(Some)
    }

    /// The note about a missing key.
    fn unset_key(&self) -> Option<String> {
        let names = self.api.key_names().join(" and ");
        self.key.is_none().then(|| format!(" (no key is sent: {names} is not set)"))
    }

    /// A text of the endpoint with the key removed.
    pub(crate) fn masked(&self, text: String) -> String {
        self.masking().whole(text)
    }

    /// Removes the key from texts that arrive in pieces.
    pub(crate) fn masking(&self) -> Masking {
        Masking::of(self.key.as_deref())
    }
}

/// The URL of a request for messages, without user name, password and query.
fn shown(url: &str) -> String {
    let url = url.split('?').next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or_default())
        }
        None => url.to_owned(),
    }
}

/// The URL in `to` if it has the host, port and scheme of `from`.
fn same_host(from: &str, to: &str) -> Option<String> {
    let base: Uri = from.parse().ok()?;
    if to.starts_with('/') && !to.starts_with("//") {
        return Some(format!("{}://{}{to}", base.scheme_str()?, base.authority()?));
    }
    let next: Uri = to.parse().ok()?;
    let same = next.scheme_str() == base.scheme_str() && next.authority() == base.authority();
    (same && next.scheme_str().is_some()).then(|| to.to_owned())
}

// Removes an endpoint's key from its output: proxies and echo servers send back what they received.
//
// Recognises the key only as it was sent, not in other spellings.

/// Removes a key from text that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct Masking {
    key: Option<String>,
    /// The end of the text so far, if the key may begin there.
    waiting: String,
    /// The same for bytes.
    held: Vec<u8>,
}

/// The minimum length of a key: shorter ones are words.
const LEAST_KEY: usize = 6;

impl Masking {
    /// Removes this key.
    pub(crate) fn of(key: Option<&str>) -> Self {
        let key = key.filter(|it| it.len() >= LEAST_KEY).map(str::to_owned);
        Masking { key, ..Masking::default() }
    }

    /// Returns the text up to the place where the key may begin, without the key.
    pub(crate) fn piece(&mut self, text: &str) -> String {
        let Some(key) = &self.key else { return text.to_owned() };
        let mut text = (std::mem::take(&mut self.waiting) + text).replace(key, MASK);
        let starts = (1..key.len()).rev().filter(|it| key.is_char_boundary(*it));
        let begun = starts.map(|it| &key[..it]).find(|it| text.ends_with(it));
        self.waiting = text.split_off(text.len() - begun.map_or(0, str::len));
        text
    }

    /// [`Masking::piece`] for bytes.
    pub(crate) fn bytes(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(key) = self.key.as_deref().map(str::as_bytes) else { return piece.to_vec() };
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(piece);
        let mut res = Vec::with_capacity(all.len());
        let mut rest = all.as_slice();
        while let Some(at) = memchr::memmem::find(rest, key) {
            res.extend_from_slice(&rest[..at]);
            res.extend_from_slice(MASK.as_bytes());
            rest = &rest[at + key.len()..];
        }
        let begun = (1..key.len()).rev().find(|it| rest.ends_with(&key[..*it])).unwrap_or(0);
        let (said, held) = rest.split_at(rest.len() - begun);
        res.extend_from_slice(said);
        self.held = held.to_vec();
        res
    }

    /// The remaining bytes, at the end.
    pub(crate) fn rest_of_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// The remaining text, at the end.
    pub(crate) fn rest(&mut self) -> String {
        std::mem::take(&mut self.waiting)
    }

    /// A complete text without the key.
    pub(crate) fn whole(&self, text: String) -> String {
        match &self.key {
            Some(key) if text.contains(key) => text.replace(key, MASK),
            _ => text,
        }
    }
}

const MASK: &str = "[key]";

// The kinds of endpoints: URL, key and headers of each.
//
// Knows nothing about requests.

/// The kind of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Api {
    /// Chat Completions, and everything compatible with it.
    #[value(name = "openai")]
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini's generateContent, streamed.
    Gemini,
}

/// Gemini's streaming method, and the requested form of the stream.
const STREAM: &str = ":streamGenerateContent";
const AS_EVENTS: &str = "?alt=sse";

impl Api {
    /// The kind indicated by a URL: by its path, or by the provider's host.
    pub(crate) fn of_url(url: &str) -> Self {
        let path = url.split('?').next().unwrap_or_default().trim_end_matches('/');
        let host =
            path.split("://").nth(1).and_then(|it| it.split(['/', ':']).next()).unwrap_or_default();
        let is_host = |name: &str| {
            host.strip_suffix(name).is_some_and(|it| it.is_empty() || it.ends_with(['.', '-']))
        };
        if path.ends_with("/messages") || is_host("anthropic.com") {
            Self::Anthropic
        } else if path.ends_with(STREAM)
            || is_host("generativelanguage.googleapis.com")
            || is_host("aiplatform.googleapis.com")
        {
            Self::Gemini
        } else if path.ends_with("/responses") {
            Self::Responses
        } else {
            Self::OpenAi
        }
    }

    /// The environment variable for the base URL, and the provider's default.
    pub(crate) fn base(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAi | Self::Responses => ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
            Self::Anthropic => ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
            Self::Gemini => ("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
        }
    }

    /// The environment variables for the key; the first one that is set counts.
    pub(crate) fn key_names(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::Responses => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        }
    }

    /// The URL of requests to a model, from a base (`…/v1`) or a complete URL (`…/v1/messages`).
    fn url(self, base: &str, model: &str) -> String {
        let base = base.trim_end_matches('/');
        let (version, path) = match self {
            Self::OpenAi => ("", "/chat/completions"),
            Self::Responses => ("", "/responses"),
            Self::Anthropic => ("/v1", "/messages"),
            Self::Gemini => return gemini_url(base, model),
        };
        if base.ends_with(path) {
            return base.to_owned();
        }
        // The provider's clients name only the host.
        let version = if base.ends_with(version) { "" } else { version };
        format!("{base}{version}{path}")
    }

    /// The headers with the key and the API version.
    fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let key = key.map(|key| match self {
            Self::OpenAi | Self::Responses => ("authorization", format!("Bearer {key}")),
            Self::Anthropic => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
        });
        let version = ("anthropic-version", "2023-06-01".to_owned());
        let version = (self == Self::Anthropic).then_some(version);
        key.into_iter().chain(version).collect()
    }
}

/// The URL contains the model, its version and the method. A base that is only a host, as the provider's clients
/// accept, has no version; Vertex has a longer path before `/models`.
fn gemini_url(base: &str, model: &str) -> String {
    if let Some(whole) =
        base.strip_suffix(AS_EVENTS).or(Some(base)).filter(|it| it.ends_with(STREAM))
    {
        return format!("{whole}{AS_EVENTS}");
    }
    let base = base.strip_suffix("/models").unwrap_or(base);
    let is_host = base.split_once("://").is_some_and(|(_, it)| !it.contains('/'));
    let version = if is_host { "/v1beta" } else { "" };
    let model = segment(model.strip_prefix("models/").unwrap_or(model));
    format!("{base}{version}/models/{model}{STREAM}{AS_EVENTS}")
}

/// A name as one path segment, with special characters escaped.
fn segment(name: &str) -> String {
    let mut res = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'@' | b':' => {
                res.push(char::from(byte));
            }
            _ => res.push_str(&format!("%{byte:02X}")),
        }
    }
    res
}

#[cfg(test)]
mod tests {
    use super::*;
    use super::{Api, Masking};

    #[test]
    fn a_redirect_stays_on_its_host() {
        let from = "https://a.example:8443/v1/chat/completions";
        let there = |to: &str| same_host(from, to);
        assert_eq!(there("/v2/x").as_deref(), Some("https://a.example:8443/v2/x"));
        assert_eq!(there("https://a.example:8443/y").as_deref(), Some("https://a.example:8443/y"));
        for to in [
            "",
            "//b.example/x",
            "http://a.example:8443/y",
            "https://a.example/y",
            "https://b.example:8443/",
            "x",
        ] {
            assert_eq!(there(to), None, "{to}");
        }
    }

    #[test]
    fn a_key_in_pieces_is_masked() {
        let text = "sk-s, sk-secret and sk-sk-secrets";
        for cut in (0..text.len()).chain([text.len()]) {
            for end in cut..=text.len() {
                let mut it = Masking::of(Some("sk-secret"));
                let pieces = [&text[..cut], &text[cut..end], &text[end..]];
                let shown = pieces.map(|piece| it.piece(piece)).concat() + &it.rest();
                assert_eq!(shown, "sk-s, [key] and sk-[key]s");
            }
        }
    }

    #[test]
    fn nothing_waits_without_a_key_or_for_a_word() {
        for key in [None, Some("ab")] {
            let mut it = Masking::of(key);
            assert_eq!((it.piece("cab"), it.rest()), ("cab".to_owned(), String::new()));
        }
    }

    #[test]
    fn bytes_hold_no_key_however_they_are_cut() {
        let whole = b"{\"id\":\"sk-secret-1\",\"model\":\"sk-sk-secret-1\"}";
        for len in 1..whole.len() {
            let mut masking = Masking::of(Some("sk-secret-1"));
            let mut out: Vec<u8> = whole.chunks(len).flat_map(|it| masking.bytes(it)).collect();
            out.extend(masking.rest_of_bytes());
            assert_eq!(out, b"{\"id\":\"[key]\",\"model\":\"sk-[key]\"}", "{len}");
        }
    }

    #[test]
    fn urls_tell_their_kind_and_are_completed() {
        for (given, api, url) in [
            (
                "https://api.openai.com/v1",
                Api::OpenAi,
                "https://api.openai.com/v1/chat/completions",
            ),
            ("http://[::1]:8080/v1/", Api::OpenAi, "http://[::1]:8080/v1/chat/completions"),
            ("https://a.example/v1/responses", Api::Responses, "https://a.example/v1/responses"),
            ("https://api.anthropic.com", Api::Anthropic, "https://api.anthropic.com/v1/messages"),
            (
                "https://api.anthropic.com/v1/",
                Api::Anthropic,
                "https://api.anthropic.com/v1/messages",
            ),
            ("http://localhost:1/v1/messages", Api::Anthropic, "http://localhost:1/v1/messages"),
            (
                "https://anthropic.com.example",
                Api::OpenAi,
                "https://anthropic.com.example/chat/completions",
            ),
            (
                "https://generativelanguage.googleapis.com/",
                Api::Gemini,
                "https://generativelanguage.googleapis.com/v1beta/models/m%2F1:streamGenerateContent?alt=sse",
            ),
            (
                "https://eu-aiplatform.googleapis.com/v1/projects/p/locations/eu/publishers/google",
                Api::Gemini,
                "https://eu-aiplatform.googleapis.com/v1/projects/p/locations/eu/publishers/google/models/m%2F1:streamGenerateContent?alt=sse",
            ),
            (
                "http://localhost:1/x/models/a:streamGenerateContent",
                Api::Gemini,
                "http://localhost:1/x/models/a:streamGenerateContent?alt=sse",
            ),
        ] {
            let found = api.url(given, "models/m/1");
            assert_eq!((Api::of_url(given), found.as_str()), (api, url), "{given}");
        }
    }
}
