//! How a response ended, in the words of the Responses API: its status, and what goes with it.

use msg_core::FinishReason;
use msg_json::Writer;

/// The end of a response.
pub(crate) struct End<'a> {
    finish: Option<&'a FinishReason>,
    error: Option<&'a str>,
}

impl<'a> End<'a> {
    pub(crate) fn of(finish: Option<&'a FinishReason>, error: Option<&'a str>) -> Self {
        Self { finish, error }
    }

    /// The status; none of a stream that was cut, which has no end.
    pub(crate) fn status(&self) -> Option<&'static str> {
        match self.finish {
            _ if self.error.is_some() => Some("failed"),
            Some(FinishReason::Length | FinishReason::ContentFilter) => Some("incomplete"),
            Some(FinishReason::Error | FinishReason::Interrupted) | None => None,
            Some(_) => Some("completed"),
        }
    }

    /// The value of `error`.
    pub(crate) fn write_error(&self, it: &mut Writer<'_>) {
        match self.error {
            Some(message) => it.object(|it| {
                it.key("code").str("server_error");
                it.key("message").str(message);
            }),
            None => it.null(),
        }
    }

    /// The value of `incomplete_details`.
    pub(crate) fn write_details(&self, it: &mut Writer<'_>) {
        match (self.status(), self.finish) {
            (Some("incomplete"), Some(FinishReason::ContentFilter)) => reason(it, "content_filter"),
            (Some("incomplete"), _) => reason(it, "max_output_tokens"),
            _ => it.null(),
        }
    }
}

fn reason(it: &mut Writer<'_>, word: &str) {
    it.object(|it| it.key("reason").str(word));
}
