//! The kinds of endpoints: where each is asked, with whose key, and which headers name both.
//!
//! Knows nothing of what is asked.

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

/// The method of Gemini that streams, and the form that it is asked to stream in.
const STREAM: &str = ":streamGenerateContent";
const AS_EVENTS: &str = "?alt=sse";

impl Api {
    /// The kind that a URL tells: by its path, or by the provider's host.
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

    /// The environment variable that names the base of the URL, and the provider's own.
    pub(crate) fn base(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAi | Self::Responses => ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
            Self::Anthropic => ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
            Self::Gemini => ("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
        }
    }

    /// The environment variables that may hold the key; the first that does counts.
    pub(crate) fn key_names(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::Responses => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        }
    }

    /// Where requests to a model go, of a base (`…/v1`) or the whole (`…/v1/messages`).
    pub(super) fn url(self, base: &str, model: &str) -> String {
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
        // The provider's clients name the host alone.
        let version = if base.ends_with(version) { "" } else { version };
        format!("{base}{version}{path}")
    }

    /// The headers that carry the key, and say which version is spoken.
    pub(super) fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
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

/// The URL names the model, its version and the method. A base that is a host, as the provider's clients
/// take it, has no version; Vertex has a longer path before `/models`.
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

/// A name as one segment of a path: what means something there is escaped.
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
    use super::Api;

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
