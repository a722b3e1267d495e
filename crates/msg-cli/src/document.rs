//! A document in any format: read to messages, and written back in the same format or another.
//!
//! Each format is a library's; this is the table of them. What stands around the messages (the rest
//! of a request body, a snapshot's own members) is kept for the way back.

mod file;
mod wrapper;

use std::ops::Range;

use msg_compact::Plan;
use msg_core::{
    AgentForm, Diagnostic, Error, LowerOptions, Message, RawJson, Report, Turn, agent, lift, lower,
    native, plain, turns,
};
use msg_openai::{EncodeOptions, ReadOptions, chat, responses};

use self::wrapper::Wrapper;
use crate::cli::Context;
use crate::exit::Failure;
use crate::format::Format;
use crate::input::Input;

/// A document that has been read.
pub(crate) struct Document {
    /// What was odd about it, as the reader reports it.
    pub(crate) notes: Vec<Diagnostic>,
    format: Format,
    messages: Vec<Message>,
    around: Around,
}

/// What stands around the messages.
enum Around {
    /// An object with members of its own, of a format that is a list of messages otherwise.
    Wrapper(Wrapper),
    /// A document of chat messages, whose messages have been taken out.
    Chat(chat::Document),
    /// The same of Responses items.
    Responses(responses::Document),
    /// The turns that the messages were made from; none once the messages have been edited.
    Turns { turns: Vec<Turn>, options: Option<RawJson> },
    /// The bytes of a message file; none once its messages have been edited.
    File(Vec<u8>),
}

/// What is known about writing, beside the format.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteOptions {
    /// For `openai` and `responses`.
    pub(crate) encode: EncodeOptions,
    /// For `agent`.
    pub(crate) agent_form: AgentForm,
    /// For `plain`: role and preview only, of so many characters.
    pub(crate) preview: Option<usize>,
}

impl Document {
    /// Reads all of `input`, says with `-v` what it is, and gives the place where it is wrong.
    pub(crate) fn open(
        cx: &Context,
        input: &mut Input,
        named: Option<Format>,
    ) -> Result<Self, Failure> {
        let bytes = input.read_all()?;
        Document::of(cx, bytes, &input.name, named)
    }

    /// As [`Document::open`], of bytes that have been read. They are dropped here: from now on only
    /// the messages take memory.
    pub(crate) fn of(
        cx: &Context,
        bytes: Vec<u8>,
        name: &str,
        named: Option<Format>,
    ) -> Result<Self, Failure> {
        let format = cx.format(named, &bytes, name);
        let document = Document::read_as(format, &bytes, name);
        document.map_err(|it| Failure::document(*it, name, bytes)).map(Document::lowered)
    }

    /// Reads a line of a `--jsonl` run.
    pub(crate) fn read(named: Option<Format>, json: &[u8]) -> Result<Self, Box<Diagnostic>> {
        let format = named.unwrap_or_else(|| Format::recognise(json, ""));
        Document::read_line(format, json).map(Document::lowered)
    }

    /// As [`Document::read`], of a line that is in `format`; turns stay turns.
    pub(crate) fn read_line(format: Format, json: &[u8]) -> Result<Self, Box<Diagnostic>> {
        // A message file has many lines: one that looks like a heading is just no JSON.
        let format = if format == Format::Msgmd { Format::Openai } else { format };
        Document::read_as(format, json, "")
    }

    /// Reads a document in `format` that is called `name`. Turns stay turns: they have no messages
    /// yet.
    pub(crate) fn read_as(
        format: Format,
        json: &[u8],
        name: &str,
    ) -> Result<Self, Box<Diagnostic>> {
        if format == Format::Msgmd {
            let (messages, notes) = file::read(json, name)?;
            return Ok(Document { notes, format, messages, around: Around::File(json.to_vec()) });
        }
        // Editors of one platform put this in front of every text; no reader of JSON takes it.
        let json = json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json);
        let mut report = Report::default();
        let (messages, around) = match format {
            Format::Native => list(json, Wrapper::none(json), native::read_reporting, &mut report)?,
            Format::Plain => list(json, Wrapper::none(json), plain::read, &mut report)?,
            Format::Agent => list(json, Wrapper::around(json), agent::read, &mut report)?,
            Format::Turns => {
                let read = turns::read_document(json, &mut report);
                let (turns, options) = read.map_err(|it| refused(&it))?;
                (Vec::new(), Around::Turns { turns, options })
            }
            Format::Responses => {
                let document = responses::read_with(json, &no_limit(), &mut report);
                let mut document = document.map_err(|it| refused_by_openai(&it))?;
                let messages = std::mem::take(items_of(&mut document));
                (messages, Around::Responses(document))
            }
            _ => {
                let document = chat::read(json, &no_limit(), &mut report);
                let mut document = document.map_err(|it| refused_by_openai(&it))?;
                let messages = take_messages(&mut document);
                (messages, Around::Chat(document))
            }
        };
        Ok(Document { notes: report.into_vec(), format, messages, around })
    }

    /// Makes messages of turns, by the rules that are safe to send.
    fn lowered(mut self) -> Self {
        let notes = self.lower(&LowerOptions::strict());
        self.notes.extend(notes);
        self
    }

    /// Makes messages of turns, and returns what was left out or changed.
    pub(crate) fn lower(&mut self, options: &LowerOptions) -> Vec<Diagnostic> {
        let Around::Turns { turns, .. } = &self.around else { return Vec::new() };
        let lowered = lower(turns, options);
        self.messages = lowered.messages;
        lowered.report
    }

    /// The options that a document of turns brings along.
    pub(crate) fn own_options(&self) -> Option<&RawJson> {
        if let Around::Turns { options, .. } = &self.around { options.as_ref() } else { None }
    }

    /// The text that lines and columns of its diagnostics count in, if it is a text for people.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        if let Around::File(bytes) = &self.around { Some(bytes) } else { None }
    }

    /// The format that it was read in.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// The messages.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Gives the messages away and forgets what stood around them.
    pub(crate) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Gives the messages away for a while.
    pub(crate) fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.messages)
    }

    /// Puts messages back in their place, `edited` or as they were.
    pub(crate) fn put_messages(&mut self, messages: Vec<Message>, edited: bool) {
        self.messages = messages;
        match &mut self.around {
            // Each message of a response belongs to its choice; other messages are a list.
            Around::Chat(document @ chat::Document::Response(_)) if edited => {
                *document = chat::Document::Messages(Vec::new());
            }
            Around::Turns { turns, .. } if edited => turns.clear(),
            Around::File(bytes) if edited => bytes.clear(),
            _ => {}
        }
    }

    /// Puts back what a plan made of the messages. Turns are edited as the plan says, so that all that
    /// it does not name stays as it came (CP-63); where it cannot be said of turns, and without a
    /// plan, they are made anew.
    pub(crate) fn put_planned(&mut self, messages: Vec<Message>, plan: Option<&Plan>) {
        if let Around::Turns { turns, .. } = &mut self.around {
            let said = |it: &[Turn]| lower(it, &LowerOptions::strict()).messages;
            if said(turns) == messages {
                return self.put_messages(messages, false);
            }
            // Turns say less than messages, so that two ways of making them are compared.
            let anew = said(&lift(messages.clone(), &mut Report::default()));
            let planned = plan.and_then(|it| it.apply_turns(turns.clone(), None).ok());
            if let Some(planned) = planned.filter(|it| said(it) == anew) {
                *turns = planned;
                return self.put_messages(messages, false);
            }
        }
        self.put_messages(messages, true);
    }

    /// The document in its own format, with everything that stood around the messages.
    pub(crate) fn write(&mut self, options: &WriteOptions, out: &mut Vec<u8>, report: &mut Report) {
        match &mut self.around {
            Around::Wrapper(wrapper) => wrapper.write(out, |out| {
                write_as(self.format, &mut self.messages, options, out, report);
            }),
            Around::Chat(document) => {
                document.set_messages(std::mem::take(&mut self.messages));
                document.write(&options.encode, out, report);
                self.messages = take_messages(document);
            }
            Around::Responses(document) => {
                document.set_messages(std::mem::take(&mut self.messages));
                document.write(&options.encode, out, report);
                self.messages = std::mem::take(items_of(document));
            }
            Around::Turns { turns, .. } if turns.is_empty() => {
                write_as(Format::Turns, &mut self.messages, options, out, report);
            }
            Around::Turns { turns, .. } => turns::write(turns, out),
            Around::File(bytes) if bytes.is_empty() => {
                write_as(Format::Msgmd, &mut self.messages, options, out, report);
            }
            Around::File(bytes) => out.extend_from_slice(bytes),
        }
    }

    /// The document in `format`; in another than its own, only the messages go out.
    pub(crate) fn convert(
        &mut self,
        format: Format,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        if format == self.format {
            self.write(options, out, report);
        } else {
            write_as(format, &mut self.messages, options, out, report);
        }
    }
}

/// Writes messages in a format. Turns and message files are made of them, and use them up.
fn write_as(
    format: Format,
    messages: &mut Vec<Message>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
    report: &mut Report,
) {
    match (format, options.preview) {
        (Format::Plain, Some(max_chars)) => plain::write_previews(messages, max_chars, out),
        (Format::Plain, None) => {
            if !options.encode.keeps_layout() {
                messages.iter_mut().for_each(Message::clear_layout);
            }
            plain::write(messages, out, report);
        }
        (Format::Native, _) => native::write(messages, out),
        (Format::Agent, _) => agent::write_form(messages, options.agent_form, out, report),
        (Format::Responses, _) => responses::write(messages, &options.encode, out, report),
        (Format::Msgmd, _) => file::write(std::mem::take(messages), out, report),
        (Format::Turns, _) => turns::write(&lift(std::mem::take(messages), report), out),
        _ => chat::write(messages, &options.encode, out, report),
    }
}

/// The limit has been applied where the bytes were read.
fn no_limit() -> ReadOptions {
    ReadOptions::new().max_bytes(usize::MAX)
}

fn items_of(document: &mut responses::Document) -> &mut Vec<Message> {
    match document {
        responses::Document::Items(it) => it,
        responses::Document::Request(it) => &mut it.messages,
        responses::Document::Response(it) => &mut it.messages,
    }
}

type ReadList = fn(&[u8], &mut Report) -> Result<Vec<Message>, Error>;

/// Reads a document that is a list of messages, or an object around one.
fn list(
    json: &[u8],
    (wrapper, list): (Wrapper, Range<usize>),
    read: ReadList,
    report: &mut Report,
) -> Result<(Vec<Message>, Around), Box<Diagnostic>> {
    let start = list.start;
    let messages = read(&json[list], report).map_err(|it| moved(refused(&it), start))?;
    Ok((messages, Around::Wrapper(wrapper)))
}

/// The messages of a response are copied: they stay with their choices.
fn take_messages(document: &mut chat::Document) -> Vec<Message> {
    match document {
        chat::Document::Messages(it) => std::mem::take(it),
        chat::Document::Request(it) => std::mem::take(&mut it.messages),
        chat::Document::Response(it) => it.messages().cloned().collect(),
    }
}

fn refused(error: &Error) -> Box<Diagnostic> {
    Box::new(error.diagnostic())
}

fn refused_by_openai(error: &msg_openai::Error) -> Box<Diagnostic> {
    match error {
        msg_openai::Error::Read(error) => refused(error),
        other => Box::new(Diagnostic::error("cli::bad-option".into(), other.to_string())),
    }
}

/// The list was read by itself; its place is that of the document.
fn moved(mut error: Box<Diagnostic>, by: usize) -> Box<Diagnostic> {
    error.at.start = error.at.start.map(|it| it + by);
    error.at.end = error.at.end.map(|it| it + by);
    error
}
