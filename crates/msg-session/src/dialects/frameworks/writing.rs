//! Shared by the writers of stores: the records for messages, the names of the tools of results, media as bytes or URL,
//! and sealed provider data.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Answered, Maker, Message, Part, Role, ToolCall, ToolResult};
use msg_json::{TextState, Writer, classify, to_text};

use super::Seal;
use crate::write::in_a_line;

/// A record to write: a message, or one result of a tool message.
pub(super) struct Entry<'m> {
    pub(super) at: usize,
    pub(super) message: &'m Message,
    pub(super) result: Option<&'m ToolResult>,
    /// The part of the result, or all parts of the message.
    parts: &'m [Part],
}

impl<'m> Entry<'m> {
    /// The parts of the record: the result, or the other parts of the message.
    pub(super) fn parts(&self) -> impl Iterator<Item = &'m Part> + use<'m> {
        let is_result = self.result.is_some();
        self.parts.iter().filter(move |it| it.as_tool_result().is_some() == is_result)
    }

    /// The role name used by most stores.
    pub(super) fn role(&self) -> &'m str {
        if self.result.is_some() { "tool" } else { role(self.message) }
    }
}

/// The entries for a store in which each result is a record.
pub(super) fn entries(messages: &[Message]) -> Vec<Entry<'_>> {
    let mut res = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        for part in &message.parts {
            if let result @ Some(_) = part.as_tool_result() {
                res.push(Entry { at, message, result, parts: std::slice::from_ref(part) });
            }
        }
        if message.parts.iter().any(|it| it.as_tool_result().is_none()) {
            res.push(Entry { at, message, result: None, parts: &message.parts });
        }
    }
    res
}

/// Writes a list with an object for each entry.
pub(super) fn write_records<'m>(
    messages: &'m [Message],
    mut members: impl FnMut(&mut Writer<'_>, &Entry<'m>),
) -> Vec<u8> {
    let list = |it: &mut Writer<'_>| {
        it.array(entries(messages), |it, entry| it.object(|it| members(it, &entry)));
    };
    to_text(list).into_bytes()
}

/// The names of the called tools, for the results of the calls.
pub(super) struct Names<'m>(Answered<'m>);

impl<'m> Names<'m> {
    pub(super) fn of(messages: &'m [Message]) -> Self {
        Self(Answered::of(messages))
    }

    /// The call that a result answers.
    pub(super) fn call(&self, result: &ToolResult) -> Option<&'m ToolCall> {
        self.0.call(result)
    }

    /// The tool name for a result: its own, or else that of its call.
    pub(super) fn of_result<'a>(&'a self, result: &'a ToolResult) -> &'a str {
        let own = result.name.as_deref().filter(|it| !it.is_empty());
        own.or_else(|| self.call(result).map(|it| it.name.as_str())).unwrap_or("unknown")
    }
}

/// The role name used by most stores, which have no developer role.
pub(super) fn role(message: &Message) -> &str {
    if message.role.is_system() { "system" } else { message.role.as_str() }
}

/// Whether a message is an answer.
pub(super) fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant
}

/// An image or a file.
pub(crate) struct Media<'m> {
    pub(crate) media_type: &'m str,
    /// Base64.
    pub(crate) data: Option<Cow<'m, str>>,
    pub(crate) url: Option<&'m str>,
    pub(super) filename: Option<&'m str>,
}

impl<'m> Media<'m> {
    /// The media of an image or file part; `None` for other parts.
    pub(crate) fn of(part: &'m Part) -> Option<Self> {
        let (media_type, source, url, filename, usual) = match part {
            // If the URL of an image does not reveal a type, only the kind is known.
            Part::Image(it) => (&it.media_type, it.url.as_deref(), None, None, "image/*"),
            Part::File(it) => {
                let usual = "application/octet-stream";
                let (data, url) = (it.data.as_deref(), it.url.as_deref());
                (&it.media_type, data, url, it.filename.as_deref(), usual)
            }
            _ => return None,
        };
        let split = |it: &'m str| it.strip_prefix("data:")?.split_once(";base64,");
        let inline = source.or(url).and_then(split);
        let is_url = source.is_some_and(|it| it.contains("://")) || matches!(part, Part::Image(_));
        // The file extension gives the type if nothing else does (RQ-39).
        let said = media_type.as_deref().or(inline.map(|it| it.0));
        let linked = url.or(source).filter(|_| is_url || url.is_some());
        let media_type = said.or_else(|| msg_codec::media_type_of_url(linked?)).unwrap_or(usual);
        // Some formats keep a text document as plain text.
        let is_plain = |it: &str| media_type.starts_with("text/") && !is_base64(it);
        let data = inline.map(|it| it.1).or(source.filter(|_| !is_url));
        Some(Self {
            media_type,
            data: data.map(|it| match is_plain(it) {
                true => Cow::Owned(BASE64_STANDARD.encode(it)),
                false => Cow::Borrowed(it),
            }),
            url: url.or(source.filter(|_| is_url)).filter(|_| inline.is_none()),
            filename,
        })
    }

    /// Its URL, or a data URL.
    pub(crate) fn as_url(&self) -> String {
        match (&self.data, self.url) {
            (Some(data), _) => format!("data:{};base64,{data}", self.media_type),
            (None, url) => url.unwrap_or_default().to_owned(),
        }
    }

    /// Its data, or else its URL.
    pub(crate) fn source(&self) -> &str {
        self.data.as_deref().or(self.url).unwrap_or_default()
    }
}

/// Whether a text is base64.
pub(super) fn is_base64(text: &str) -> bool {
    BASE64_STANDARD.decode(text).is_ok()
}

/// Writes sealed provider data into a member with one object per provider (`providerOptions`, `providerMetadata`).
pub(super) fn write_seal(it: &mut Writer<'_>, member: &str, part: &Part) {
    let seal = Seal::of(part);
    let (provider, members) = match seal.maker {
        Some(Maker::OpenAi) => {
            let sealed = ("reasoningEncryptedContent", &seal.encrypted);
            ("openai", [("itemId", &seal.item), sealed])
        }
        Some(Maker::Gemini) => {
            ("google", [("thoughtSignature", &seal.signature), ("redactedData", &seal.redacted)])
        }
        _ => ("anthropic", [("signature", &seal.signature), ("redactedData", &seal.redacted)]),
    };
    if seal.is_empty() {
        return;
    }
    it.key(member).object(|it| {
        it.key(provider).object(|it| {
            members.into_iter().for_each(|(name, value)| {
                it.optional(name, value.as_ref(), |it, text| it.str(text));
            });
        });
    });
}

/// The text, if it is a JSON object.
pub(super) fn object_in(text: &str) -> Option<String> {
    (classify(text) == TextState::Object).then(|| in_a_line(text.trim()).into_owned())
}
