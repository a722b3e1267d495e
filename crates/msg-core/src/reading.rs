//! What the readers of all forms share: a JSON reader that knows which message and part it is in,
//! and turns what it finds into errors and diagnostics (MS-8, MS-9).
//!
//! It knows no form. The wire formats of other crates have their own.

use std::borrow::Cow;

use crate::{Diagnostic, Error, Extra, Message, Origin, RawJson, Report, Role};
use msg_json::{JsonError, JsonStr, Kind, Reader, string_member};

/// A reader with a place in the document and a report.
pub(crate) struct Source<'a, 'r> {
    pub(crate) reader: Reader<'a>,
    pub(crate) report: &'r mut Report,
    /// Index of the message that is being read.
    pub(crate) message: usize,
    /// Index of its part that is being read.
    pub(crate) part: Option<usize>,
}

/// Reads a document that is a list, an element a message.
pub(crate) fn list(
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

impl<'a, 'r> Source<'a, 'r> {
    pub(crate) fn new(reader: Reader<'a>, report: &'r mut Report) -> Self {
        Self { reader, report, message: 0, part: None }
    }

    pub(crate) fn fail(&self, error: JsonError) -> Error {
        Error::from_json(error, Some(self.message))
    }

    /// Steps into an object and returns where it begins.
    pub(crate) fn begin_object(&mut self) -> Result<usize, Error> {
        let start = self.reader.next_offset();
        self.reader.begin_object().map_err(|it| self.fail(it))?;
        Ok(start)
    }

    pub(crate) fn begin_array(&mut self) -> Result<(), Error> {
        self.reader.begin_array().map_err(|it| self.fail(it))
    }

    pub(crate) fn next_element(&mut self) -> Result<bool, Error> {
        self.reader.next_element().map_err(|it| self.fail(it))
    }

    /// The name of the next member: half a surrogate pair is reported, as in a text.
    pub(crate) fn next_key(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        let start = self.reader.offset();
        let key = self.look_key()?;
        if let Some(it) = &key {
            self.note_surrogate(it.lone_surrogate, start);
        }
        Ok(key.map(|it| it.text))
    }

    /// As [`Source::next_key`], of an object that is read again: nothing is reported.
    pub(crate) fn look_key(&mut self) -> Result<Option<JsonStr<'a>>, Error> {
        self.reader.next_key().map_err(|it| self.fail(it))
    }

    pub(crate) fn peek(&mut self) -> Result<Kind, Error> {
        self.reader.peek().map_err(|it| self.fail(it))
    }

    /// The source text of any value.
    pub(crate) fn raw_text(&mut self) -> Result<&'a str, Error> {
        self.reader.raw().map_err(|it| self.fail(it))
    }

    pub(crate) fn raw(&mut self) -> Result<RawJson, Error> {
        self.reader.raw_json().map_err(|it| self.fail(it))
    }

    /// A string of a known member: half a surrogate pair is reported (MS-8).
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        let start = self.reader.next_offset();
        let it = self.reader.string().map_err(|it| self.fail(it))?;
        self.note_surrogate(it.lone_surrogate, start);
        Ok(it.text)
    }

    /// Notes half a surrogate pair in a text that was read from `start` on.
    pub(crate) fn note_surrogate(&mut self, is_lone: bool, start: usize) {
        if is_lone {
            let span = start..self.reader.offset();
            self.warn("message::lone-surrogate", "lone surrogate escape read as U+FFFD", span);
        }
    }

    /// Takes a null, if one is next.
    pub(crate) fn is_null(&mut self) -> Result<bool, Error> {
        let res = self.peek()? == Kind::Null;
        if res {
            self.raw_text()?;
        }
        Ok(res)
    }

    /// A string or null.
    pub(crate) fn optional_string(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        if self.is_null()? { Ok(None) } else { self.string().map(Some) }
    }

    /// Reads a string member, or null as an absent one; the last of duplicates wins (MS-8).
    pub(crate) fn text_into(&mut self, slot: &mut Option<String>, key: &str) -> Result<(), Error> {
        self.note_duplicate(slot.is_some(), key);
        *slot = self.optional_string()?.map(Cow::into_owned);
        Ok(())
    }

    /// Keeps a member that the form does not know (MS-6).
    pub(crate) fn unknown(
        &mut self,
        key: &str,
        origin: Origin,
        extra: &mut Extra,
    ) -> Result<(), Error> {
        let value = self.raw()?;
        extra.insert(origin, key, value);
        Ok(())
    }

    /// The error of a message whose role is missing or no string, where there is one: it goes before
    /// what is wrong with other members. `start` is a bookmark of the message.
    pub(crate) fn role_error(&mut self, start: &Reader<'a>) -> Option<Error> {
        self.reader = start.clone();
        let offset = self.begin_object().ok()?;
        let mut error = Some(offset);
        while let Some(key) = self.look_key().ok()? {
            if key.text == "role" {
                let at = self.reader.next_offset();
                error = (self.peek().ok()? != Kind::String).then_some(at);
            }
            self.raw_text().ok()?;
        }
        error.map(|offset| Error::Role { message: self.message, offset })
    }

    /// The role of a message: any text, other spellings of known roles reported (MS-2).
    pub(crate) fn role(&mut self) -> Result<Role, Error> {
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

    pub(crate) fn note_duplicate(&mut self, is_duplicate: bool, key: &str) {
        if is_duplicate {
            let at = self.reader.offset();
            let text = format!("member `{key}` occurs again, the last value is taken");
            self.warn("message::duplicate-member", text, at..at);
        }
    }

    pub(crate) fn warn(
        &mut self,
        code: &'static str,
        text: impl Into<Cow<'static, str>>,
        span: std::ops::Range<usize>,
    ) {
        let it = Diagnostic::warning(code.into(), text).at_span(span);
        let it = self.place(it);
        self.report.push(it);
    }

    /// Reads an object whose `type` says what it is. `known` is given the type (none where there is no
    /// text of that name), reads the members that are left, and says whether a second, different
    /// type turned up; it gives nothing for a type that it does not know, whose object goes to
    /// `foreign` whole. Of several types the last one counts (MS-8), and what was read under the first
    /// is then read again.
    pub(crate) fn typed<T>(
        &mut self,
        known: impl Fn(&mut Self, Option<&str>) -> Option<(Result<T, Error>, bool)>,
        foreign: impl Fn(RawJson) -> T,
    ) -> Result<T, Error> {
        let bookmark = self.reader.clone();
        let mut type_name = self.first_type()?;
        if type_name.is_none() {
            self.reader = bookmark.clone();
            type_name = self.last_type()?;
            self.reader = bookmark.clone();
            self.begin_object()?;
        }
        match known(self, type_name.as_deref()) {
            Some((Ok(it), false)) => return Ok(it),
            Some((res, _)) => {
                let behind = std::mem::replace(&mut self.reader, bookmark.clone());
                let last = self.last_type();
                if !last.as_ref().is_ok_and(|it| *it != type_name) {
                    self.reader = behind;
                    return res;
                }
                type_name = last?;
            }
            None => {
                self.reader = bookmark.clone();
                let value = self.raw()?;
                let last = string_member(value.text(), "type");
                if last == type_name {
                    return Ok(foreign(value));
                }
                type_name = last.map(|it| Cow::Owned(it.into_owned()));
            }
        }
        self.reader = bookmark.clone();
        self.begin_object()?;
        if let Some((res, _)) = known(self, type_name.as_deref()) {
            return res;
        }
        self.reader = bookmark;
        self.raw().map(foreign)
    }

    /// The type, if it stands first, as in every document that this crate wrote.
    fn first_type(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        self.begin_object()?;
        match self.look_key()? {
            Some(key) if key.text == "type" && self.peek()? == Kind::String => {
                self.string().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The last member `type` of the object, wherever it stands, if it is a string.
    fn last_type(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        self.begin_object()?;
        let mut res = None;
        while let Some(key) = self.look_key()? {
            let is_type = key.text == "type";
            if is_type && self.peek()? == Kind::String {
                res = Some(self.string()?);
                continue;
            }
            if is_type {
                res = None;
            }
            self.raw_text()?;
        }
        Ok(res)
    }

    fn place(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.at.message = Some(self.message);
        diagnostic.at.part = self.part;
        diagnostic
    }
}
