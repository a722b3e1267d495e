//! The objects of interactions: their known members in canonical order, the variants in which real sources
//! have them, and the types of their members (MS-29).

use msg_codec::codec::{Found, Mended, Parts, Shape, Want, Wants, type_of};
use msg_core::Origin;
use msg_json::{Reader, to_text};

pub(crate) const INTERACTIONS: Origin = Origin::Interactions;

/// The member that tells steps and contents apart, the first of all.
pub(crate) const TYPE: u8 = 1;

/// A step that holds contents: `user_input`, `model_output`; and a turn of the schema before May 2026.
pub(crate) mod held {
    use super::Shape;

    pub(crate) const CONTENT: u8 = 2;

    pub(crate) const STEP: Shape = Shape::new(&["type", "content"]);
    pub(crate) const TURN: Shape = Shape::new(&["role", "content"]);

    /// It was a turn, told by its role.
    pub(crate) const IS_TURN: u8 = 1;
    /// The contents came without a step around them.
    pub(crate) const IS_BARE: u8 = 2;

    /// `content` was one object.
    pub(crate) const CONTENT_ONE: u8 = 1;
    /// `content` was a string.
    pub(crate) const CONTENT_TEXT: u8 = 2;
    /// `content` was null.
    pub(crate) const CONTENT_NULL: u8 = 3;
    /// `content` was a number, `true` or `false`, which its text is.
    pub(crate) const CONTENT_VALUE: u8 = 4;
}

/// A `text`.
pub(crate) mod text {
    use super::Shape;

    pub(crate) const TEXT: u8 = 2;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "text"]);

    /// It was a string instead of an object: what the reader of all formats leaves.
    pub(crate) const BARE: u8 = 1;
}

/// An `image`, `audio`, `document` or `video`.
pub(crate) mod media {
    use super::Shape;

    pub(crate) const MIME: u8 = 2;
    pub(crate) const DATA: u8 = 3;
    pub(crate) const URI: u8 = 4;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "mime_type", "data", "uri"]);

    /// The types of such contents.
    pub(crate) const KINDS: [&str; 4] = ["image", "audio", "document", "video"];
}

/// A `thought`.
pub(crate) mod thought {
    use super::Shape;

    pub(crate) const SIGNATURE: u8 = 2;
    pub(crate) const SUMMARY: u8 = 3;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "signature", "summary"]);

    /// `signature` was `""`.
    pub(crate) const SIGNATURE_EMPTY: u8 = 1;
    /// `signature` was null.
    pub(crate) const SIGNATURE_NULL: u8 = 2;
    /// `summary` was null.
    pub(crate) const SUMMARY_NULL: u8 = 1;
}

/// A `function_call`.
pub(crate) mod call {
    use super::Shape;

    pub(crate) const ID: u8 = 2;
    pub(crate) const NAME: u8 = 3;
    pub(crate) const ARGUMENTS: u8 = 4;
    pub(crate) const SIGNATURE: u8 = 5;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "id", "name", "arguments", "signature"]);

    /// `signature` was `""`.
    pub(crate) const SIGNATURE_EMPTY: u8 = 1;
}

/// A `function_result`.
pub(crate) mod result {
    use super::Shape;

    pub(crate) const CALL_ID: u8 = 2;
    pub(crate) const NAME: u8 = 3;
    pub(crate) const RESULT: u8 = 4;
    pub(crate) const IS_ERROR: u8 = 5;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "call_id", "name", "result", "is_error"]);

    /// `result` was null.
    pub(crate) const RESULT_NULL: u8 = 1;
    /// `result` was an array of one plain text, or of nothing.
    pub(crate) const RESULT_ARRAY: u8 = 2;
    /// `result` was JSON that is not an object.
    pub(crate) const RESULT_VALUE: u8 = 3;
}

/// The member of a part's extra that holds the other members of the `model_output` that it began.
pub(crate) const STEP: &str = "step";

// What contents and steps want each of their members to be (MS-29), as tables: what is meant where a value is of
// another kind.

/// What is meant by a content, or by a step that is one part, in which a value is of another kind; none of those whose
/// type is not known in their place.
pub(super) fn mend(source: &str, is_known: impl Fn(&str) -> bool) -> Option<Mended> {
    let kind = type_of(Reader::from_text(source)).ok()??;
    if !is_known(&kind) {
        return None;
    }
    Want::Object(of_type(&kind)?).mend("", source)
}

fn of_type(kind: &str) -> Option<&'static Wants> {
    static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);
    static MEDIUM: Wants = Wants::new(
        &[("mime_type", Want::Opaque), ("data", Want::Opaque), ("uri", Want::Opaque)],
        &[&["data", "uri"]],
    );
    static THOUGHT: Wants =
        Wants::new(&[("signature", Want::Opaque), ("summary", Want::Content(&SUMMARY))], &[]);
    static CALL: Wants = Wants::new(
        &[
            ("id", Want::Text),
            ("name", Want::Name),
            ("arguments", Want::Any),
            ("signature", Want::Opaque),
        ],
        &[&["name"]],
    );
    static RESULT: Wants =
        Wants::new(&[("call_id", Want::Text), ("name", Want::Text), ("is_error", Want::Flag)], &[]);
    Some(match kind {
        "text" => &TEXT,
        "image" | "audio" | "document" | "video" => &MEDIUM,
        "thought" => &THOUGHT,
        "function_call" => &CALL,
        "function_result" => &RESULT,
        _ => return None,
    })
}

/// The texts of a thought.
static SUMMARY: Parts = Parts {
    of: |source| match type_of(Reader::from_text(source)) {
        Ok(Some(kind)) if kind == "text" => of_type(&kind).map_or(Found::Unknown, Found::Known),
        _ => Found::Unknown,
    },
    text: |text| {
        to_text(|it| {
            it.object(|it| {
                it.key("type").str("text");
                it.key("text").str(text);
            });
        })
    },
    may_be_bare: false,
    may_be_text: false,
    may_be_null: true,
    may_be_value: false,
};
