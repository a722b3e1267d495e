//! Message files (`.msg.md`) among the formats: what a model is to see of one, and a file of messages.
//!
//! Editing a file in place is `msg-file`'s; here a file is read as a conversation like any other.

use std::path::Path;

use msg_core::{Diagnostic, IdSource, Message, Report};
use msg_file::{AppendOptions, Document, HistoryOptions, Limits, Mode, Nonce};

use crate::codec::{Around, Codec, Content, Likelihood, WriteOptions};
use crate::foreign::foreign;
use crate::outline::Outline;
use crate::refusal::Refusal;

pub(crate) struct Msgmd;

impl Codec for Msgmd {
    fn name(&self) -> &'static str {
        "msgmd"
    }

    fn about(&self) -> &'static str {
        "A message file (`.msg.md`)"
    }

    /// `log.msg.md` and any other `.md`.
    fn claims(&self, file: &str) -> bool {
        file.ends_with(".md") || file.ends_with(".markdown")
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        match outline {
            Outline::Markdown(_) => Likelihood::Certain,
            Outline::Text(_) | Outline::Blank => Likelihood::Possible,
            // `[a](b) and more` begins like JSON.
            Outline::Json(it) if !it.is_whole() => Likelihood::Possible,
            Outline::Json(_) => Likelihood::No,
        }
    }

    /// The messages, calls at the end left open, and what is odd about the file.
    fn read(&self, bytes: &[u8], name: &str) -> Result<Content, Refusal> {
        // The limit has been applied where the bytes were read.
        let document = Document::read(bytes, Mode::of(Path::new(name)), &Limits::default())?;
        if !document.is_active() {
            return Err(switched_off().into());
        }
        let messages = document.messages(&HistoryOptions::default().with_open_end())?;
        let notes = document.diagnostics().to_vec();
        Ok(Content {
            notes,
            shapes: Vec::new(),
            messages,
            around: Box::new(Source(bytes.to_vec())),
        })
    }

    /// A new file of these messages. The nonces of its ids are drawn like fresh call ids: the same
    /// messages give the same file.
    fn write(&self, messages: &mut Vec<Message>, _: &WriteOptions, out: &mut Vec<u8>) -> Report {
        let mut ids = crate::document::Document::ids();
        let mut nonce = || Nonce::from_random(ids.next_u64());
        match msg_file::write(std::mem::take(messages), &AppendOptions::default(), &mut nonce) {
            // A long file is not copied where nothing stands before it.
            Ok(bytes) if out.is_empty() => *out = bytes,
            Ok(bytes) => out.extend_from_slice(&bytes),
            Err(refused) => return Report::from_iter([refused.diagnostic()]),
        }
        Report::new()
    }

    fn is_json(&self) -> bool {
        false
    }
}

/// A text that is no conversation is none without messages (MF-3).
fn switched_off() -> Diagnostic {
    foreign("this looks like a Markdown file that is not switched on, of which nothing is a conversation")
        .with_fix("`message_section: true` in its frontmatter switches it on, and so does the name `.msg.md`")
}

/// The bytes of a file; none once its messages have been edited.
struct Source(Vec<u8>);

impl Around for Source {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        if self.0.is_empty() {
            return Msgmd.write(messages, options, out);
        }
        out.extend_from_slice(&self.0);
        Report::new()
    }

    fn edited(&mut self) {
        self.0.clear();
    }

    fn text(&self) -> Option<&[u8]> {
        Some(&self.0)
    }
}
