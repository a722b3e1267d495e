//! What the writers of stores share: who gave a result, media as bytes or by URL, and what a provider sealed.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Message, Part, Role, ToolCall, ToolResult};
use msg_json::{TextState, Writer, classify};

use crate::write::blocks::in_a_line;

/// What a record of a store says: a message, or one result of a message of tools.
pub(super) struct Entry<'m> {
    pub(super) at: usize,
    pub(super) message: &'m Message,
    pub(super) result: Option<&'m ToolResult>,
}

/// The records of stores in which each result is one.
pub(super) fn entries(messages: &[Message]) -> Vec<Entry<'_>> {
    let mut res = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let results = message.tool_results().map(|it| Entry { at, message, result: Some(it) });
        res.extend(results);
        if message.parts.iter().any(|it| it.as_tool_result().is_none()) {
            res.push(Entry { at, message, result: None });
        }
    }
    res
}

/// The names of the tools that were called, by the ids of the calls.
pub(super) struct Names<'m>(HashMap<&'m str, &'m ToolCall>);

impl<'m> Names<'m> {
    pub(super) fn of(messages: &'m [Message]) -> Self {
        let calls = messages.iter().flat_map(Message::tool_calls);
        Self(calls.map(|it| (it.id.as_str(), it)).collect())
    }

    /// The call that a result answers.
    pub(super) fn call(&self, result: &ToolResult) -> Option<&'m ToolCall> {
        self.0.get(result.call_id.as_str()).copied()
    }

    /// The name of the tool that a result is of: its own, else that of its call.
    pub(super) fn of_result<'a>(&'a self, result: &'a ToolResult) -> &'a str {
        let own = result.name.as_deref().filter(|it| !it.is_empty());
        own.or_else(|| self.call(result).map(|it| it.name.as_str())).unwrap_or("unknown")
    }
}

/// The role of most stores, which know no developer.
pub(super) fn role(message: &Message) -> &str {
    if message.role.is_system() { "system" } else { message.role.as_str() }
}

/// Whether a role is one that stores have.
pub(super) fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant
}

/// An image or a file.
pub(super) struct Media<'m> {
    pub(super) media_type: &'m str,
    /// Base64.
    pub(super) data: Option<Cow<'m, str>>,
    pub(super) url: Option<&'m str>,
    pub(super) filename: Option<&'m str>,
}

impl<'m> Media<'m> {
    /// Of an image or a file; none of other parts.
    pub(super) fn of(part: &'m Part) -> Option<Self> {
        let (media_type, source, url, filename, usual) = match part {
            Part::Image(it) => (&it.media_type, it.url.as_deref(), None, None, "image/png"),
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
        let media_type = media_type.as_deref().or(inline.map(|it| it.0)).unwrap_or(usual);
        // Some formats keep a document of text as it is.
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

    /// Its URL, or one that holds its data.
    pub(super) fn as_url(&self) -> String {
        match (&self.data, self.url) {
            (Some(data), _) => format!("data:{};base64,{data}", self.media_type),
            (None, url) => url.unwrap_or_default().to_owned(),
        }
    }

    /// Its data, or its URL where it has none.
    pub(super) fn source(&self) -> &str {
        self.data.as_deref().or(self.url).unwrap_or_default()
    }
}

/// Whether a text is base64.
pub(super) fn is_base64(text: &str) -> bool {
    BASE64_STANDARD.decode(text).is_ok()
}

/// What a provider sealed, in a member that holds an object a provider (`providerOptions`, `providerMetadata`).
pub(super) fn write_seal(it: &mut Writer<'_>, member: &str, part: &Part) {
    let (signature, redacted, encrypted) = match part {
        Part::Reasoning(it) => (&it.signature, &it.redacted, &it.encrypted),
        _ => return,
    };
    if signature.is_none() && redacted.is_none() && encrypted.is_none() {
        return;
    }
    it.key(member).object(|it| match encrypted {
        Some(encrypted) => it.key("openai").object(|it| {
            it.key("reasoningEncryptedContent").str(encrypted);
        }),
        None => it.key("anthropic").object(|it| {
            if let Some(signature) = signature {
                it.key("signature").str(signature);
            }
            if let Some(redacted) = redacted {
                it.key("redactedData").str(redacted);
            }
        }),
    });
}

/// The JSON that a text is, if that is an object.
pub(super) fn object_in(text: &str) -> Option<String> {
    (classify(text) == TextState::Object).then(|| in_a_line(text.trim()).into_owned())
}
