//! A format that is a document and a session under one name: one conversation, and a file of many or of
//! the spans around them.

use msg_core::{Message, Report};

use super::otel::Otel;
use super::session::SessionFormat;
use super::sessions;
use super::sharegpt::ShareGpt;
use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::outline::Outline;
use crate::refusal::Refusal;

/// The document where it looks so, else the session.
pub(super) struct Both {
    document: &'static dyn Codec,
    session: &'static SessionFormat,
    /// Whether it is what an agent or a trainer loads, so that it is written sound.
    judges_itself: bool,
}

pub(super) static SHAREGPT: Both =
    Both { document: &ShareGpt, session: &sessions::SHAREGPT, judges_itself: true };
pub(super) static OTEL: Both =
    Both { document: &Otel, session: &sessions::OTEL, judges_itself: false };

impl Both {
    /// Several lines are a session, whatever the first looks like.
    fn is_document(&self, outline: &Outline<'_>) -> bool {
        !outline.has_lines() && self.document.likelihood(outline) > Likelihood::No
    }
}

impl Codec for Both {
    fn name(&self) -> &'static str {
        self.document.name()
    }

    fn about(&self) -> &'static str {
        self.document.about()
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        self.document.likelihood(outline).max(self.session.likelihood(outline))
    }

    fn read(&self, bytes: &[u8], name: &str) -> Result<Content, Refusal> {
        match self.is_document(&Outline::of(bytes)) {
            true => self.document.read(bytes, name),
            false => self.session.read(bytes, name),
        }
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        self.document.write(messages, options, out)
    }

    fn spans_lines(&self) -> bool {
        self.session.spans_lines()
    }

    fn judges_itself(&self) -> bool {
        self.judges_itself
    }
}
