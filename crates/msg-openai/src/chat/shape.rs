//! The objects of chat messages: their known members in canonical order (OA-2), and the variants in
//! which real sources have them.

use msg_codec::codec::Shape;

/// A message of any role.
pub(super) mod message {
    use super::Shape;

    pub(crate) const ROLE: u8 = 1;
    pub(crate) const CALL_ID: u8 = 2;
    pub(crate) const NAME: u8 = 3;
    pub(crate) const CONTENT: u8 = 4;
    pub(crate) const REFUSAL: u8 = 5;
    pub(crate) const AUDIO: u8 = 6;
    pub(crate) const CALLS: u8 = 7;
    pub(crate) const REASONING_CONTENT: u8 = 8;
    pub(crate) const REASONING: u8 = 9;
    pub(crate) const THINKING_BLOCKS: u8 = 10;
    pub(crate) const FUNCTION_CALL: u8 = 11;

    pub(crate) const SHAPE: Shape = Shape::new(&[
        "role",
        "tool_call_id",
        "name",
        "content",
        "refusal",
        "audio",
        "tool_calls",
        "reasoning_content",
        "reasoning",
        "thinking_blocks",
        "function_call",
    ]);

    /// `role` was `function`.
    pub(crate) const ROLE_FUNCTION: u8 = 1;
    /// `content` was an array of one plain text, or of nothing.
    pub(crate) const CONTENT_ARRAY: u8 = 1;
    /// `content` was null.
    pub(crate) const CONTENT_NULL: u8 = 2;
    /// `reasoning_content` was the texts of the thinking blocks with nothing between them.
    pub(crate) const REASONING_JOINED: u8 = 1;
}

/// A tool call; a legacy `function_call` is its `function` object alone.
pub(super) mod call {
    use super::Shape;

    pub(crate) const ID: u8 = 1;
    pub(crate) const TYPE: u8 = 2;
    pub(crate) const FUNCTION: u8 = 3;
    pub(crate) const CUSTOM: u8 = 4;
    pub(crate) const EXTRA_CONTENT: u8 = 5;

    pub(crate) const SHAPE: Shape =
        Shape::new(&["id", "type", "function", "custom", "extra_content"]);

    /// `type` was null.
    pub(crate) const TYPE_NULL: u8 = 1;
    /// `function` was null.
    pub(crate) const FUNCTION_NULL: u8 = 1;
    /// The call was the message's `function_call`.
    pub(crate) const FUNCTION_LEGACY: u8 = 2;
}

/// The `function` of a call.
pub(super) mod function {
    use super::Shape;

    pub(crate) const NAME: u8 = 1;
    pub(crate) const ARGUMENTS: u8 = 2;

    pub(crate) const SHAPE: Shape = Shape::new(&["name", "arguments"]);
    /// The `custom` of a call.
    pub(crate) const CUSTOM: Shape = Shape::new(&["name", "input"]);
}

/// A content part: `type`, and the member that the type names.
pub(super) mod part {
    use super::Shape;

    pub(crate) const TYPE: u8 = 1;
    pub(crate) const BODY: u8 = 2;

    pub(crate) const TEXT: Shape = Shape::new(&["type", "text"]);
    pub(crate) const REFUSAL: Shape = Shape::new(&["type", "refusal"]);
    pub(crate) const IMAGE: Shape = Shape::new(&["type", "image_url"]);
    pub(crate) const AUDIO: Shape = Shape::new(&["type", "input_audio"]);
    pub(crate) const FILE: Shape = Shape::new(&["type", "file"]);
    pub(crate) const THINKING: Shape = Shape::new(&["type", "thinking"]);

    /// The part was a bare string (`type`), or was among the contents though its kind has a
    /// member of its own.
    pub(crate) const TYPE_BARE: u8 = 1;
    pub(crate) const TYPE_IN_CONTENT: u8 = 2;
    /// The part was the `refusal` of a message whose kind has none.
    pub(crate) const TYPE_MEMBER: u8 = 3;
    /// The body was a bare string.
    pub(crate) const BODY_STRING: u8 = 1;
}

/// The object inside a content part, or the `audio` of a message.
pub(super) mod body {
    use super::Shape;

    pub(crate) const IMAGE: Shape = Shape::new(&["url", "detail"]);
    pub(crate) const INPUT_AUDIO: Shape = Shape::new(&["data", "format"]);
    pub(crate) const FILE: Shape = Shape::new(&["file_id", "file_data", "filename"]);
    pub(crate) const AUDIO: Shape = Shape::new(&["id", "data", "transcript"]);
}

/// One of the `thinking_blocks`.
pub(super) mod block {
    use super::Shape;

    pub(crate) const TYPE: u8 = 1;
    pub(crate) const TEXT: u8 = 2;
    pub(crate) const SIGNATURE: u8 = 3;

    pub(crate) const THINKING: Shape = Shape::new(&["type", "thinking", "signature"]);
    pub(crate) const REDACTED: Shape = Shape::new(&["type", "data"]);

    /// The block had no signature, which the canonical writer gives no block.
    pub(crate) const TYPE_UNSIGNED: u8 = 1;
}
