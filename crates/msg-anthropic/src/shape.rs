//! The objects of Anthropic messages: their known members in canonical order (AN-13), the variants
//! in which real sources have them, and the types of their members (MS-29); and what
//! a reasoning part is as a block: thinking, signed or not, or sealed (AN-7).

use std::borrow::Cow;

use msg_codec::codec::{Parts, Shape, Want, Wants};
use msg_core::{Origin, Reasoning};
use msg_json::to_text;

pub(crate) const ANTHROPIC: Origin = Origin::Anthropic;

/// A content block: `type` comes first in all.
pub(crate) mod block {
    use super::Shape;

    pub(crate) const TYPE: u8 = 1;
    /// The first member after `type`: text, thinking, data, source, id.
    pub(crate) const BODY: u8 = 2;
    pub(crate) const SIGNATURE: u8 = 3;
    pub(crate) const TITLE: u8 = 3;

    pub(crate) const TEXT: Shape = Shape::new(&["type", "text"]);
    pub(crate) const THINKING: Shape = Shape::new(&["type", "thinking", "signature"]);
    pub(crate) const REDACTED: Shape = Shape::new(&["type", "data"]);
    pub(crate) const IMAGE: Shape = Shape::new(&["type", "source"]);
    pub(crate) const DOCUMENT: Shape = Shape::new(&["type", "source", "title"]);

    /// The text was a bare string instead of a block.
    pub(crate) const TYPE_BARE: u8 = 1;
    /// `signature` was `""`, or null.
    pub(crate) const SIGNATURE_EMPTY: u8 = 1;
    pub(crate) const SIGNATURE_NULL: u8 = 2;
}

/// A `tool_use` block.
pub(crate) mod call {
    use super::Shape;

    pub(crate) const ID: u8 = 2;
    pub(crate) const NAME: u8 = 3;
    pub(crate) const INPUT: u8 = 4;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "id", "name", "input"]);
}

/// A `tool_result` block.
pub(crate) mod result {
    use super::Shape;

    pub(crate) const CALL_ID: u8 = 2;
    pub(crate) const CONTENT: u8 = 3;
    pub(crate) const IS_ERROR: u8 = 4;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "tool_use_id", "content", "is_error"]);

    /// `content` was an array of one plain text, or of nothing.
    pub(crate) const CONTENT_ARRAY: u8 = 1;
    /// `content` was null.
    pub(crate) const CONTENT_NULL: u8 = 2;
}

/// The `source` of an image or a document.
pub(crate) mod source {
    use super::Shape;

    pub(crate) const TYPE: u8 = 1;
    pub(crate) const MEDIA_TYPE: u8 = 2;
    pub(crate) const DATA: u8 = 3;

    pub(crate) const INLINE: Shape = Shape::new(&["type", "media_type", "data"]);
    pub(crate) const URL: Shape = Shape::new(&["type", "url"]);
    pub(crate) const FILE: Shape = Shape::new(&["type", "file_id"]);

    /// `type` was `base64` for data that would be written as `text`, or not at all.
    pub(crate) const TYPE_BASE64: u8 = 1;
    /// `type` was `url` though the URL holds the data.
    pub(crate) const TYPE_URL: u8 = 2;
}

// What messages and blocks want each of their members to be (MS-29), as tables: what is meant where a value is of
// another kind.

/// A message.
pub(crate) const MESSAGE: Want = Want::Object(&MESSAGE_MEMBERS);
/// The `content` of a message or a response, and `system`.
pub(crate) const CONTENT: Want = Want::Content(&BLOCKS);

static MESSAGE_MEMBERS: Wants = Wants::new(&[("content", CONTENT)], &[]);

static BLOCKS: Parts = Parts {
    of: |source| Parts::by_type(source, block),
    text,
    may_be_bare: true,
    may_be_text: true,
    may_be_null: true,
    may_be_value: false,
};

/// Results do not nest.
static RESULT_BLOCKS: Parts = Parts {
    of: |source| Parts::by_type(source, |kind| block(kind).filter(|_| kind != "tool_result")),
    text,
    may_be_bare: true,
    may_be_text: true,
    may_be_null: true,
    may_be_value: true,
};

fn text(text: &str) -> String {
    to_text(|it| {
        it.object(|it| {
            it.key("type").str("text");
            it.key("text").str(text);
        });
    })
}

fn block(kind: &str) -> Option<&'static Wants> {
    static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);
    static THINKING: Wants =
        Wants::new(&[("thinking", Want::Text), ("signature", Want::Opaque)], &[&["thinking"]]);
    static REDACTED: Wants = Wants::new(&[("data", Want::Opaque)], &[&["data"]]);
    static IMAGE: Wants = Wants::new(&[("source", Want::Typed(source))], &[&["source"]]);
    static DOCUMENT: Wants = Wants::new(
        &[("source", Want::Typed(source)), ("title", Want::Text), ("context", Want::Text)],
        &[&["source"]],
    );
    static TOOL_USE: Wants = Wants::new(&[("id", Want::Text), ("name", Want::Text)], &[]);
    static TOOL_RESULT: Wants = Wants::new(
        &[
            ("tool_use_id", Want::Text),
            ("content", Want::Content(&RESULT_BLOCKS)),
            ("is_error", Want::Flag),
        ],
        &[],
    );
    Some(match kind {
        "text" => &TEXT,
        "thinking" => &THINKING,
        "redacted_thinking" => &REDACTED,
        "image" => &IMAGE,
        "document" => &DOCUMENT,
        "tool_use" => &TOOL_USE,
        "tool_result" => &TOOL_RESULT,
        _ => return None,
    })
}

fn source(kind: &str) -> Option<&'static Wants> {
    static INLINE: Wants =
        Wants::new(&[("media_type", Want::Opaque), ("data", Want::Opaque)], &[&["data"]]);
    static URL: Wants = Wants::new(&[("url", Want::Opaque)], &[&["url"]]);
    static FILE: Wants = Wants::new(&[("file_id", Want::Opaque)], &[&["file_id"]]);
    Some(match kind {
        "base64" | "text" => &INLINE,
        "url" => &URL,
        "file" => &FILE,
        _ => return None,
    })
}

/// A reasoning part as a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thought<'m> {
    /// `thinking`: a text that may be seen, and what proves it.
    Open { text: Cow<'m, str>, signature: Option<&'m str> },
    /// `redacted_thinking`: the sealed payload.
    Sealed(&'m str),
}

impl<'m> Thought<'m> {
    /// The block of a part. A signature that is empty is none.
    pub(crate) fn of(it: &'m Reasoning) -> Self {
        let signature = it.signature.as_deref().filter(|it| !it.is_empty());
        match (signature, it.redacted.as_deref()) {
            (None, Some(data)) => Self::Sealed(data),
            (signature, _) => Self::Open { text: it.display_text(), signature },
        }
    }

    /// Whether the provider takes it back.
    pub(crate) fn is_signed(&self) -> bool {
        !matches!(self, Self::Open { signature: None, .. })
    }

    /// The members of the part that the block has no place for.
    pub(crate) fn lost(&self, it: &Reasoning) -> impl Iterator<Item = &'static str> {
        let is_sealed = matches!(self, Self::Sealed(_));
        let found = [
            ("text", is_sealed && it.text.is_some()),
            ("summary", it.summary.as_ref().is_some_and(|it| !it.is_empty())),
            ("redacted", !is_sealed && it.redacted.is_some()),
            ("encrypted", it.encrypted.is_some()),
        ];
        found.into_iter().filter(|it| it.1).map(|it| it.0)
    }
}
