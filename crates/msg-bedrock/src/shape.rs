//! A message of Converse: its members in canonical order, and the variants in which real sources have them. What
//! is in its blocks keeps its source where canonical writing would differ (BR-14).

use msg_codec::codec::Shape;
use msg_core::Origin;

pub(crate) const BEDROCK: Origin = Origin::Bedrock;

pub(crate) const ROLE: u8 = 1;
pub(crate) const CONTENT: u8 = 2;

pub(crate) const MESSAGE: Shape = Shape::new(&["role", "content"]);

/// `role` was another spelling: `human`, `ai`.
pub(crate) const ROLE_SPELLED: u8 = 1;
/// `role` was `tool`, which the API does not have.
pub(crate) const ROLE_TOOL: u8 = 2;
/// `content` was a string.
pub(crate) const CONTENT_TEXT: u8 = 1;
/// `content` was null.
pub(crate) const CONTENT_NULL: u8 = 2;

/// The members of which a block has one (BR-3).
pub(crate) const UNION: [&str; 14] = [
    "text",
    "image",
    "document",
    "video",
    "audio",
    "toolUse",
    "toolResult",
    "guardContent",
    "cachePoint",
    "reasoningContent",
    "citationsContent",
    "searchResult",
    "toolAddition",
    "toolRemoval",
];

pub(crate) const CACHE_POINT: &str = "cachePoint";
pub(crate) const GUARD: &str = "guardContent";
pub(crate) const CITATIONS: &str = "citationsContent";
