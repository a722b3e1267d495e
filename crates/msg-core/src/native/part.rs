//! Native JSON to parts (MS-3, MS-7), one function a kind.

use std::borrow::Cow;

use super::read::read_extra;
use crate::{
    Arguments, Audio, CallKind, Content, Error, Extra, File, Image, Origin, Other, Part, Place,
    Reasoning, Text, ToolCall, ToolResult, reading::Source,
};
use msg_json::Kind;

/// Whether the native form has a part of this type of its own.
pub(super) fn is_known_type(name: &str) -> bool {
    matches!(
        name,
        "text"
            | "refusal"
            | "reasoning"
            | "image"
            | "audio"
            | "file"
            | "tool_call"
            | "tool_result"
            | "other"
    )
}

/// Reads a list of parts. In a message they are counted for the positions of diagnostics; those in
/// the content of a result have the position of the result.
pub(super) fn read_content(source: &mut Source<'_, '_>, count: bool) -> Result<Vec<Part>, Error> {
    let mut res = Vec::new();
    source.begin_array()?;
    while source.next_element()? {
        if count {
            source.part = Some(res.len());
        }
        // Most lists have one part: room for the four that a vector begins with would be wasted.
        res.reserve_exact(usize::from(res.is_empty()));
        res.push(read(source)?);
    }
    if count {
        source.part = None;
    }
    Ok(res)
}

impl Source<'_, '_> {
    /// Reads one part in native form (MS-7), for forms that have such parts in them.
    ///
    /// # Errors
    /// The part has not the shape of its type.
    pub fn native_part(&mut self) -> Result<Part, Error> {
        read(self)
    }
}

/// Reads one part.
pub(super) fn read(source: &mut Source<'_, '_>) -> Result<Part, Error> {
    let start = source.reader.next_offset();
    source.typed(
        |source, type_name| match type_name {
            Some(it) if is_known_type(it) => Some(read_members(source, start, it)),
            Some(_) => None,
            None => {
                let error = Error::missing(source.message, start, "a part with a `type`");
                Some((Err(error), false))
            }
        },
        |value| Part::Other(Other::new(Origin::Native, value)),
    )
}

/// Reads the members of a part of this type, and says whether another type turned up among them.
fn read_members(
    source: &mut Source<'_, '_>,
    start: usize,
    type_name: &str,
) -> (Result<Part, Error>, bool) {
    let extra = Extra::default();
    let mut members = Members { source, start, type_name, retyped: false, extra };
    let res = members.part();
    (res, members.retyped)
}

/// The members of a part whose type is known.
struct Members<'s, 'a, 'r> {
    source: &'s mut Source<'a, 'r>,
    start: usize,
    type_name: &'s str,
    retyped: bool,
    extra: Extra,
}

impl<'a> Members<'_, 'a, '_> {
    fn part(&mut self) -> Result<Part, Error> {
        Ok(match self.type_name {
            "text" => Part::Text(self.text()?),
            "refusal" => Part::Refusal(self.text()?),
            "reasoning" => Part::Reasoning(self.reasoning()?),
            "image" => Part::Image(self.image()?),
            "audio" => Part::Audio(self.audio()?),
            "file" => Part::File(self.file()?),
            "tool_call" => Part::ToolCall(self.tool_call()?),
            "tool_result" => Part::ToolResult(self.tool_result()?),
            _ => Part::Other(self.other()?),
        })
    }

    fn text(&mut self) -> Result<Text, Error> {
        let mut text = None;
        while let Some(key) = self.next()? {
            match &*key {
                "text" => self.source.text_into(&mut text, &key)?,
                _ => self.common(&key)?,
            }
        }
        Ok(Text { text: self.required(text, "`text`")?, extra: self.extra() })
    }

    fn reasoning(&mut self) -> Result<Reasoning, Error> {
        let mut res = Reasoning::default();
        while let Some(key) = self.next()? {
            match &*key {
                "text" => self.source.text_into(&mut res.text, &key)?,
                "summary" => res.summary = self.texts()?,
                "signature" => self.source.text_into(&mut res.signature, &key)?,
                "redacted" => self.source.text_into(&mut res.redacted, &key)?,
                "encrypted" => self.source.text_into(&mut res.encrypted, &key)?,
                _ => self.common(&key)?,
            }
        }
        res.extra = self.extra();
        Ok(res)
    }

    fn image(&mut self) -> Result<Image, Error> {
        let mut res = Image::default();
        while let Some(key) = self.next()? {
            match &*key {
                "url" => self.source.text_into(&mut res.url, &key)?,
                "file_id" => self.source.text_into(&mut res.file_id, &key)?,
                "media_type" => self.source.text_into(&mut res.media_type, &key)?,
                "detail" => self.source.text_into(&mut res.detail, &key)?,
                _ => self.common(&key)?,
            }
        }
        if res.url.is_none() && res.file_id.is_none() {
            return Err(self.missing("an image with `url` or `file_id`"));
        }
        res.extra = self.extra();
        Ok(res)
    }

    fn audio(&mut self) -> Result<Audio, Error> {
        let mut res = Audio::default();
        while let Some(key) = self.next()? {
            match &*key {
                "id" => self.source.text_into(&mut res.id, &key)?,
                "data" => self.source.text_into(&mut res.data, &key)?,
                "format" => self.source.text_into(&mut res.format, &key)?,
                "transcript" => self.source.text_into(&mut res.transcript, &key)?,
                _ => self.common(&key)?,
            }
        }
        res.extra = self.extra();
        Ok(res)
    }

    fn file(&mut self) -> Result<File, Error> {
        let mut res = File::default();
        while let Some(key) = self.next()? {
            match &*key {
                "file_id" => self.source.text_into(&mut res.file_id, &key)?,
                "url" => self.source.text_into(&mut res.url, &key)?,
                "data" => self.source.text_into(&mut res.data, &key)?,
                "filename" => self.source.text_into(&mut res.filename, &key)?,
                "media_type" => self.source.text_into(&mut res.media_type, &key)?,
                _ => self.common(&key)?,
            }
        }
        res.extra = self.extra();
        Ok(res)
    }

    fn tool_call(&mut self) -> Result<ToolCall, Error> {
        let (mut kind, mut id, mut name, mut arguments, mut signature) = Default::default();
        while let Some(key) = self.next()? {
            match &*key {
                "kind" => self.source.text_into(&mut kind, &key)?,
                "id" => self.source.text_into(&mut id, &key)?,
                "name" => self.source.text_into(&mut name, &key)?,
                "arguments" => self.source.text_into(&mut arguments, &key)?,
                "signature" => self.source.text_into(&mut signature, &key)?,
                _ => self.common(&key)?,
            }
        }
        Ok(ToolCall {
            id: self.required(id, "`id`")?,
            kind: call_kind(kind),
            name: self.required(name, "`name`")?,
            arguments: Arguments::from(self.required(arguments, "`arguments`")?),
            signature,
            extra: self.extra(),
        })
    }

    fn tool_result(&mut self) -> Result<ToolResult, Error> {
        let (mut kind, mut call_id, mut name) = Default::default();
        let mut content = None;
        let mut is_error = false;
        while let Some(key) = self.next()? {
            match &*key {
                "kind" => self.source.text_into(&mut kind, &key)?,
                "call_id" => self.source.text_into(&mut call_id, &key)?,
                "name" => self.source.text_into(&mut name, &key)?,
                "content" => {
                    self.source.note_duplicate(&content, &key);
                    content = Some(self.content()?);
                }
                "is_error" => is_error = self.flag()?,
                _ => self.common(&key)?,
            }
        }
        Ok(ToolResult {
            call_id: self.required(call_id, "`call_id`")?,
            kind: call_kind(kind),
            name,
            content: content.ok_or_else(|| self.missing("`content`"))?,
            is_error,
            extra: self.extra(),
        })
    }

    fn other(&mut self) -> Result<Other, Error> {
        let (mut format, mut place) = Default::default();
        let mut value = None;
        while let Some(key) = self.next()? {
            match &*key {
                "format" => self.source.text_into(&mut format, &key)?,
                "place" => self.source.text_into(&mut place, &key)?,
                "value" => value = Some(self.source.raw()?),
                _ => self.common(&key)?,
            }
        }
        let place = match place.as_deref() {
            None => None,
            Some(it) => Some(Place::from_name(it).ok_or_else(|| self.wrong_place())?),
        };
        Ok(Other {
            format: Origin::from(self.required(format, "`format`")?.as_str()),
            place,
            value: value.ok_or_else(|| self.missing("`value`"))?,
            extra: self.extra(),
        })
    }

    fn next(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        self.source.next_key()
    }

    /// `type`, `extra`, or a member that no part has.
    fn common(&mut self, key: &str) -> Result<(), Error> {
        match key {
            "type" => {
                self.retyped |= self.source.string()? != self.type_name;
                Ok(())
            }
            "extra" => read_extra(self.source, &mut self.extra),
            _ => self.source.unknown(key, Origin::Native, &mut self.extra),
        }
    }

    fn extra(&mut self) -> Extra {
        std::mem::take(&mut self.extra)
    }

    fn required(&self, slot: Option<String>, name: &'static str) -> Result<String, Error> {
        slot.ok_or_else(|| self.missing(name))
    }

    fn missing(&self, what: &'static str) -> Error {
        Error::missing(self.source.message, self.start, what)
    }

    fn wrong_place(&self) -> Error {
        self.missing("`place` to be content, tool_calls or item")
    }

    fn content(&mut self) -> Result<Content, Error> {
        if self.source.peek()? == Kind::String {
            return Ok(Content::from(self.source.string()?.into_owned()));
        }
        read_content(self.source, false).map(Content::from)
    }

    fn texts(&mut self) -> Result<Option<Vec<String>>, Error> {
        if self.source.is_null()? {
            return Ok(None);
        }
        let mut res = Vec::new();
        self.source.begin_array()?;
        while self.source.next_element()? {
            res.push(self.source.string()?.into_owned());
        }
        Ok(Some(res))
    }

    fn flag(&mut self) -> Result<bool, Error> {
        if self.source.is_null()? {
            return Ok(false);
        }
        self.source.reader.boolean().map_err(|it| self.source.fail(it))
    }
}

fn call_kind(word: Option<String>) -> CallKind {
    word.map_or(CallKind::Function, |it| CallKind::from(it.as_str()))
}
