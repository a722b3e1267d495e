//! Native JSON to messages (MS-7): the list and the members of a message. Parts are in `part`.

use msg_json::Reader;

use super::part::read_content;
use crate::{
    Error, Extra, Message, Origin, Part, Provenance, RawJson, Report, Role,
    reading::{self, Source},
};

/// Reads a list of messages in native form (MS-7). Linear; nesting beyond 128 is refused.
///
/// The report names `message::role-spelling`, `message::duplicate-member` and `message::lone-surrogate`.
///
/// # Errors
/// [`Error`], with the index of the message and the byte offset.
///
/// ```
/// use msg_core::{Message, native};
/// let json = br#"[{"role":"human","parts":[{"type":"text","text":"Hi"}]}]"#;
/// let (messages, report) = native::read(json)?;
/// assert_eq!(messages, [Message::user("Hi")]);
/// assert_eq!(report.iter().next().unwrap().code, "message::role-spelling");
/// # Ok::<(), msg_core::Error>(())
/// ```
pub fn read(json: &[u8]) -> Result<(Vec<Message>, Report), Error> {
    reading::list(json, read_message)
}

/// Reads one part in native form, as it is in `parts`.
///
/// # Errors
/// As [`read`], with message 0.
///
/// ```
/// use msg_core::{Part, native};
/// assert_eq!(native::read_part(br#"{"type":"text","text":"Hi"}"#)?, Part::text("Hi"));
/// # Ok::<(), msg_core::Error>(())
/// ```
pub fn read_part(json: &[u8]) -> Result<Part, Error> {
    let fail = |it| Error::from_json(it, Some(0));
    let mut report = Report::with_cap(0);
    let mut source = Source::new(Reader::new(json).map_err(fail)?, &mut report);
    let part = super::part::read(&mut source)?;
    source.reader.finish().map_err(fail)?;
    Ok(part)
}

/// Reads one message. The serde impls use it too.
pub(super) fn read_message(source: &mut Source<'_, '_>) -> Result<Message, Error> {
    source.message_of(read_members)
}

fn read_members(source: &mut Source<'_, '_>) -> Result<Message, Error> {
    let start = source.begin_object()?;
    let mut res = Draft::default();
    while let Some(key) = source.next_key()? {
        res.member(&key, source)?;
    }
    res.finish(source, start)
}

#[derive(Default)]
struct Draft {
    role: Option<Role>,
    name: Option<String>,
    parts: Option<Vec<Part>>,
    extra: Extra,
}

impl Draft {
    fn member(&mut self, key: &str, source: &mut Source<'_, '_>) -> Result<(), Error> {
        match key {
            "role" => {
                source.note_duplicate(&self.role, key);
                self.role = Some(source.role()?);
            }
            "name" => source.text_into(&mut self.name, key)?,
            "parts" => {
                source.note_duplicate(&self.parts, key);
                self.parts = Some(read_content(source, true)?);
            }
            "extra" => read_extra(source, &mut self.extra)?,
            _ => source.unknown(key, Origin::Native, &mut self.extra)?,
        }
        Ok(())
    }

    fn finish(self, source: &Source<'_, '_>, start: usize) -> Result<Message, Error> {
        let message = source.message;
        let role = self.role.ok_or(Error::Role { message, offset: start })?;
        let parts = self.parts.ok_or(Error::missing(message, start, "`parts`"))?;
        let name = self.name.filter(|it| !it.is_empty());
        let mut message = Message { role, parts, name, extra: self.extra };
        if let Some(maker) = Provenance::kept_in(&message.extra) {
            message.set_provenance(maker);
        }
        Ok(message)
    }
}

/// Reads `{ORIGIN:{NAME:VALUE}}`.
pub(super) fn read_extra(source: &mut Source<'_, '_>, extra: &mut Extra) -> Result<(), Error> {
    source.begin_object()?;
    while let Some(origin) = source.next_key()? {
        let origin = Origin::from(&*origin);
        source.begin_object()?;
        while let Some(name) = source.next_key()? {
            let value: RawJson = source.raw()?;
            extra.insert(origin.clone(), name, value);
        }
    }
    Ok(())
}
