//! An answer in its file while it comes: saved as often as the disk allows, whole at the end.
//!
//! A saving takes as long as it takes, and the next one waits four times that: at most a fifth of the
//! time goes to the disk, whatever it is and however long the answer gets.

use std::time::{Duration, Instant};

use msg_codec::{Assembled, AssembledChoice};
use msg_core::{Message, Part};
use msg_file::ToCells;
use msg_file::store::{Appended, Appender, GrowingMessage};

use super::record;
use super::request::Asking;
use crate::commands::file::Nonces;
use crate::endpoint::Endpoint;

/// Times as long as a saving took, until the next one.
const REST: u32 = 4;
/// What came is shown by then, saved or not.
const LONGEST: Duration = Duration::from_millis(250);

/// The answer as it is in the file.
pub(super) struct Saved<'a> {
    log: &'a mut Appender,
    asking: &'a Asking,
    endpoint: &'a Endpoint,
    growing: GrowingMessage,
    done: Vec<Appended>,
    /// Since when something is not saved.
    changed: Option<Instant>,
    last: Instant,
    cost: Duration,
    /// The first failure; nothing is saved after it until the end.
    failed: Option<msg_file::Error>,
}

impl<'a> Saved<'a> {
    pub(super) fn new(log: &'a mut Appender, asking: &'a Asking, endpoint: &'a Endpoint) -> Self {
        let (growing, done) = (GrowingMessage::default(), Vec::new());
        let (last, cost) = (Instant::now(), Duration::ZERO);
        Self { log, asking, endpoint, growing, done, changed: None, last, cost, failed: None }
    }

    /// Something came.
    pub(super) fn note_change(&mut self) {
        self.changed.get_or_insert_with(Instant::now);
    }

    /// How long until it is due.
    pub(super) fn wait(&self) -> Duration {
        match self.changed {
            Some(_) if self.failed.is_none() => {
                (self.cost * REST).saturating_sub(self.last.elapsed()).max(Duration::from_millis(1))
            }
            _ => Duration::MAX,
        }
    }

    /// Whether there is something to save, and the disk has rested.
    pub(super) fn is_due(&self) -> bool {
        self.changed.is_some() && self.failed.is_none() && self.last.elapsed() >= self.cost * REST
    }

    /// Whether something came that is to be saved before it is shown.
    pub(super) fn is_after(&self) -> bool {
        self.failed.is_none() && self.changed.is_some_and(|it| it.elapsed() < LONGEST)
    }

    /// Saves the texts of the answer so far. A failure is told at the end, where it counts.
    pub(super) fn save(&mut self, so_far: &Assembled) {
        let start = Instant::now();
        if let Some(choice) = so_far.choices.first()
            && let Some(mut message) = texts(&choice.message)
        {
            // What may be the beginning of the key is saved when it turned out to be none.
            record::mask_texts(&mut message, |it| self.endpoint.masking().piece(&it));
            self.failed = self.grow(so_far, choice, &message).err();
        }
        self.changed = None;
        (self.cost, self.last) = (start.elapsed(), Instant::now());
    }

    /// Writes the answer as it came out.
    pub(super) fn finish(
        mut self,
        reply: &Assembled,
        choice: &AssembledChoice,
    ) -> Result<Vec<Appended>, msg_file::Error> {
        self.grow(reply, choice, &choice.message)?;
        Ok(self.done)
    }

    fn grow(
        &mut self,
        reply: &Assembled,
        choice: &AssembledChoice,
        message: &Message,
    ) -> Result<(), msg_file::Error> {
        let attrs = record::attributes(reply, choice, &self.asking.model);
        let options = ToCells { agent: Some(self.asking.agent.clone()), attrs };
        let mut nonce = || Nonces::System.next();
        let mut done = self.log.grow_message(&mut self.growing, message, &options, &mut nonce)?;
        // What was noticed on the way is told once, at the end.
        if let (Some(first), Some(before)) = (done.first_mut(), self.done.first_mut()) {
            first.warnings.append(&mut before.warnings);
        }
        self.done = done;
        Ok(())
    }
}

/// What has been said so far, without calls: they are recorded when they are known.
fn texts(message: &Message) -> Option<Message> {
    let mut res = Message::new(message.role.clone());
    let is_text = |it: &&Part| matches!(it, Part::Text(_) | Part::Reasoning(_) | Part::Refusal(_));
    res.parts = message.parts.iter().filter(is_text).cloned().collect();
    (!res.parts.is_empty()).then_some(res)
}
