//! Parses a chunk of a Gemini stream in one pass: its members as slices of the source, down to the parts of a content.
//!
//! ```text
//! {"candidates":[{"content":{"parts":[{"text":"Hel"}]},"index":0}],"responseId":"r"}
//!   ─▶  Body { candidates: [CandidateView { members: [Content [PartView "Hel"]], index 0 }], id "r" }
//! ```
//!
//! Nothing is applied here: a chunk counts only after all of it was read.

use std::borrow::Cow;

use msg_codec::stream::TextKind;
use msg_codec::{Json, Str};
use msg_json::{JsonError, Kind, Reader};

/// A member in camel case, and in the snake case that the Python library writes (GE-2).
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Named<'a> {
    camel: Option<Json<'a>>,
    snake: Option<Json<'a>>,
}

impl<'a> Named<'a> {
    pub(super) fn get(self) -> Option<Json<'a>> {
        self.camel.or(self.snake)
    }
}

/// The members of a response, bare or wrapped.
#[derive(Debug, Default)]
pub(super) struct Body<'a> {
    pub(super) id: Named<'a>,
    pub(super) version: Named<'a>,
    pub(super) usage: Named<'a>,
    pub(super) feedback: Named<'a>,
    pub(super) error: Option<Json<'a>>,
    pub(super) candidates: Vec<CandidateView<'a>>,
    /// Whether there is one value in place of the list of candidates.
    pub(super) is_lone: bool,
    /// Whether it has a member `candidates`.
    has_candidates: bool,
    /// Whether it has unknown members.
    pub(super) has_others: bool,
}

/// The members of a response; the last ones do not belong to the answer.
pub(super) const BODY: [&str; 12] = [
    "candidates",
    "responseId",
    "response_id",
    "modelVersion",
    "model_version",
    "usageMetadata",
    "usage_metadata",
    "promptFeedback",
    "prompt_feedback",
    "error",
    "createTime",
    "create_time",
];

impl<'a> Body<'a> {
    /// Reads an object.
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, JsonError> {
        let mut res = Self::default();
        reader.begin_object()?;
        while let Some(name) = reader.next_key()? {
            res.member(&name.text, reader)?;
        }
        Ok(res)
    }

    /// Reads the value of a member; the last of several counts.
    pub(super) fn member(&mut self, name: &str, reader: &mut Reader<'a>) -> Result<(), JsonError> {
        let place = match name {
            "candidates" => return self.read_candidates(reader),
            "responseId" => &mut self.id.camel,
            "response_id" => &mut self.id.snake,
            "modelVersion" => &mut self.version.camel,
            "model_version" => &mut self.version.snake,
            "usageMetadata" => &mut self.usage.camel,
            "usage_metadata" => &mut self.usage.snake,
            "promptFeedback" => &mut self.feedback.camel,
            "prompt_feedback" => &mut self.feedback.snake,
            "error" => &mut self.error,
            _ => {
                self.has_others |= !BODY.contains(&name);
                return reader.raw().map(drop);
            }
        };
        *place = Some(value(reader)?);
        Ok(())
    }

    fn read_candidates(&mut self, reader: &mut Reader<'a>) -> Result<(), JsonError> {
        self.candidates.clear();
        (self.has_candidates, self.is_lone) = (true, false);
        match reader.peek()? {
            Kind::Null => reader.raw().map(drop),
            Kind::Array => {
                reader.begin_array()?;
                while reader.next_element()? {
                    self.candidates.push(CandidateView::read(reader)?);
                }
                Ok(())
            }
            _ => {
                self.is_lone = true;
                self.candidates.push(CandidateView::read(reader)?);
                Ok(())
            }
        }
    }

    /// Whether it has a member of a response.
    pub(super) fn says_something(&self) -> bool {
        let named = [self.usage, self.feedback, self.id];
        self.has_candidates || named.iter().any(|it| it.get().is_some())
    }
}

/// An element of `candidates`.
#[derive(Debug)]
pub(super) struct CandidateView<'a> {
    pub(super) source: Json<'a>,
    pub(super) index: Option<Json<'a>>,
    pub(super) finish: Named<'a>,
    pub(super) message: Named<'a>,
    /// Its members, in order.
    pub(super) members: Vec<Member<'a>>,
}

/// A non-null member of a candidate without a place of its own.
#[derive(Debug)]
pub(super) enum Member<'a> {
    Content(ContentView<'a>),
    Other(Cow<'a, str>, Json<'a>),
}

impl<'a> CandidateView<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, JsonError> {
        let (index, finish, message) = (None, Named::default(), Named::default());
        let source = Json::from_valid("");
        let mut res = Self { source, index, finish, message, members: Vec::new() };
        res.source = object(reader, |name, reader| res.member(name, reader))?;
        Ok(res)
    }

    /// The source of its content, unless that has only empty texts.
    pub(super) fn content(&self) -> Option<&'a str> {
        let says = |it: &PartView<'_>| it.plain.is_none_or(|it| !it.1.source.is_empty());
        self.members.iter().find_map(|it| match it {
            Member::Content(it) if it.parts.iter().any(says) => Some(it.source.source()),
            _ => None,
        })
    }

    fn member(&mut self, name: Cow<'a, str>, reader: &mut Reader<'a>) -> Result<(), JsonError> {
        let is_null = reader.peek()? == Kind::Null;
        match &*name {
            "content" if !is_null => {
                self.members.push(Member::Content(ContentView::read(reader)?));
                return Ok(());
            }
            "index" => self.index = Some(value(reader)?),
            "finishReason" => self.finish.camel = Some(value(reader)?),
            "finish_reason" => self.finish.snake = Some(value(reader)?),
            "content" | "tokenCount" | "token_count" => drop(reader.raw()?),
            _ => {
                let value = value(reader)?;
                match &*name {
                    "finishMessage" => self.message.camel = Some(value),
                    "finish_message" => self.message.snake = Some(value),
                    _ => {}
                }
                if !is_null {
                    self.members.push(Member::Other(name, value));
                }
            }
        }
        Ok(())
    }
}

/// A content, or a value in place of one.
#[derive(Debug)]
pub(super) struct ContentView<'a> {
    pub(super) source: Json<'a>,
    pub(super) parts: Vec<PartView<'a>>,
    /// Whether it has members other than these and the role.
    pub(super) has_others: bool,
    /// Whether each part is a text or a call with members of the right types; otherwise it must be examined more
    /// closely.
    pub(super) is_sound: bool,
}

impl<'a> ContentView<'a> {
    pub(super) fn of(content: Json<'a>) -> Option<Self> {
        Self::read(&mut Reader::from_text(content.source())).ok()
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, JsonError> {
        let (mut parts, mut is_sound) = (Vec::new(), reader.peek()? == Kind::Object);
        let mut has_others = false;
        let source = object(reader, |name, reader| {
            if name != "parts" {
                has_others |= name != "role";
                return reader.raw().map(drop);
            }
            parts.clear();
            match reader.peek()? {
                Kind::Array => {
                    reader.begin_array()?;
                    while reader.next_element()? {
                        parts.push(PartView::read(reader)?);
                    }
                }
                Kind::Object => {
                    is_sound = false;
                    parts.push(PartView::read(reader)?);
                }
                _ => {
                    is_sound = false;
                    reader.raw()?;
                }
            }
            Ok(())
        })?;
        is_sound &= parts.iter().all(|it| it.is_sound);
        Ok(Self { source, parts, has_others, is_sound })
    }
}

/// A part, or a value in place of one.
#[derive(Debug)]
pub(super) struct PartView<'a> {
    pub(super) source: Json<'a>,
    /// The text of a part without other members, except `thought: true`.
    pub(super) plain: Option<(TextKind, Str<'a>)>,
    pub(super) call: Option<CallView<'a>>,
    is_sound: bool,
}

impl<'a> PartView<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, JsonError> {
        if reader.peek()? == Kind::String {
            // A bare string is a text (GE-4).
            let source = value(reader)?;
            let plain = source.string().map(|it| (TextKind::Text, it));
            return Ok(Self { source, plain, call: None, is_sound: true });
        }
        let (mut text, mut call, mut kind) = (None, Named::default(), TextKind::Text);
        let (mut is_plain, mut is_sound) = (true, true);
        let source = object(reader, |name, reader| {
            let value = value(reader)?;
            match &*name {
                "text" => text = Some(value),
                "thought" if value.source() == "true" => kind = TextKind::Reasoning,
                "functionCall" => call.camel = Some(value),
                "function_call" => call.snake = Some(value),
                _ => {
                    is_plain = false;
                    is_sound &= match &*name {
                        "thought" => matches!(value.source(), "false" | "null"),
                        "thoughtSignature" | "thought_signature" => {
                            value.is_string() || value.is_null()
                        }
                        _ => false,
                    };
                }
            }
            Ok(())
        })?;
        let has_call = call.get().is_some();
        let call = call.get().filter(|it| it.is_object()).map(CallView::of);
        is_sound &= match (&call, text) {
            (Some(call), None) => call.is_sound,
            (None, Some(text)) => !has_call && text.is_string(),
            _ => false,
        };
        let plain = text.filter(|_| is_plain && !has_call).and_then(Json::string);
        Ok(Self { source, plain: plain.map(|it| (kind, it)), call, is_sound })
    }
}

/// A call, or a piece of one with streamed arguments.
#[derive(Debug)]
pub(super) struct CallView<'a> {
    pub(super) source: Json<'a>,
    pub(super) args: Option<Json<'a>>,
    /// The values of `partialArgs`, if it is a list.
    pub(super) pieces: Option<Json<'a>>,
    pub(super) has_name: bool,
    pub(super) goes_on: bool,
    pub(super) has_others: bool,
    is_sound: bool,
}

/// The members of a call, or of a piece of one.
pub(super) const CALL: [&str; 5] = ["id", "name", "args", "partialArgs", "willContinue"];

impl<'a> CallView<'a> {
    fn of(source: Json<'a>) -> Self {
        let ([id, name, args, pieces, goes_on], has_others) = source.pick_all(CALL);
        let is_text = |it: Json<'_>| it.is_string() || it.is_null();
        let is_sound = id.is_none_or(is_text)
            && name.is_none_or(is_text)
            && args.is_none_or(|it| it.is_object() || it.is_null());
        Self {
            source,
            args,
            pieces: pieces.filter(|it| it.is_array()),
            has_name: name.is_some_and(Json::is_string),
            goes_on: goes_on.is_some_and(|it| it.source() == "true"),
            has_others,
            is_sound,
        }
    }
}

/// Reads a value.
fn value<'a>(reader: &mut Reader<'a>) -> Result<Json<'a>, JsonError> {
    reader.raw().map(Json::from_valid)
}

/// Reads a value, with its members if it is an object.
fn object<'a>(
    reader: &mut Reader<'a>,
    mut member: impl FnMut(Cow<'a, str>, &mut Reader<'a>) -> Result<(), JsonError>,
) -> Result<Json<'a>, JsonError> {
    if reader.peek()? != Kind::Object {
        return value(reader);
    }
    let start = reader.next_offset();
    reader.begin_object()?;
    while let Some(name) = reader.next_key()? {
        member(name.text, reader)?;
    }
    Ok(Json::from_valid(reader.source(start, reader.offset())))
}
