//! An endpoint of one of the kinds of `api`: where it is, whose key is sent, and one blocking request at a
//! time.
//!
//! It knows nothing of what is asked, nor what the reply means. The key goes to the host that was named
//! and nowhere else: not to the host of a redirect, and not into what is said of a refusal.
//!
//! ```text
//! POST https://host/v1/messages      api: path, names of the key, headers of the kind
//! 429, 503                           unanswered, retry_after: whether and when to ask again
//! …sk-…                              masking: the key never reaches a message
//! ```

mod api;
mod masking;
mod unanswered;

use std::time::Duration;

use ureq::{
    Agent, Body,
    http::{Response, Uri},
};

pub(crate) use self::api::Api;
pub(crate) use self::masking::Masking;
pub(crate) use self::unanswered::Unanswered;
use crate::exit::{Failure, refuse_if};

/// The most redirects to the same host that are followed.
const MAX_REDIRECTS: usize = 3;

/// Time limits of a request; none means no limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    /// For the whole of a request.
    pub(crate) whole: Option<Duration>,
    /// Until the reply begins.
    pub(crate) begin: Option<Duration>,
}

/// Where requests go.
pub(crate) struct Endpoint {
    api: Api,
    url: String,
    key: Option<String>,
    headers: Vec<(&'static str, String)>,
    agent: Agent,
}

impl Endpoint {
    /// The endpoint of this kind at `url`, which may be the base (`…/v1`) or the whole
    /// (`…/chat/completions`), for a model that the URL may have to name. The key is read from the kind's
    /// variable; without one, none is sent.
    pub(crate) fn new(
        api: Api,
        url: &str,
        model: &str,
        patience: Patience,
    ) -> Result<Self, Failure> {
        refuse_if(
            !(url.starts_with("http://") || url.starts_with("https://")),
            format!("found {url:?}, expected an http or https URL"),
        )?;
        refuse_if(
            cfg!(not(feature = "https")) && url.starts_with("https://"),
            "this msg was built without the feature https: endpoints are asked at http:// URLs",
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

    /// With headers that every request carries.
    pub(crate) fn with_headers(
        mut self,
        headers: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        self.headers.extend(headers);
        self
    }

    /// Sends a request body; gives the reply once it has begun, or why there is none. A status that
    /// means a refusal is such a reason.
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

    /// Where a reply sends the request to; only 307 and 308 keep it a request, and only the same host
    /// gets it, with the key in it.
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

    /// What may be said where no key is sent.
    fn unset_key(&self) -> Option<String> {
        let names = self.api.key_names().join(" and ");
        self.key.is_none().then(|| format!(" (no key is sent: {names} is not set)"))
    }

    /// A text of the endpoint without the key in it.
    pub(crate) fn masked(&self, text: String) -> String {
        self.masking().whole(text)
    }

    /// What takes the key out of texts that come in pieces.
    pub(crate) fn masking(&self) -> Masking {
        Masking::of(self.key.as_deref())
    }
}

/// Where a request goes, without what only the endpoint is to know: a name and password, and a query.
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

/// The URL that `to` means if it is on the host, port and scheme of `from`.
fn same_host(from: &str, to: &str) -> Option<String> {
    let base: Uri = from.parse().ok()?;
    if to.starts_with('/') && !to.starts_with("//") {
        return Some(format!("{}://{}{to}", base.scheme_str()?, base.authority()?));
    }
    let next: Uri = to.parse().ok()?;
    let same = next.scheme_str() == base.scheme_str() && next.authority() == base.authority();
    (same && next.scheme_str().is_some()).then(|| to.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
