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
}

impl Api {
    /// The kind that a URL tells: by its path, or by the provider's host.
    pub(crate) fn of_url(url: &str) -> Self {
        let path = url.trim_end_matches('/');
        let host =
            path.split("://").nth(1).and_then(|it| it.split(['/', ':']).next()).unwrap_or_default();
        if path.ends_with("/messages")
            || host == "anthropic.com"
            || host.ends_with(".anthropic.com")
        {
            Self::Anthropic
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
        }
    }

    /// The environment variable that holds the key.
    pub(crate) fn key_name(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Responses => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    /// Where requests go, of a base (`…/v1`) or the whole (`…/v1/messages`).
    pub(super) fn url(self, base: &str) -> String {
        let base = base.trim_end_matches('/');
        let (version, path) = match self {
            Self::OpenAi => ("", "/chat/completions"),
            Self::Responses => ("", "/responses"),
            Self::Anthropic => ("/v1", "/messages"),
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
        });
        let version = ("anthropic-version", "2023-06-01".to_owned());
        let version = (self == Self::Anthropic).then_some(version);
        key.into_iter().chain(version).collect()
    }
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
        ] {
            assert_eq!((Api::of_url(given), api.url(given).as_str()), (api, url), "{given}");
        }
    }
}
