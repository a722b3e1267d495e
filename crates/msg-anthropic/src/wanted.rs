//! What messages and blocks want each of their members to be (MS-29), as tables: what is meant where a value is of
//! another kind.

use msg_codec::codec::{Parts, Want, Wants};
use msg_json::to_text;

/// A message.
pub(crate) const MESSAGE: Want = Want::Object(&MESSAGE_MEMBERS);
/// The `content` of a message or a response, and `system`.
pub(crate) const CONTENT: Want = Want::Content(&BLOCKS);

const fn wants(
    members: &'static [(&'static str, Want)],
    needs: &'static [&'static [&'static str]],
) -> Wants {
    Wants { members, needs, marks: &[], bare: None }
}

static MESSAGE_MEMBERS: Wants = wants(&[("content", CONTENT)], &[]);

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
    static TEXT: Wants = wants(&[("text", Want::Text)], &[&["text"]]);
    static THINKING: Wants =
        wants(&[("thinking", Want::Text), ("signature", Want::Opaque)], &[&["thinking"]]);
    static REDACTED: Wants = wants(&[("data", Want::Opaque)], &[&["data"]]);
    static IMAGE: Wants = wants(&[("source", Want::Typed(source))], &[&["source"]]);
    static DOCUMENT: Wants = wants(
        &[("source", Want::Typed(source)), ("title", Want::Text), ("context", Want::Text)],
        &[&["source"]],
    );
    static TOOL_USE: Wants = wants(&[("id", Want::Text), ("name", Want::Text)], &[]);
    static TOOL_RESULT: Wants = wants(
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
        wants(&[("media_type", Want::Opaque), ("data", Want::Opaque)], &[&["data"]]);
    static URL: Wants = wants(&[("url", Want::Opaque)], &[&["url"]]);
    static FILE: Wants = wants(&[("file_id", Want::Opaque)], &[&["file_id"]]);
    Some(match kind {
        "base64" | "text" => &INLINE,
        "url" => &URL,
        "file" => &FILE,
        _ => return None,
    })
}
