//! The objects of Gemini contents: their known members in canonical order (GE-12) and in both spellings
//! (GE-2), and the variants in which real sources have them.

use msg_codec::codec::Shape;
use msg_core::Origin;

pub(crate) const GEMINI: Origin = Origin::Gemini;

/// A content.
pub(crate) mod content {
    use super::Shape;

    pub(crate) const ROLE: u8 = 1;
    pub(crate) const PARTS: u8 = 2;

    pub(crate) const SHAPE: Shape = Shape::new(&["role", "parts"]);

    /// `role` was `""`, which is a user.
    pub(crate) const ROLE_EMPTY: u8 = 1;
    /// `role` was the word that the model has for it: `assistant`, `tool`, `system`.
    pub(crate) const ROLE_OWN: u8 = 2;
    /// `role` was null.
    pub(crate) const ROLE_NULL: u8 = 3;
    /// `role` was `user`, though the message has another.
    pub(crate) const ROLE_USER: u8 = 4;
    /// `role` was `model`, though the message has another.
    pub(crate) const ROLE_MODEL: u8 = 5;
    /// `role` was `function`.
    pub(crate) const ROLE_FUNCTION: u8 = 6;
    /// `human` or `ai`.
    pub(crate) const ROLE_SPELLED: u8 = 7;

    /// `parts` was null.
    pub(crate) const PARTS_NULL: u8 = 1;
    /// `parts` was the only part.
    pub(crate) const PARTS_ONE: u8 = 2;
    /// The only part, a bare string, came without a content around it.
    pub(crate) const PARTS_BARE: u8 = 3;
}

/// A part: the object or text that names its kind comes first in all.
pub(crate) mod part {
    use super::Shape;

    /// The member that names the kind.
    pub(crate) const DATA: u8 = 1;
    pub(crate) const THOUGHT: u8 = 2;
    pub(crate) const SIGNATURE: u8 = 3;

    const fn shape(names: &'static [&'static str], aliases: &'static [&'static str]) -> Shape {
        Shape::with_aliases(names, aliases)
    }

    macro_rules! part {
        ($name:literal, $alias:literal) => {
            shape(
                &[
                    $name,
                    "thought",
                    "thoughtSignature",
                    "videoMetadata",
                    "mediaResolution",
                    "partMetadata",
                ],
                &[
                    $alias,
                    "",
                    "thought_signature",
                    "video_metadata",
                    "media_resolution",
                    "part_metadata",
                ],
            )
        };
    }

    pub(crate) const TEXT: Shape = part!("text", "");
    pub(crate) const CALL: Shape = part!("functionCall", "function_call");
    pub(crate) const RESPONSE: Shape = part!("functionResponse", "function_response");
    pub(crate) const INLINE: Shape = part!("inlineData", "inline_data");
    pub(crate) const FILE: Shape = part!("fileData", "file_data");

    /// The members of which exactly one makes a part (GE-4), in both spellings.
    pub(crate) const KINDS: [(&str, &str); 9] = [
        ("text", "text"),
        ("inlineData", "inline_data"),
        ("fileData", "file_data"),
        ("functionCall", "function_call"),
        ("functionResponse", "function_response"),
        ("executableCode", "executable_code"),
        ("codeExecutionResult", "code_execution_result"),
        ("toolCall", "tool_call"),
        ("toolResponse", "tool_response"),
    ];

    /// The text was a bare string instead of a part.
    pub(crate) const DATA_BARE: u8 = 1;
}

/// A `functionCall`.
pub(crate) mod call {
    use super::Shape;

    pub(crate) const ID: u8 = 1;
    pub(crate) const NAME: u8 = 2;
    pub(crate) const ARGS: u8 = 3;

    pub(crate) const SHAPE: Shape = Shape::new(&["id", "name", "args"]);

    /// `args` was null.
    pub(crate) const ARGS_NULL: u8 = 1;
    /// `args` was a value that is not an object.
    pub(crate) const ARGS_VALUE: u8 = 2;
    /// `args` was a string.
    pub(crate) const ARGS_STRING: u8 = 3;
}

/// A `functionResponse`.
pub(crate) mod response {
    use super::Shape;

    pub(crate) const ID: u8 = 1;
    pub(crate) const NAME: u8 = 2;
    pub(crate) const RESPONSE: u8 = 3;
    pub(crate) const PARTS: u8 = 4;

    pub(crate) const SHAPE: Shape = Shape::new(&["id", "name", "response", "parts"]);

    /// `response` was null.
    pub(crate) const RESPONSE_NULL: u8 = 1;
    /// `response` was a value that is not an object.
    pub(crate) const RESPONSE_VALUE: u8 = 2;
}

/// An `inlineData`, or a `fileData`.
pub(crate) mod media {
    use super::Shape;

    pub(crate) const MIME: u8 = 1;
    /// The base64, or the URI.
    pub(crate) const DATA: u8 = 2;
    pub(crate) const NAME: u8 = 3;

    pub(crate) const INLINE: Shape = Shape::with_aliases(
        &["mimeType", "data", "displayName"],
        &["mime_type", "", "display_name"],
    );
    pub(crate) const FILE: Shape = Shape::with_aliases(
        &["mimeType", "fileUri", "displayName"],
        &["mime_type", "file_uri", "display_name"],
    );
}
