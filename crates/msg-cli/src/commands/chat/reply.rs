//! The reply of an endpoint while it comes, until it ends, falls silent, grows too large or is stopped.
//!
//! ```text
//! reading thread                      this one
//! POST ─▶ 429, wait, POST ─▶ bytes ─▶ StreamReader ─▶ saved in the file ─▶ shown
//! ```
//!
//! What is shown is on disk, unless the disk is too slow to wait for.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use msg_codec::{Assembled, StreamOptions, StreamReader};
use msg_core::StreamEvent;
use msg_document::Provider;

use super::saved::Saved;
use super::sending::{Piece, send};
use super::show::Show;
use crate::commands::chat::sending::Stop;
use crate::endpoint::Endpoint;

/// How often it is looked whether somebody wants to stop, while nothing comes.
const TICK: Duration = Duration::from_millis(100);

/// How a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// By itself.
    Whole,
    /// Somebody stopped it.
    Interrupted,
    /// Nothing came for so long, or only signs of life.
    Silent(Duration),
    /// It has more bytes than are taken.
    TooLong(u64),
    /// The connection broke, or there never was an answer.
    Broken(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Whole => f.write_str("the answer is whole"),
            Ended::Interrupted => f.write_str("interrupted"),
            Ended::Silent(it) => {
                write!(
                    f,
                    "the endpoint said nothing for {} s (--timeout waits longer)",
                    it.as_secs()
                )
            }
            Ended::TooLong(limit) => {
                write!(f, "the answer went over {limit} bytes (--max-answer-bytes takes more)")
            }
            Ended::Broken(why) => f.write_str(why),
        }
    }
}

/// What bounds a reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How long nothing may come that says something: blank comments and empty deltas are nothing.
    pub(super) silence: Duration,
    /// Bytes of what the model says: text, thoughts, arguments.
    pub(super) answer: u64,
    /// How often a request is sent again.
    pub(super) retries: u32,
}

impl Bounds {
    /// Bytes as they come over the wire, for a stream that goes on without saying anything.
    fn wire(&self) -> u64 {
        self.answer.saturating_mul(16).saturating_add(64 << 20)
    }
}

/// Sends a request, and saves and shows the reply while it comes. What came before it ended is given.
pub(super) fn receive(
    endpoint: &Arc<Endpoint>,
    body: Vec<u8>,
    bounds: Bounds,
    stop: &Stop,
    (saved, show): (&mut Saved<'_>, &mut Show),
) -> (Assembled, Ended) {
    let (sender, pieces) = sync_channel(16);
    let sending = Arc::clone(endpoint);
    // The thread outlives an interruption, blocked in a read, and is not waited for.
    thread::spawn(move || send(&sending, &body, bounds.retries, &sender));
    let mut taking = Taking::new(bounds);
    let ended = taking.all(&pieces, stop, saved, show);
    let mut sink = |it: StreamEvent<'_>| show.event(&it);
    let mut res = match ended {
        Ended::Whole => taking.reader.finish(&mut sink),
        _ => taking.reader.interrupt(&mut sink),
    };
    res.complete &= ended == Ended::Whole;
    (res, ended)
}

/// A reply so far.
struct Taking {
    reader: StreamReader,
    bounds: Bounds,
    /// When something was said, or a request was sent.
    told: Instant,
    wire: u64,
    answer: u64,
}

impl Taking {
    fn new(bounds: Bounds) -> Self {
        let now = Instant::now();
        let reader = StreamReader::new(Provider::Auto.families(), StreamOptions::default());
        Self { reader, bounds, told: now, wire: 0, answer: 0 }
    }

    fn all(
        &mut self,
        pieces: &Receiver<Piece>,
        stop: &Stop,
        saved: &mut Saved<'_>,
        show: &mut Show,
    ) -> Ended {
        while !self.reader.is_finished() {
            if stop.is_wanted() {
                return Ended::Interrupted;
            }
            match pieces.recv_timeout(saved.wait().min(TICK)) {
                Ok(Piece::Bytes(bytes)) => self.take(&bytes, saved, show),
                Ok(Piece::Waits(why, pause)) => {
                    show.aside(&format!("{why}; asking again in {:.1} s", pause.as_secs_f64()));
                    self.told = Instant::now() + pause;
                }
                Ok(Piece::End) => return Ended::Whole,
                Ok(Piece::Broken(why)) => return Ended::Broken(why),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Ended::Broken("the reply broke off".to_owned());
                }
            }
            if let Some(ended) = self.is_over() {
                return ended;
            }
            if saved.is_due() {
                saved.save(&self.reader.snapshot());
            }
            if !saved.is_behind() {
                show.flush();
            }
        }
        Ended::Whole
    }

    fn take(&mut self, bytes: &[u8], saved: &mut Saved<'_>, show: &mut Show) {
        self.wire += bytes.len() as u64;
        let before = self.answer;
        let answer = &mut self.answer;
        self.reader.feed(bytes, &mut |it| {
            *answer += said(&it);
            show.event(&it);
        });
        if self.answer > before {
            self.told = Instant::now();
            saved.note_change();
        }
    }

    fn is_over(&self) -> Option<Ended> {
        let Bounds { silence, answer, .. } = self.bounds;
        if self.answer > answer || self.wire > self.bounds.wire() {
            return Some(Ended::TooLong(answer));
        }
        (self.told.elapsed() >= silence).then_some(Ended::Silent(silence))
    }
}

/// How many bytes of an answer an event adds.
fn said(event: &StreamEvent<'_>) -> u64 {
    let len = match event {
        StreamEvent::TextDelta { text, .. }
        | StreamEvent::ReasoningDelta { text, .. }
        | StreamEvent::RefusalDelta { text, .. } => text.len(),
        StreamEvent::ToolCallDelta { arguments, .. } => arguments.len(),
        StreamEvent::ToolCallBegin { name, .. } => name.len(),
        _ => 0,
    };
    len as u64
}
