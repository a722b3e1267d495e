//! Media types: those of audio by the word that the model has for them, and those of files by the
//! extension of a path (GE-9). Nothing here looks at bytes.

/// The audio format that a media type says, in the model's word.
pub(crate) fn audio_format(media_type: &str) -> Option<&str> {
    let subtype = strip_prefix(media_type, "audio/")?;
    Some(match () {
        () if is(subtype, &["wav", "x-wav"]) => "wav",
        () if is(subtype, &["mp3", "mpeg"]) => "mp3",
        () => subtype,
    })
}

/// The media type of an audio format.
pub(crate) fn of_audio(format: &str) -> String {
    format!("audio/{format}")
}

/// Whether a media type is that of an image.
pub(crate) fn is_image(media_type: &str) -> bool {
    strip_prefix(media_type, "image/").is_some()
}

/// The type of an interaction's content that holds a file of this media type (GI-6).
pub(crate) fn content_kind(media_type: Option<&str>) -> &'static str {
    let is = |prefix| media_type.is_some_and(|it| strip_prefix(it, prefix).is_some());
    match () {
        () if is("image/") => "image",
        () if is("audio/") => "audio",
        () if is("video/") => "video",
        () => "document",
    }
}

/// The media type that the extension of a URL's path stands for.
pub(crate) fn of_url(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let name = path.rsplit('/').next()?;
    // What stands behind the scheme alone is a host, whose last label is no extension.
    let is_host = path.split_once("://").is_some_and(|(_, rest)| rest == name);
    let (_, extension) = name.rsplit_once('.').filter(|_| !is_host)?;
    EXTENSIONS.iter().find(|it| it.0.eq_ignore_ascii_case(extension)).map(|it| it.1)
}

/// The types that the API documents, by extension.
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

fn is(word: &str, words: &[&str]) -> bool {
    words.iter().any(|it| it.eq_ignore_ascii_case(word))
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}
