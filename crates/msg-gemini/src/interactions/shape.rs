//! The objects of interactions: their known members in canonical order, and the variants in which real sources
//! have them.

use msg_codec::codec::Shape;
use msg_core::Origin;

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

    /// `arguments` were null.
    pub(crate) const ARGUMENTS_NULL: u8 = 1;
    /// `arguments` were a string.
    pub(crate) const ARGUMENTS_TEXT: u8 = 2;
    /// `arguments` were a value that is not an object.
    pub(crate) const ARGUMENTS_VALUE: u8 = 3;
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
    /// `is_error` was false.
    pub(crate) const IS_ERROR_FALSE: u8 = 1;
}

/// The member of a part's extra that holds the other members of the `model_output` that it began.
pub(crate) const STEP: &str = "step";
