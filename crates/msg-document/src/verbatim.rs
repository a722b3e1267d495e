//! A list of messages that goes back as its source text: what was not edited is written as it was read,
//! member order, number spelling and unknown members included, wherever it stands now.
//!
//! ```text
//! [{"role":"human","text":"hi"}, {"role":"ai","text":"yo"}]     kept as two raw messages
//!  └ message 0, layout 0          └ message 1, layout 1         each message knows its source
//! ```
//!
//! For formats of other programs that are read for their messages and are no wire format. The cost of
//! writing is that of reading once more: a message whose source no longer reads as it is written anew.

use msg_core::json::{Reader, Writer};
use msg_core::{Error, Message, Origin, RawJson, Report};
use msg_wire::codec::Losses;

use crate::codec::{Around, Content, WriteOptions};
use crate::refusal::Refusal;

/// How one message of a format is read and written.
pub(crate) trait Form: Sync {
    /// Whose unknown members and layouts are its own.
    fn origin(&self) -> Origin;

    /// Reads a message, or says what was expected in its place.
    fn read(&self, source: &RawJson) -> Result<Message, &'static str>;

    /// Writes a message as one value, or as several where one cannot hold it.
    fn write(&self, message: &Message, losses: &mut Losses<'_>, out: &mut Writer<'_>);
}

/// Reads a document that is a list of messages.
pub(crate) fn read(json: &[u8], form: &'static dyn Form) -> Result<Content, Refusal> {
    let (mut messages, mut sources) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(json).map_err(|it| Error::from_json(it, None))?;
    reader.begin_array().map_err(|it| Error::from_json(it, None))?;
    let at = |it, index| Error::from_json(it, Some(index));
    while reader.next_element().map_err(|it| at(it, messages.len()))? {
        let index = messages.len();
        let offset = reader.next_offset();
        let source = reader.raw_json().map_err(|it| at(it, index))?;
        let shape = |expected| Error::Shape { message: Some(index), expected, offset };
        let mut message = form.read(&source).map_err(shape)?;
        set_place(&mut message, form.origin(), index);
        messages.push(message);
        sources.push(source);
    }
    reader.finish().map_err(|it| Error::from_json(it, None))?;
    Ok(Content::new(messages, Sources { form, sources }, Report::default()))
}

/// Writes messages that have no source.
pub(crate) fn write(messages: &[Message], form: &dyn Form, out: &mut Vec<u8>, report: &mut Report) {
    write_with(messages, form, out, report, |_| None);
}

/// What the messages were read from.
struct Sources {
    form: &'static dyn Form,
    sources: Vec<RawJson>,
}

impl Around for Sources {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        _: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        write_with(messages, self.form, out, report, |it| self.source_of(it));
    }
}

impl Sources {
    /// The source of a message, if it still says the same.
    fn source_of(&self, message: &Message) -> Option<&RawJson> {
        let place = message.extra.layout(&self.form.origin())?;
        let place = u64::from_le_bytes(place.try_into().ok()?);
        let source = self.sources.get(usize::try_from(place).ok()?)?;
        let same = self.form.read(source).is_ok_and(|it| it == *message);
        same.then_some(source)
    }
}

fn write_with<'a>(
    messages: &[Message],
    form: &dyn Form,
    out: &mut Vec<u8>,
    report: &mut Report,
    source_of: impl Fn(&Message) -> Option<&'a RawJson>,
) {
    let mut losses = Losses::new(report);
    Writer::new(out).array(messages, |out, message| {
        match source_of(message) {
            Some(source) => out.raw(source.text()),
            None => form.write(message, &mut losses, out),
        }
        losses.next_message();
    });
    losses.flush();
}

/// The place of the source is a layout: it takes no part in equality and goes where the message goes.
fn set_place(message: &mut Message, origin: Origin, index: usize) {
    message.extra.set_layout(origin, (index as u64).to_le_bytes());
}
