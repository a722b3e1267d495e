//! The sessions of agents, one format per dialect: read along the active path, with repairs in memory
//! as findings. `msg_session` reads and writes them.
//!
//! An unedited session is written as the same bytes.

use std::borrow::Cow;

use msg_compact::Plan;
use msg_core::{Code, Diagnostic, Message, Report};
use msg_session::{Blob, Dialect, Line, PartOrigin, Session, SessionOptions};

use crate::codec::{Around, Codec, Content, Edited, Likelihood, WriteOptions, read_only};
use crate::formats;
use crate::formats::otel::Otel;
use crate::formats::sharegpt::ShareGpt;
use crate::formats::store::Store;
use crate::json::doubles;
use crate::layout::MessageList;
use crate::outline::Outline;
use crate::refusal::{Refusal, foreign};

/// A dialect as a format.
pub(crate) struct SessionFormat {
    pub(crate) dialect: Dialect,
    pub(crate) about: &'static str,
    /// Whether a document is JSON lines that form one conversation.
    pub(crate) spans_lines: bool,
}

impl Codec for SessionFormat {
    fn name(&self) -> &'static str {
        self.dialect.name()
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        Likelihood::certain_if(outline.dialect() == Some(self.dialect))
    }

    fn matches_by_name(&self) -> bool {
        // Its events hold Gemini's contents.
        self.dialect == Dialect::Adk
    }

    fn read(&self, bytes: &[u8], name: &str) -> Result<Content, Refusal> {
        let dialect = Some(self.dialect);
        let (session, options) = match Line::read(bytes) {
            Some(line) => {
                let line = line.map_err(|it| refusal(&it))?;
                (line.session(dialect).map_err(|it| refusal(&it))?, line.options)
            }
            None => {
                let session = Session::named(self.dialect, vec![Blob::new(name, bytes)]);
                (session.map_err(|it| refusal(&it))?, SessionOptions::default())
            }
        };
        let view = session.read(&options).map_err(|it| refusal(&it))?;
        if view.messages.is_empty() && !bytes.trim_ascii().is_empty() {
            let text = format!("this session of {} has no messages", self.dialect);
            return Err(Diagnostic::error(Code::new("session::no-messages"), text).into());
        }
        let mut report = Report::default();
        report.extend(view.findings.iter().map(Diagnostic::from));
        let text = std::str::from_utf8(bytes).ok().filter(|_| self.is_json());
        report.extend(text.map(|it| doubles(it, 0)).unwrap_or_default());
        let stored = Stored { session, options, now: Now::AsRead };
        Ok(Content::new(view.messages, stored, report))
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        write(self.dialect, messages, &options.session, out)
    }

    fn spans_lines(&self) -> bool {
        self.spans_lines
    }

    fn is_json(&self) -> bool {
        self.dialect != Dialect::Aider
    }

    fn judges_itself(&self) -> bool {
        true
    }

    fn has_records(&self) -> bool {
        !self.dialect.is_store()
    }

    fn has_writer(&self) -> bool {
        msg_session::has_writer(self.dialect)
    }

    fn unwritten(&self) -> Refusal {
        match msg_session::expect_writer(self.dialect) {
            Err(error @ msg_session::Error::NotInBuild) => Refusal::bad_option(error.to_string()),
            _ => read_only(self.name()),
        }
    }
}

pub(super) fn write(
    dialect: Dialect,
    messages: &[Message],
    options: &msg_session::WriteOptions,
    out: &mut Vec<u8>,
) -> Report {
    match msg_session::write(dialect, messages, options) {
        Ok((bytes, found)) => {
            match out.is_empty() {
                true => *out = bytes,
                false => out.extend_from_slice(&bytes),
            }
            found
        }
        Err(error) => Report::from_iter([error.diagnostic()]),
    }
}

/// A session whose messages have been taken out.
struct Stored {
    session: Session,
    /// The options that it was read with.
    options: SessionOptions,
    now: Now,
}

/// What to write for a session.
enum Now {
    AsRead,
    /// The session with only the edited records changed.
    Edited(Vec<u8>),
    /// A new session with only its messages.
    Anew,
}

impl Stored {
    /// The options for a new session after an edit of its messages: reasoning stays signed and injected context is
    /// kept. Without a given time, records get that of the last record.
    fn written_anew(&self, options: &msg_session::WriteOptions) -> msg_session::WriteOptions {
        let options = options
            .clone()
            .with_signatures(msg_session::Signatures::Keep)
            .with_context(msg_session::ContextPolicy::Keep);
        if options.now != msg_session::WriteOptions::default().now {
            return options;
        }
        let is_rfc3339 = |it: &String| it.as_bytes().get(10) == Some(&b'T');
        match self.session.summary().time.filter(is_rfc3339) {
            Some(time) => options.with_now(time),
            None => options,
        }
    }
}

impl Stored {
    /// The file without the records of removed messages, if each message has its own and the result has the remaining
    /// content.
    fn cut(&self, kept: &[Message], stays: &[bool]) -> Option<Vec<u8>> {
        let [blob] = self.session.blobs() else { return None };
        let source = std::str::from_utf8(&blob.bytes).ok()?;
        let list = MessageList::of(source, self.session.list_of_messages()?)?;
        let record = |it: &Vec<PartOrigin>| {
            let first = it.first()?.record;
            it.iter().all(|it| it.record == first).then_some(first as usize)
        };
        let view = self.session.read(&self.options).ok()?;
        let records: Vec<_> = view.origins.iter().map(record).collect();
        let cut = vec![Blob::new(blob.name.clone(), list.cut(&records, stays)?)];
        let session = Session::new(self.session.dialect(), cut);
        let is = session.read(&self.options).ok()?.messages;
        (is == kept).then(|| session.into_blobs().pop()).flatten().map(|it| it.bytes)
    }
}

impl Around for Stored {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        let dialect = self.session.dialect();
        let mut report = Report::new();
        match &self.now {
            Now::Edited(bytes) => {
                out.extend_from_slice(bytes);
                return report;
            }
            Now::Anew if msg_session::has_writer(dialect) => {
                return write(dialect, messages, &self.written_anew(&options.session), out);
            }
            Now::Anew => report.push(msg_session::Error::NoWriter { dialect }.diagnostic()),
            Now::AsRead => {}
        }
        for blob in self.session.blobs() {
            out.extend_from_slice(&blob.bytes);
        }
        report
    }

    fn cut_to(&mut self, kept: &[Message], stays: &[bool]) -> bool {
        let bytes = self.cut(kept, stays);
        let is_cut = bytes.is_some();
        self.now = bytes.map_or(Now::AsRead, Now::Edited);
        is_cut
    }

    fn edited_by(&mut self, messages: &[Message], _: Option<&Plan>) -> Edited {
        let options = self.written_anew(&Default::default()).in_style_of(&self.session);
        let store = Store::of(&self.session, &self.options, options);
        match store.and_then(|it| it.edited(messages)) {
            Some(bytes) => {
                self.now = Now::Edited(bytes);
                Edited::Kept
            }
            None => {
                self.now = Now::Anew;
                Edited::Anew
            }
        }
    }
}

/// The document inside a line of `msg … --jsonl` with its name and dialect; otherwise the line itself.
pub(crate) fn document_in(line: &[u8]) -> Cow<'_, [u8]> {
    let Some(Ok(held)) = Line::read(line) else { return Cow::Borrowed(line) };
    match held.session(None) {
        Ok(session) => match session.into_blobs().pop() {
            Some(blob) => Cow::Owned(blob.bytes),
            None => Cow::Borrowed(line),
        },
        Err(_) => Cow::Borrowed(line),
    }
}

fn refusal(error: &msg_session::Error) -> Refusal {
    match error {
        msg_session::Error::WrongDialect { .. } | msg_session::Error::NotAMessage { .. } => {
            foreign(error.to_string()).into()
        }
        _ => error.diagnostic().into(),
    }
}

// A format whose name covers a document and a session: a single conversation, and a file of many or of the spans around
// them.

/// Reads input as the document if it looks like one, otherwise as the session.
pub(super) struct Both {
    document: &'static dyn Codec,
    session: &'static SessionFormat,
    /// Whether it is loaded by an agent or a trainer, and must therefore be valid when written.
    judges_itself: bool,
}

pub(super) static SHAREGPT: Both =
    Both { document: &ShareGpt, session: &formats::SHAREGPT, judges_itself: true };
pub(super) static OTEL: Both =
    Both { document: &Otel, session: &formats::OTEL, judges_itself: false };

impl Both {
    /// Whether the input is a document. Several lines are a session, whatever the first one looks like.
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

    fn has_records(&self) -> bool {
        !self.judges_itself
    }
}
