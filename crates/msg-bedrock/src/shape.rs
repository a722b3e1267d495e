//! What the blocks of Converse are told by, and the types of their members (MS-29). What is in a block keeps its source
//! where canonical writing would differ (BR-14). And the formats that the service
//! model enumerates, with their media types (BR-8).

use msg_codec::codec::{Found, Mended, Parts, Want, Wants};
use msg_core::Origin;
use msg_json::{Kind, Reader, to_text};

use crate::read::Depth;

pub(crate) const BEDROCK: Origin = Origin::Bedrock;

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

// What blocks want each of their members to be (MS-29), as tables: what is meant where a value is of another kind.

/// What is meant by a block in which a value is of another kind; `name` is where it is.
pub(crate) fn mend(name: &str, source: &str, depth: Depth) -> Option<Mended> {
    let Found::Known(wants) = (if depth == Depth::Result { in_result } else { block })(source)
    else {
        return None;
    };
    Want::Object(wants).mend(name, source)
}

static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);

/// What is wanted of a block by the member of the union that it has.
fn block(source: &str) -> Found {
    static CALL: Wants =
        Wants::new(&[("toolUseId", Want::Text), ("name", Want::Name)], &[&["name"]]);
    static USE: Wants = Wants::new(&[("toolUse", Want::Object(&CALL))], &[&["toolUse"]]);
    static ANSWER: Wants = Wants::new(
        &[("toolUseId", Want::Text), ("content", Want::Content(&RESULT))],
        &[&["toolUseId"]],
    );
    static RESULT_BLOCK: Wants =
        Wants::new(&[("toolResult", Want::Object(&ANSWER))], &[&["toolResult"]]);
    match kind(source) {
        Some("text") => Found::Known(&TEXT),
        Some("toolUse") => Found::Known(&USE),
        Some("toolResult") => Found::Known(&RESULT_BLOCK),
        Some(_) => Found::Unknown,
        None => Found::NoPart,
    }
}

/// Results do not nest.
fn in_result(source: &str) -> Found {
    match kind(source) {
        Some("text") => Found::Known(&TEXT),
        Some(_) => Found::Unknown,
        None => Found::NoPart,
    }
}

static RESULT: Parts = Parts {
    of: in_result,
    text: |text| to_text(|it| it.object(|it| it.key("text").str(text))),
    may_be_bare: true,
    may_be_text: true,
    may_be_null: true,
    may_be_value: true,
};

/// The only member of the union that a block has.
fn kind(source: &str) -> Option<&'static str> {
    let (mut reader, mut found) = (Reader::from_text(source), None);
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        let is_null = matches!(reader.peek(), Ok(Kind::Null));
        reader.raw().ok()?;
        let kinds = UNION.into_iter().chain(["json"]);
        if let Some(kind) = kinds.filter(|_| !is_null).find(|it| *it == key.text) {
            found = Some(if found.is_some() { "" } else { kind });
        }
    }
    found
}

/// The kinds of blocks that hold media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    Image,
    Document,
    Video,
    Audio,
}

impl Medium {
    pub(crate) const ALL: [Self; 4] = [Self::Image, Self::Document, Self::Video, Self::Audio];

    /// The member of the union.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Document => "document",
            Self::Video => "video",
            Self::Audio => "audio",
        }
    }

    /// The formats and their media types.
    fn table(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Image => IMAGES,
            Self::Document => DOCUMENTS,
            Self::Video => VIDEOS,
            Self::Audio => AUDIOS,
        }
    }

    /// The media type of a format that the API has.
    pub(crate) fn media_type(self, format: &str) -> Option<&'static str> {
        self.table().iter().find(|it| it.0 == format).map(|it| it.1)
    }
}

/// The block for a media type without parameters, and its format there.
pub(crate) fn of_type(media_type: &str) -> Option<(Medium, &'static str)> {
    let essence = media_type.split(';').next()?.trim().to_ascii_lowercase();
    let essence = match essence.as_str() {
        "image/jpg" => "image/jpeg",
        "audio/x-wav" => "audio/wav",
        "audio/mpeg" => "audio/mp3",
        it => it,
    };
    let find = |kind: Medium| kind.table().iter().find(|it| it.1 == essence).map(|it| (kind, it.0));
    Medium::ALL.into_iter().find_map(find)
}

/// The word of the service for a media type: `docx` for that of Word documents, `mkv` for `video/x-matroska`.
///
/// ```
/// assert_eq!(msg_bedrock::media_format("video/x-matroska"), Some("mkv"));
/// assert_eq!(msg_bedrock::media_format("model/gltf+json"), None);
/// ```
pub fn media_format(media_type: &str) -> Option<&'static str> {
    of_type(media_type).map(|it| it.1)
}

/// The media types that the service calls `format`, of all kinds of blocks.
///
/// ```
/// assert!(msg_bedrock::media_types("mp4").eq(["video/mp4", "audio/mp4"]));
/// ```
pub fn media_types(format: &str) -> impl Iterator<Item = &'static str> {
    Medium::ALL.into_iter().filter_map(move |it| it.media_type(format))
}

/// The block for a link by the extension of its path.
pub(crate) fn of_url(url: &str) -> Option<(Medium, &'static str)> {
    let name = url.split(['?', '#']).next()?.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let extension = match extension.as_str() {
        "jpg" => "jpeg",
        "htm" => "html",
        "3gp" => "three_gp",
        it => it,
    };
    let find =
        |kind: Medium| kind.table().iter().find(|it| it.0 == extension).map(|it| (kind, it.0));
    Medium::ALL.into_iter().find_map(find)
}

const IMAGES: &[(&str, &str)] =
    &[("png", "image/png"), ("jpeg", "image/jpeg"), ("gif", "image/gif"), ("webp", "image/webp")];

const DOCUMENTS: &[(&str, &str)] = &[
    ("pdf", "application/pdf"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("html", "text/html"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
];

const VIDEOS: &[(&str, &str)] = &[
    ("mkv", "video/x-matroska"),
    ("mov", "video/quicktime"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("flv", "video/x-flv"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpg"),
    ("wmv", "video/x-ms-wmv"),
    ("three_gp", "video/3gpp"),
];

const AUDIOS: &[(&str, &str)] = &[
    ("mp3", "audio/mp3"),
    ("opus", "audio/opus"),
    ("wav", "audio/wav"),
    ("aac", "audio/aac"),
    ("flac", "audio/flac"),
    ("mp4", "audio/mp4"),
    ("ogg", "audio/ogg"),
    ("mkv", "audio/mkv"),
    ("mka", "audio/mka"),
    ("x-aac", "audio/x-aac"),
    ("m4a", "audio/m4a"),
    ("mpeg", "audio/mpeg"),
    ("mpga", "audio/mpga"),
    ("pcm", "audio/pcm"),
    ("webm", "audio/webm"),
];
