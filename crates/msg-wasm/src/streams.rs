//! Live streams of providers. Any cutting gives the same events.

use msg_document::{CaptureOptions, Refusal, StreamForm, StreamRun};

use crate::state::json_list;

/// A stream that is fed.
pub(crate) struct Stream(Box<StreamRun>);

impl Stream {
    pub(crate) fn new(options: &CaptureOptions) -> Self {
        let mut options = options.clone();
        options.events = true;
        Stream(Box::new(StreamRun::new(&options)))
    }

    /// The events that these bytes complete, as a JSON array.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.feed(bytes);
        json_list(self.0.take_events().into_iter())
    }

    /// The result, with the events that the end completes.
    pub(crate) fn finish(self) -> Vec<u8> {
        finished(*self.0)
    }
}

/// The most bytes of a body where nothing else is said, as everywhere.
const MAX_BYTES: u64 = 256 << 20;

/// The answer to the body of a captured stream.
pub(crate) fn whole(body: &[u8], options: &CaptureOptions) -> Result<Vec<u8>, Refusal> {
    let most = options.max_bytes.unwrap_or(MAX_BYTES);
    if body.len() as u64 > most {
        return Err(Refusal::too_large(most));
    }
    let mut run = StreamRun::new(options);
    run.feed(body);
    Ok(finished(run))
}

#[cfg(feature = "documents")]
fn finished(run: StreamRun) -> Vec<u8> {
    run.finish().to_json()
}

/// The result as a message: what writes streams would be a quarter of the module.
#[cfg(not(feature = "documents"))]
fn finished(run: StreamRun) -> Vec<u8> {
    run.finish().message_json()
}

/// Refuses what this build does not have.
pub(crate) fn expect_known(options: &CaptureOptions) -> Result<(), Refusal> {
    let is_message =
        matches!(options.to, StreamForm::OpenAi | StreamForm::Native | StreamForm::Turns);
    if cfg!(feature = "documents") || is_message {
        return Ok(());
    }
    let text = "this module writes no streams, expected openai, native or turns: `msg-conversations` has the others";
    Err(Refusal::bad_option(text))
}
