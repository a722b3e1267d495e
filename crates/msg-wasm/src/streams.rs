//! What comes in pieces: model text with tool calls, and live streams of providers. Any cutting gives the same events.

use std::sync::Arc;

use msg_core::{CountingIds, StreamEvent};
use msg_document::{CaptureOptions, StreamRun, ToolsOptions};
use msg_xml::{Event, StreamParser};

/// A parser that is fed.
pub(crate) enum Parser {
    Tools { parser: Box<StreamParser>, ids: CountingIds },
    Stream(Box<StreamRun>),
}

impl Parser {
    pub(crate) fn of_tools(options: &ToolsOptions) -> Self {
        let parser = Box::new(StreamParser::shared(Arc::clone(&options.read)));
        Parser::Tools { parser, ids: CountingIds::default() }
    }

    pub(crate) fn of_stream(options: &CaptureOptions) -> Self {
        let mut options = options.clone();
        options.events = true;
        Parser::Stream(Box::new(StreamRun::new(&options)))
    }

    /// The events that these bytes complete, as a JSON array.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Parser::Tools { parser, ids } => list(parser.feed(bytes), ids),
            Parser::Stream(run) => {
                run.feed(bytes);
                json_list(run.take_events().into_iter())
            }
        }
    }

    /// The events that the end completes; of a stream its result, with these events.
    pub(crate) fn finish(self) -> Vec<u8> {
        match self {
            Parser::Tools { mut parser, mut ids } => list(parser.finish(None), &mut ids),
            Parser::Stream(run) => run.finish().to_json(),
        }
    }
}

fn list<'a>(events: impl Iterator<Item = Event<'a>>, ids: &mut CountingIds) -> Vec<u8> {
    json_list(events.flat_map(|it| it.into_stream_events(ids)))
}

fn json_list<'a>(events: impl Iterator<Item = StreamEvent<'a>>) -> Vec<u8> {
    let mut out = vec![b'['];
    for event in events {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend(msg_document::to_json(&event));
    }
    out.push(b']');
    out
}
