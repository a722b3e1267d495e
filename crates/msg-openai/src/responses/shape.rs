//! The objects of Responses items: their known members in canonical order (OA-15), and the variants
//! in which real sources have them.

use msg_core::Origin;

use msg_codec::codec::Shape;

pub(super) const RESPONSES: Origin = Origin::Responses;

/// The member of a part's extra that holds the other members of its item.
pub(super) const ITEM: &str = "item";

/// An item of any type; each type knows some of the members.
pub(super) mod item {
    use super::Shape;

    pub(crate) const TYPE: u8 = 1;
    pub(crate) const ROLE: u8 = 2;
    pub(crate) const CALL_ID: u8 = 3;
    pub(crate) const NAME: u8 = 4;
    pub(crate) const SUMMARY: u8 = 5;
    pub(crate) const CONTENT: u8 = 6;
    pub(crate) const ENCRYPTED: u8 = 7;
    pub(crate) const ARGUMENTS: u8 = 8;
    pub(crate) const INPUT: u8 = 9;
    pub(crate) const OUTPUT: u8 = 10;

    pub(crate) const SHAPE: Shape = Shape::new(&[
        "type",
        "role",
        "call_id",
        "name",
        "summary",
        "content",
        "encrypted_content",
        "arguments",
        "input",
        "output",
    ]);

    /// `content` was a string.
    pub(crate) const CONTENT_STRING: u8 = 1;
    /// `output` was an array of one plain text, or of nothing; null is the other variant.
    pub(crate) const OUTPUT_ARRAY: u8 = 2;
}

/// A content part.
pub(super) mod part {
    use super::Shape;

    pub(crate) const TYPE: u8 = 1;
    pub(crate) const BODY: u8 = 2;

    pub(crate) const TEXT: Shape = Shape::new(&["type", "text"]);
    pub(crate) const REFUSAL: Shape = Shape::new(&["type", "refusal"]);
    pub(crate) const IMAGE: Shape = Shape::new(&["type", "image_url", "file_id", "detail"]);
    pub(crate) const FILE: Shape =
        Shape::new(&["type", "file_id", "file_url", "file_data", "filename"]);
    pub(crate) const AUDIO: Shape = Shape::new(&["type", "input_audio"]);
    pub(crate) const AUDIO_BODY: Shape = Shape::new(&["data", "format"]);

    /// The words for the type of a text; the variant is the place in here from 1.
    pub(crate) const TEXT_TYPES: [&str; 3] = ["input_text", "output_text", "text"];
}

/// Which word the canonical writer has for a text, as its place in [`part::TEXT_TYPES`].
pub(super) fn text_type(is_assistant: bool) -> usize {
    usize::from(is_assistant)
}
