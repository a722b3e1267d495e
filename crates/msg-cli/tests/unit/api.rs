//! URLs and the kinds that they tell.

use super::Api;

#[test]
fn urls_tell_their_kind_and_are_completed() {
    for (given, api, url) in [
        ("https://api.openai.com/v1", Api::OpenAi, "https://api.openai.com/v1/chat/completions"),
        ("http://[::1]:8080/v1/", Api::OpenAi, "http://[::1]:8080/v1/chat/completions"),
        ("https://a.example/v1/responses", Api::Responses, "https://a.example/v1/responses"),
        ("https://api.anthropic.com", Api::Anthropic, "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/", Api::Anthropic, "https://api.anthropic.com/v1/messages"),
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
