//! Media types, and the `data:` URLs that carry them: what the inline data of wire formats and the model's one member
//! for it are turned into each other with (AN-10, AN-11, GE-9, RQ-39).
//!
//! ```text
//! {"media_type":"image/png","data":"iVBO…"}   data:image/png;base64,iVBO…
//! https://a.b/c.png                           image/png, by its extension
//! JVBERi0xLjQK                                application/pdf, by its first bytes
//! ```

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Inline data: its type, and base64 of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataUrl<'a> {
    /// The media type, with its parameters.
    pub media_type: &'a str,
    /// Base64, as it came.
    pub data: &'a str,
}

impl<'a> DataUrl<'a> {
    /// The parts of a base64 data URL; none of any other text.
    #[must_use]
    pub fn parse(url: &'a str) -> Option<Self> {
        let (head, data) = strip_scheme(url)?.split_once(',')?;
        let (media_type, mark) = head.split_at_checked(head.len().checked_sub(BASE64.len())?)?;
        mark.eq_ignore_ascii_case(BASE64).then_some(Self { media_type, data })
    }

    /// Inline data as models have it: a data URL, or bare base64 of the type that is said of it, else of the type that
    /// its first bytes say (AN-11, RQ-39). None of text that is not base64.
    #[must_use]
    pub fn of(data: &'a str, media_type: Option<&'a str>) -> Option<Self> {
        if Self::is(data) {
            return Self::parse(data);
        }
        if !is_base64(data) {
            return None;
        }
        Some(Self { media_type: media_type.or_else(|| media_type_of_data(data))?, data })
    }

    /// Whether a text is a data URL of any kind.
    #[must_use]
    pub fn is(url: &str) -> bool {
        strip_scheme(url).is_some()
    }

    /// A text as a base64 data URL of type `text/plain`.
    #[must_use]
    pub fn from_text(text: &str) -> String {
        format!("data:text/plain;base64,{}", BASE64_STANDARD.encode(text))
    }

    /// The URL; none if another one would come back, as of a media type with a comma in it.
    #[must_use]
    pub fn url(self) -> Option<String> {
        let url = format!("data:{};base64,{}", self.media_type, self.data);
        let is_same = DataUrl::parse(&url) == Some(self);
        is_same.then_some(url)
    }

    /// The media type without parameters, in lower case.
    #[must_use]
    pub fn essence(self) -> String {
        let essence = self.media_type.split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    }

    /// The data as text, if it is base64 of UTF-8 whose canonical base64 is this.
    #[must_use]
    pub fn text(self) -> Option<String> {
        let bytes = BASE64_STANDARD.decode(self.data).ok()?;
        String::from_utf8(bytes).ok()
    }
}

/// What is before the comma of a data URL in base64.
const BASE64: &str = ";base64";

fn strip_scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_at_checked(5)?;
    scheme.eq_ignore_ascii_case("data:").then_some(rest)
}

/// Whether a text has the characters of base64 only, line breaks and the URL-safe ones included.
pub(crate) fn is_base64(text: &str) -> bool {
    let is_one = |it: u8| {
        it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'=' | b'-' | b'_' | b'\r' | b'\n')
    };
    text.bytes().all(is_one)
}

/// Data in the alphabet of URLs or in lines as all providers take it, padded; none of other text. The SDK of Gemini for
/// Python writes the alphabet of URLs.
///
/// ```
/// assert_eq!(msg_codec::standard_base64("_9j_4A").as_deref(), Some("/9j/4A=="));
/// assert_eq!(msg_codec::standard_base64("/9j/4A=="), None);
/// ```
#[must_use]
pub fn standard_base64(data: &str) -> Option<String> {
    let is_other = |it: u8| matches!(it, b'-' | b'_' | b'\r' | b'\n');
    if !data.bytes().any(is_other) || !is_base64(data) {
        return None;
    }
    let mut res = data.replace('-', "+").replace('_', "/");
    res.retain(|it| !matches!(it, '\r' | '\n' | '='));
    res.extend(std::iter::repeat_n('=', (4 - res.len() % 4) % 4));
    Some(res)
}

/// A media type in lower case, its parameters as they came.
pub(crate) fn lower_type(media_type: &str) -> String {
    let (essence, parameters) =
        media_type.split_at(media_type.find(';').unwrap_or(media_type.len()));
    format!("{}{parameters}", essence.trim().to_ascii_lowercase())
}

/// What kind of medium a media type is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// `image/…`
    Image,
    /// `audio/…`
    Audio,
    /// `video/…`
    Video,
    /// Everything else.
    Document,
}

impl MediaKind {
    /// The kind of a media type.
    ///
    /// ```
    /// use msg_codec::MediaKind;
    ///
    /// assert_eq!(MediaKind::of("Video/mp4"), MediaKind::Video);
    /// assert_eq!(MediaKind::of("application/pdf"), MediaKind::Document);
    /// ```
    #[must_use]
    pub fn of(media_type: &str) -> Self {
        let is = |prefix: &str| {
            media_type
                .split_at_checked(prefix.len())
                .is_some_and(|it| it.0.eq_ignore_ascii_case(prefix))
        };
        match () {
            () if is("image/") => Self::Image,
            () if is("audio/") => Self::Audio,
            () if is("video/") => Self::Video,
            () => Self::Document,
        }
    }

    /// Its name: `image`, `audio`, `video`, `document`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::Document => "document",
        }
    }
}

/// The media type of an audio format: `audio/mp3` of `mp3`.
#[must_use]
pub fn media_type_of_audio(format: &str) -> String {
    format!("audio/{format}")
}

/// The audio format that a media type says, in the model's word: `mp3` for `audio/mpeg`. None for what is not sound.
#[must_use]
pub fn audio_format(media_type: &str) -> Option<&str> {
    if MediaKind::of(media_type) != MediaKind::Audio {
        return None;
    }
    let subtype = &media_type["audio/".len()..];
    let is = |words: [&str; 2]| words.iter().any(|it| it.eq_ignore_ascii_case(subtype));
    Some(match () {
        () if is(["wav", "x-wav"]) => "wav",
        () if is(["mp3", "mpeg"]) => "mp3",
        () => subtype,
    })
}

/// The media type that the first bytes of base64 say; none if they are of no known type.
///
/// ```
/// assert_eq!(msg_codec::media_type_of_data("JVBERi0xLjQK"), Some("application/pdf"));
/// assert_eq!(msg_codec::media_type_of_data("aGVsbG8="), None);
/// ```
#[must_use]
pub fn media_type_of_data(base64: &str) -> Option<&'static str> {
    // 16 bytes hold all that is compared.
    const START: usize = 24;
    let n = base64.len().min(START) / 4 * 4;
    let bytes = BASE64_STANDARD.decode(base64.get(..n)?).ok()?;
    let at =
        |place: usize, magic: &[u8]| bytes.get(place..).is_some_and(|it| it.starts_with(magic));
    let all: [(&[u8], &str); 11] = [
        (b"%PDF", "application/pdf"),
        (b"\x89PNG", "image/png"),
        (b"\xFF\xD8\xFF", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"ID3", "audio/mp3"),
        (b"\xFF\xFB", "audio/mp3"),
        (b"\xFF\xF3", "audio/mp3"),
        (b"\xFF\xF2", "audio/mp3"),
        (b"OggS", "audio/ogg"),
        (b"fLaC", "audio/flac"),
        (b"\x1A\x45\xDF\xA3", "video/webm"),
    ];
    match () {
        () if at(0, b"RIFF") && at(8, b"WEBP") => Some("image/webp"),
        () if at(0, b"RIFF") && at(8, b"WAVE") => Some("audio/wav"),
        () if at(4, b"ftyp") => Some(match bytes.get(8..12) {
            Some(b"M4A ") => "audio/m4a",
            Some(b"qt  ") => "video/quicktime",
            Some(b"avif") => "image/avif",
            Some(b"heic") => "image/heic",
            _ => "video/mp4",
        }),
        () => all.iter().find(|it| at(0, it.0)).map(|it| it.1),
    }
}

/// The media type that the extension of a URL's path says.
///
/// ```
/// assert_eq!(msg_codec::media_type_of_url("https://a.b/c.PNG?size=2"), Some("image/png"));
/// assert_eq!(msg_codec::media_type_of_url("https://example.zip"), None);
/// ```
#[must_use]
pub fn media_type_of_url(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let name = path.rsplit('/').next()?;
    // The text directly after the scheme is a host, whose last label is not an extension.
    let is_host = path.split_once("://").is_some_and(|(_, rest)| rest == name);
    let (_, extension) = name.rsplit_once('.').filter(|_| !is_host)?;
    EXTENSIONS.iter().find(|it| it.0.eq_ignore_ascii_case(extension)).map(|it| it.1)
}

/// Media types by extension, as the Gemini API documents them.
const EXTENSIONS: [(&str, &str); 45] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("webp", "image/webp"),
    ("gif", "image/gif"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("bmp", "image/bmp"),
    ("svg", "image/svg+xml"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("avif", "image/avif"),
    ("pdf", "application/pdf"),
    ("json", "application/json"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("xml", "text/xml"),
    ("rtf", "text/rtf"),
    ("js", "text/javascript"),
    ("py", "text/x-python"),
    ("wav", "audio/wav"),
    ("mp3", "audio/mp3"),
    ("aiff", "audio/aiff"),
    ("aac", "audio/aac"),
    ("ogg", "audio/ogg"),
    ("oga", "audio/ogg"),
    ("flac", "audio/flac"),
    ("m4a", "audio/m4a"),
    ("opus", "audio/opus"),
    ("mp4", "video/mp4"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("mov", "video/quicktime"),
    ("avi", "video/x-msvideo"),
    ("flv", "video/x-flv"),
    ("webm", "video/webm"),
    ("wmv", "video/x-ms-wmv"),
    ("3gp", "video/3gpp"),
    ("mkv", "video/x-matroska"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("zip", "application/zip"),
];
