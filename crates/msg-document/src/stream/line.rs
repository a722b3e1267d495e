//! A line of `msg stream --jsonl`: a body in an envelope.

use serde::Deserialize;

use super::options::{Provider, StreamForm, StreamOptions};
use super::run::stream;
use crate::line::{bad_line, decoded};
use crate::refusal::Refusal;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    sse: Option<String>,
    sse_b64: Option<String>,
    provider: Option<Provider>,
    chunk: Option<usize>,
    options: Option<Own>,
}

/// What a line says in `options`: the rest is said beside it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Own {
    to: StreamForm,
    events: bool,
    split_concatenated: bool,
    max_event_bytes: Option<usize>,
    interrupt_after: Option<usize>,
}

impl Line {
    fn options(&self, defaults: &StreamOptions) -> StreamOptions {
        let mut res = defaults.clone();
        if let Some(own) = &self.options {
            res.to = own.to;
            res.events = own.events;
            res.split_concatenated = own.split_concatenated;
            res.max_event_bytes = own.max_event_bytes;
            res.interrupt_after = own.interrupt_after;
        }
        res.provider = self.provider.unwrap_or(res.provider);
        res.chunk = self.chunk.unwrap_or(res.chunk);
        res
    }
}

impl StreamOptions {
    /// The answer to a line of `msg stream --jsonl`: an object with `sse` or `sse_b64`, and what is else to be said
    /// of this one; and whether nothing was wrong with it.
    ///
    /// Fails for a line that is no such object. Linear in the line.
    ///
    /// ```
    /// use msg_document::StreamOptions;
    ///
    /// assert!(StreamOptions::default().answer_line(br#"{"sse":"data: [DONE]\n\n"}"#).is_ok());
    /// assert!(StreamOptions::default().answer_line(b"[]").is_err());
    /// ```
    pub fn answer_line(&self, line: &[u8]) -> Result<(Vec<u8>, bool), Refusal> {
        let line: Line = serde_json::from_slice(line).map_err(|it| bad_line(it.to_string()))?;
        let options = line.options(self);
        let body = match (line.sse, line.sse_b64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => decoded("sse_b64", &text)?,
            _ => return Err(bad_line("expected one of sse and sse_b64")),
        };
        let streamed = stream(&body, &options)?;
        Ok((streamed.to_json(), streamed.is_clean()))
    }
}
