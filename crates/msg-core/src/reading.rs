//! What the readers of all forms share: a JSON reader that knows which message and part it is in,
//! and turns what it finds into errors and diagnostics (MS-8, MS-9).
//!
//! It knows no form; `native` is built on it here, the forms of applications in `msg-forms`. The wire formats
//! have a reader of their own, which remembers layouts.
//!
//! ```
//! use msg_core::{Message, reading};
//!
//! // A form of one's own: each message is a text of its user.
//! let (messages, _) = reading::list(br#"["Hi", "There?"]"#, |it| Ok(Message::user(it.string()?)))?;
//! assert_eq!(messages, [Message::user("Hi"), Message::user("There?")]);
//! # Ok::<(), msg_core::Error>(())
//! ```

use std::borrow::Cow;

use msg_json::{JsonError, JsonStr, Kind, Reader, unescape};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{Diagnostic, Error, Extra, Message, Origin, RawJson, Report, Role};

/// A reader with a place in the document and a report. All that it reads gives an [`Error`] with the message
/// and the byte where something else was found.
#[derive(Debug)]
pub struct Source<'a, 'r> {
    /// The JSON reader.
    pub reader: Reader<'a>,
    /// What was odd so far.
    pub report: &'r mut Report,
    /// Index of the message that is being read.
    pub message: usize,
    /// Index of its part that is being read.
    pub part: Option<usize>,
}

/// Reads a document that is a list, an element a message. Linear.
///
/// # Errors
/// The document is not a list, or what `read` says of an element.
pub fn list(
    json: &[u8],
    read: impl Fn(&mut Source<'_, '_>) -> Result<Message, Error>,
) -> Result<(Vec<Message>, Report), Error> {
    let fail = |it| Error::from_json(it, None);
    let reader = Reader::new(json).map_err(fail)?;
    let mut report = Report::default();
    let mut source = Source::new(reader, &mut report);
    let mut res = Vec::new();
    source.reader.begin_array().map_err(fail)?;
    loop {
        let more = source.reader.next_element();
        if !more.map_err(|it| source.fail(it))? {
            break;
        }
        res.push(read(&mut source)?);
        source.message += 1;
        source.part = None;
    }
    source.reader.finish().map_err(fail)?;
    Ok((res, report))
}

/// Reads a value for an impl of serde, which must be of `serde_json`: forms carry raw JSON, which other
/// data formats cannot hold.
///
/// # Errors
/// What `read` says of the value.
pub fn deserialize<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: impl FnOnce(&mut Source<'_, '_>) -> Result<T, Error>,
) -> Result<T, D::Error> {
    let raw = RawJson::deserialize(deserializer)?;
    let mut report = Report::with_cap(0);
    read(&mut Source::new(Reader::from_text(raw.text()), &mut report)).map_err(D::Error::custom)
}

impl<'a, 'r> Source<'a, 'r> {
    /// A reader of message 0.
    pub fn new(reader: Reader<'a>, report: &'r mut Report) -> Self {
        Self { reader, report, message: 0, part: None }
    }

    /// An error of the JSON reader, in this message.
    pub fn fail(&self, error: JsonError) -> Error {
        Error::from_json(error, Some(self.message))
    }

    /// Steps into an object and returns where it begins.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn begin_object(&mut self) -> Result<usize, Error> {
        let start = self.reader.next_offset();
        self.reader.begin_object().map_err(|it| self.fail(it))?;
        Ok(start)
    }

    /// Steps into an array.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn begin_array(&mut self) -> Result<(), Error> {
        self.reader.begin_array().map_err(|it| self.fail(it))
    }

    /// Whether another element follows.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn next_element(&mut self) -> Result<bool, Error> {
        self.reader.next_element().map_err(|it| self.fail(it))
    }

    /// The name of the next member: half a surrogate pair is reported, as in a text.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn next_key(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        let start = self.reader.offset();
        let key = self.key_again()?;
        Ok(key.map(|it| self.text_of(it, start)))
    }

    /// As [`Source::next_key`], of an object that is read again: nothing is reported.
    fn key_again(&mut self) -> Result<Option<JsonStr<'a>>, Error> {
        self.reader.next_key().map_err(|it| self.fail(it))
    }

    /// The kind of the next value.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn peek(&mut self) -> Result<Kind, Error> {
        self.reader.peek().map_err(|it| self.fail(it))
    }

    /// The source text of any value.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn raw_text(&mut self) -> Result<&'a str, Error> {
        self.reader.raw().map_err(|it| self.fail(it))
    }

    /// Any value, as it is written.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn raw(&mut self) -> Result<RawJson, Error> {
        self.reader.raw_json().map_err(|it| self.fail(it))
    }

    /// A string of a known member: half a surrogate pair is reported (MS-8).
    ///
    /// # Errors
    /// Something else was found here.
    pub fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        let start = self.reader.next_offset();
        let it = self.reader.string().map_err(|it| self.fail(it))?;
        Ok(self.text_of(it, start))
    }

    /// The text of a string that was read from `start` on: half a surrogate pair is reported (MS-8).
    pub fn text_of<'t>(&mut self, it: JsonStr<'t>, start: usize) -> Cow<'t, str> {
        if it.lone_surrogate {
            let span = start..self.reader.offset();
            self.warn("message::lone-surrogate", "lone surrogate escape read as U+FFFD", span);
        }
        it.text
    }

    /// Takes a null, if one is next.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn is_null(&mut self) -> Result<bool, Error> {
        let res = self.peek()? == Kind::Null;
        if res {
            self.raw_text()?;
        }
        Ok(res)
    }

    /// A string or null.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn optional_string(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        if self.is_null()? { Ok(None) } else { self.string().map(Some) }
    }

    /// Reads a string member, or null as an absent one; the last of duplicates wins (MS-8).
    ///
    /// # Errors
    /// Something else was found here.
    pub fn text_into(&mut self, slot: &mut Option<String>, key: &str) -> Result<(), Error> {
        self.note_duplicate(slot, key);
        *slot = self.optional_string()?.map(Cow::into_owned);
        Ok(())
    }

    /// Keeps a member that the form does not know (MS-6).
    ///
    /// # Errors
    /// Something else was found here.
    pub fn unknown(&mut self, key: &str, origin: Origin, extra: &mut Extra) -> Result<(), Error> {
        let value = self.raw()?;
        extra.insert(origin, key, value);
        Ok(())
    }

    /// Reads a message; what is wrong with its role goes before what is wrong with its other members.
    ///
    /// # Errors
    /// The role is missing or no string, or what `read` says of the message.
    pub fn message_of<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let start = self.reader.clone();
        read(self).map_err(|it| match it {
            Error::Shape { .. } => self.role_error(start).unwrap_or(it),
            it => it,
        })
    }

    /// The error of a message whose role is missing or no string, if it is so.
    fn role_error(&mut self, start: Reader<'a>) -> Option<Error> {
        self.reader = start;
        let offset = self.begin_object().ok()?;
        let mut error = Some(offset);
        while let Some(key) = self.key_again().ok()? {
            if key.text == "role" {
                let at = self.reader.next_offset();
                error = (self.peek().ok()? != Kind::String).then_some(at);
            }
            self.raw_text().ok()?;
        }
        error.map(|offset| Error::Role { message: self.message, offset })
    }

    /// The role of a message: any text, other spellings of known roles reported (MS-2).
    ///
    /// # Errors
    /// Something else was found here.
    pub fn role(&mut self) -> Result<Role, Error> {
        let kind = self.peek()?;
        let offset = self.reader.next_offset();
        if kind != Kind::String {
            return Err(Error::Role { message: self.message, offset });
        }
        let word = self.string()?;
        if let Some(role) = Role::spelling(&word) {
            let text = format!("role `{word}` read as `{role}`");
            let at = self.place(Diagnostic::info("message::role-spelling".into(), text));
            self.report.push(at.at_span(offset..self.reader.offset()));
        }
        Ok(Role::from(&*word))
    }

    /// Notes that a member is there a second time, if it was read before: the last value wins (MS-8).
    pub fn note_duplicate<T>(&mut self, before: &Option<T>, key: &str) {
        if before.is_some() {
            let at = self.reader.offset();
            let text = format!("duplicate member `{key}`, the last value is used");
            self.warn("message::duplicate-member", text, at..at);
        }
    }

    /// Reports a warning about these bytes.
    pub fn warn(
        &mut self,
        code: &'static str,
        text: impl Into<Cow<'static, str>>,
        span: std::ops::Range<usize>,
    ) {
        let it = Diagnostic::warning(code.into(), text).at_span(span);
        let it = self.place(it);
        self.report.push(it);
    }

    /// Reads an object whose `type` says what it is. `known` is given the type (none without a
    /// text of that name), reads the members that are left, and says whether a second, different
    /// type turned up; it gives nothing for a type that it does not know, whose object goes to
    /// `foreign` whole. Of several types the last one counts (MS-8), and what was read under the first
    /// is then read again.
    ///
    /// # Errors
    /// Something else was found here.
    pub fn typed<T>(
        &mut self,
        known: impl Fn(&mut Self, Option<&str>) -> Option<(Result<T, Error>, bool)>,
        foreign: impl Fn(RawJson) -> T,
    ) -> Result<T, Error> {
        let bookmark = self.reader.clone();
        let first = self.first_type()?;
        let found = first.as_deref().and_then(|it| known(self, Some(it)));
        if let Some((Ok(it), false)) = found {
            return Ok(it);
        }
        let current = std::mem::replace(&mut self.reader, bookmark.clone());
        let last = self.last_type();
        if let Some((res, _)) = found
            && !last.as_ref().is_ok_and(|it| *it != first)
        {
            self.reader = current;
            return res;
        }
        let last = last?;
        self.reader = bookmark.clone();
        self.begin_object()?;
        if let Some((res, _)) = known(self, last.as_deref()) {
            return res;
        }
        self.reader = bookmark;
        self.raw().map(foreign)
    }

    /// The type, if it comes first, as in every document that this crate wrote.
    fn first_type(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        self.begin_object()?;
        match self.key_again()? {
            Some(key) if key.text == "type" && self.peek()? == Kind::String => {
                self.string().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The last member `type` of the object, wherever it is, if it is a string.
    fn last_type(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        self.begin_object()?;
        let mut res = None;
        while let Some(key) = self.key_again()? {
            let value = self.raw_text()?;
            if key.text == "type" {
                let text = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                res = text.map(|it| unescape(it).text);
            }
        }
        Ok(res)
    }

    fn place(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.at.message = Some(self.message);
        diagnostic.at.part = self.part;
        diagnostic
    }
}
