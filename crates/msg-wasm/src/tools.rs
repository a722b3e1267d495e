//! Tool calls in model text that comes in pieces. Any cutting gives the same events.

use std::sync::Arc;

use msg_core::CountingIds;
use msg_document::ToolsOptions;
use msg_xml::{Event, StreamParser};

use crate::state::json_list;

/// A parser that is fed.
pub(crate) struct Tools {
    parser: Box<StreamParser>,
    ids: CountingIds,
}

impl Tools {
    pub(crate) fn new(options: &ToolsOptions) -> Self {
        let parser = Box::new(StreamParser::shared(Arc::clone(&options.read)));
        Tools { parser, ids: CountingIds::default() }
    }

    /// The events that these bytes complete, as a JSON array.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        list(self.parser.feed(bytes), &mut self.ids)
    }

    /// The events that the end completes.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        list(self.parser.finish(None), &mut self.ids)
    }
}

fn list<'a>(events: impl Iterator<Item = Event<'a>>, ids: &mut CountingIds) -> Vec<u8> {
    json_list(events.flat_map(|it| it.into_stream_events(ids)))
}
