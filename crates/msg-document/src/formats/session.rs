//! The sessions of agents, each dialect a format: read along the active path, with what was mended in
//! memory as notes. Reading and writing are `msg_session`'s.
//!
//! An unedited session goes back as the bytes that it was.

use msg_core::{Code, Diagnostic, Message, Report};
use msg_session::{Blob, Dialect, Line, RepairOptions, Session};

use crate::codec::{Around, Codec, Content, Likelihood, WriteOptions};
use crate::foreign::foreign;
use crate::outline::Outline;
use crate::refusal::Refusal;

/// A dialect as a format.
pub(crate) struct SessionFormat {
    pub(crate) dialect: Dialect,
    pub(crate) about: &'static str,
    /// Whether only this dialect looks so.
    pub(crate) mark: fn(&Outline<'_>) -> Likelihood,
    /// Whether a document is JSON lines, all of one conversation.
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
        (self.mark)(outline)
    }

    fn read(&self, bytes: &[u8], name: &str) -> Result<Content, Refusal> {
        let dialect = Some(self.dialect);
        let (session, options) = match Line::read(bytes) {
            Some(line) => {
                let line = line.map_err(|it| refusal(&it))?;
                (line.session(dialect).map_err(|it| refusal(&it))?, line.options)
            }
            None => {
                let blobs = vec![Blob::new(name, bytes)];
                let session = Session::named(self.dialect, blobs).map_err(|it| refusal(&it))?;
                (session, RepairOptions::default())
            }
        };
        let view = session.read(&options).map_err(|it| refusal(&it))?;
        let mut report = Report::default();
        report.extend(view.findings.iter().map(Diagnostic::from));
        let stored = Stored { session, is_edited: false };
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

    fn has_writer(&self) -> bool {
        msg_session::has_writer(self.dialect)
    }
}

fn write(
    dialect: Dialect,
    messages: &[Message],
    options: &msg_session::WriteOptions,
    out: &mut Vec<u8>,
) -> Report {
    match msg_session::write(dialect, messages, options) {
        Ok((bytes, found)) => {
            out.extend_from_slice(&bytes);
            found
        }
        Err(error) => Report::from_iter([diagnostic(&error)]),
    }
}

/// A session whose messages have been taken out.
struct Stored {
    session: Session,
    is_edited: bool,
}

impl Stored {
    /// How it is written where its messages were edited: thoughts stay signed, and where nobody says the time, records
    /// that need one have that of its last record.
    fn written_anew(&self, options: &msg_session::WriteOptions) -> msg_session::WriteOptions {
        let options = options.clone().with_signatures(msg_session::Signatures::Keep);
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

impl Around for Stored {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        let dialect = self.session.dialect();
        if self.is_edited && msg_session::has_writer(dialect) {
            return write(dialect, messages, &self.written_anew(&options.session), out);
        }
        let mut report = Report::new();
        if self.is_edited {
            report.push(diagnostic(&msg_session::Error::NoWriter { dialect }));
        }
        for blob in self.session.blobs() {
            out.extend_from_slice(&blob.bytes);
        }
        report
    }

    fn edited(&mut self) {
        self.is_edited = true;
    }
}

fn refusal(error: &msg_session::Error) -> Refusal {
    match error {
        msg_session::Error::WrongDialect { .. } => foreign(error.to_string()).into(),
        _ => diagnostic(error).into(),
    }
}

fn diagnostic(error: &msg_session::Error) -> Diagnostic {
    Diagnostic::error(Code::new(error.code()), error.to_string())
}
