//! Images, audio and files (MS-3). Payloads and URLs stay text as they came; nothing is decoded.

use crate::Extra;

/// An image, by `url` (a `data:` URL included) or by `file_id`; one of the two is set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Image {
    /// Where it is, or the `data:` URL that holds it, untouched.
    pub url: Option<String>,
    /// The provider's id of an uploaded image.
    pub file_id: Option<String>,
    /// MIME type, where the source says it beside the URL.
    pub media_type: Option<String>,
    /// How closely the model shall look: `low`, `high`, `auto` …
    pub detail: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

impl Image {
    /// An image by URL.
    pub fn from_url(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::default() }
    }
}

/// Sound: a reply of a model by `id`, or input in base64.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Audio {
    /// The id of a model's spoken reply.
    pub id: Option<String>,
    /// Base64 of the sound.
    pub data: Option<String>,
    /// `wav`, `mp3` …
    pub format: Option<String>,
    /// What was said.
    pub transcript: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}

/// A document, by id, by URL or inline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File {
    /// The provider's id of an uploaded file.
    pub file_id: Option<String>,
    /// Where it is.
    pub url: Option<String>,
    /// Base64 of its bytes, or a `data:` URL.
    pub data: Option<String>,
    /// Its name.
    pub filename: Option<String>,
    /// MIME type.
    pub media_type: Option<String>,
    /// Members that the source had and this model does not know.
    pub extra: Extra,
}
