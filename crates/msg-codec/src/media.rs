//! Media in the form that the writer of another family expects (RQ-39 to RQ-41): links are links, base64 has its type,
//! and a file is an image or a sound where its type says so.
//!
//! ```text
//! file  data: https://a.b/r.pdf      file  url: https://a.b/r.pdf
//! file  data: JVBERi0xLjQK           file  data: data:application/pdf;base64,JVBERi0xLjQK
//! file  data: data:image/png;…       image url: data:image/png;…     (chat, Responses, Anthropic)
//! image url: DATA:IMAGE/PNG;BASE64,… image url: data:image/png;…
//! image url: data:application/pdf;…  file  data: data:application/pdf;…
//! file  url: https://youtu.be/x      a part without a source         (families without video)
//! ```

use msg_core::{Audio, Code, Diagnostic, File, Image, Message, Part, Report};

use crate::media_type::{
    DataUrl, MediaKind, audio_format, is_base64, lower_type, media_type_of_audio,
    media_type_of_data, media_type_of_url, standard_base64,
};

/// Which media the messages of a family hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaPlaces {
    /// Video has a place.
    video: bool,
    /// The formats of sound that have a place; none if all of them have one.
    audio: Option<&'static [&'static str]>,
    /// Images and sounds have parts of their own, apart from files.
    by_kind: bool,
}

impl MediaPlaces {
    /// OpenAI's Chat Completions and Responses.
    pub const OPENAI: Self = Self { video: false, audio: Some(&["wav", "mp3"]), by_kind: true };
    /// Anthropic's Messages.
    pub const ANTHROPIC: Self = Self { video: false, audio: Some(&[]), by_kind: true };
    /// Gemini and Bedrock, whose writers choose the place by the media type.
    pub const ALL: Self = Self { video: true, audio: None, by_kind: false };
}

/// Gives the media of messages the form that the writer of a family expects (RQ-39 to RQ-41). The source of a medium
/// that has no place there is removed, so that the writer reports the part as lost. Reports members that a new form
/// cannot hold. Linear.
///
/// ```
/// use msg_codec::{MediaPlaces, settle_media};
/// use msg_core::{File, Message, Part, Role};
///
/// let file = File { data: Some("https://a.b/r.pdf".to_owned()), ..File::default() };
/// let mut chat = [Message::new(Role::User).with_part(Part::File(file))];
/// assert!(settle_media(&mut chat, MediaPlaces::OPENAI).is_empty());
/// let Part::File(file) = &chat[0].parts[0] else { unreachable!() };
/// assert_eq!((file.url.as_deref(), &file.data), (Some("https://a.b/r.pdf"), &None));
/// ```
pub fn settle_media(messages: &mut [Message], places: MediaPlaces) -> Report {
    let mut report = Report::new();
    for (at, message) in messages.iter_mut().enumerate() {
        for (place, part) in message.parts.iter_mut().enumerate() {
            let lost: Vec<_> = match part {
                Part::ToolResult(it) if it.content.parts().iter().any(is_medium) => {
                    it.content.parts_mut().iter_mut().filter_map(|it| settle(it, places)).collect()
                }
                it => settle(it, places).into_iter().collect(),
            };
            for text in lost {
                let it = Diagnostic::warning(Code::new("convert::lost-member"), text);
                report.push(it.at_part(at, place));
            }
        }
    }
    report
}

fn is_medium(it: &Part) -> bool {
    matches!(it, Part::Image(_) | Part::Audio(_) | Part::File(_))
}

/// What a part loses by its new form, as a sentence.
type Lost = Option<&'static str>;

const NAME: Lost = Some("an image or a sound has no place for filename");
const DETAIL: Lost = Some("a file has no place for detail");

/// Settles one part.
fn settle(part: &mut Part, places: MediaPlaces) -> Lost {
    let lost = match part {
        Part::Image(it) => {
            settle_image(it);
            let url = it.url.as_deref().and_then(DataUrl::parse);
            // A document or a video that is called an image.
            if url.is_none_or(|it| is_unknown(it.media_type) || is_image(it.media_type)) {
                return None;
            }
            let lost = if it.detail.is_some() { DETAIL } else { None };
            let (data, extra) = (it.url.take(), it.extra.clone());
            *part = Part::File(File { data, extra, ..File::default() });
            lost
        }
        Part::Audio(it) => {
            settle_audio(it, places);
            None
        }
        _ => None,
    };
    let Part::File(it) = part else { return lost };
    settle_file(it);
    let kind = kind_of(it);
    let is_kept = match kind {
        MediaKind::Video => places.video,
        MediaKind::Audio if it.data.is_none() => places.audio.is_none(),
        _ => true,
    };
    if !is_kept {
        *it = File { file_id: it.file_id.take(), ..File::default() };
    } else if places.by_kind && it.file_id.is_none() {
        return retype(part, kind, places).or(lost);
    }
    lost
}

fn is_image(media_type: &str) -> bool {
    MediaKind::of(media_type) == MediaKind::Image
}

/// Whether a type says nothing about the bytes.
fn is_unknown(media_type: &str) -> bool {
    media_type.is_empty() || media_type.eq_ignore_ascii_case("application/octet-stream")
}

fn settle_image(it: &mut Image) {
    // A link to nothing is none.
    it.url.take_if(|it| it.is_empty());
    let Some(url) = &it.url else { return };
    if let Some(settled) = settled(url, it.media_type.as_deref(), None) {
        it.media_type
            .take_if(|said| DataUrl::parse(&settled).is_some_and(|it| it.media_type == *said));
        it.url = Some(settled);
    }
}

fn settle_audio(it: &mut Audio, places: MediaPlaces) {
    if let Some(url) = it.data.as_deref().and_then(DataUrl::parse) {
        let (format, data) = (audio_format(&url.essence()).map(str::to_owned), url.data.to_owned());
        it.format = it.format.take().or(format);
        it.data = Some(data);
    }
    if let Some(data) = it.data.as_deref().and_then(standard_base64) {
        it.data = Some(data);
    }
    if let (None, Some(data)) = (&it.format, &it.data) {
        it.format = media_type_of_data(data).and_then(audio_format).map(str::to_owned);
    }
    it.format = it.format.take().map(|it| audio_word(&it));
    let is_refused = |format: &str| places.audio.is_some_and(|all| !all.contains(&format));
    if it.format.as_deref().is_some_and(is_refused) {
        it.data = None;
    }
}

/// A format of sound in the model's word: `wav` of `WAV`, `mp3` of `audio/mpeg`.
fn audio_word(format: &str) -> String {
    let media_type = match MediaKind::of(format) {
        MediaKind::Audio => lower_type(format),
        _ if format.bytes().all(|it| it.is_ascii_alphanumeric()) => {
            media_type_of_audio(&format.to_ascii_lowercase())
        }
        _ => return format.to_owned(),
    };
    audio_format(&media_type).unwrap_or(format).to_owned()
}

fn settle_file(it: &mut File) {
    if it.url.is_none() && it.data.as_deref().is_some_and(is_link) {
        it.url = it.data.take();
    }
    let Some(data) = &it.data else { return };
    if let Some(settled) = settled(data, it.media_type.as_deref(), it.filename.as_deref()) {
        it.data = Some(settled);
    }
    let inline = it.data.as_deref().and_then(DataUrl::parse);
    if inline.is_some_and(|url| it.media_type.as_deref() == Some(url.media_type)) {
        it.media_type = None;
    }
}

/// Inline data as all families take it: a data URL of a type in lower case, in standard base64. Its type is the one
/// that is there, else the one that is said, else that of the bytes or of the name (RQ-39). None where that is not
/// known, and of text that is like this already.
fn settled(text: &str, said: Option<&str>, name: Option<&str>) -> Option<String> {
    let outer = match DataUrl::parse(text) {
        Some(it) => it,
        None if DataUrl::is(text) || is_link(text) || !is_base64(text) => return None,
        None => DataUrl { media_type: "", data: text },
    };
    // A whole data URL where a family has base64 only.
    let url = DataUrl::parse(outer.data).unwrap_or(outer);
    let there = [url.media_type, outer.media_type].into_iter().find(|it| !it.is_empty());
    let media_type = there
        .filter(|it| !is_unknown(it))
        .or(said)
        .or_else(|| media_type_of_data(url.data))
        .or_else(|| media_type_of_url(name?))
        .or(there)?;
    let media_type = match is_image(media_type) {
        // An image has no parameters.
        true => DataUrl { media_type, data: "" }.essence(),
        false => lower_type(media_type),
    };
    let data = standard_base64(url.data);
    let data = data.as_deref().unwrap_or(url.data);
    DataUrl { media_type: &media_type, data }.url().filter(|it| it != text)
}

/// Whether a text is a link, which base64 never is.
fn is_link(text: &str) -> bool {
    let scheme = text.split_once("://").map(|it| it.0);
    scheme.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric()))
}

/// What a file is: by its type, else by its link.
fn kind_of(it: &File) -> MediaKind {
    if let Some(url) = it.data.as_deref().and_then(DataUrl::parse) {
        return MediaKind::of(url.media_type);
    }
    let url = it.url.as_deref().unwrap_or_default();
    match it.media_type.as_deref().or_else(|| media_type_of_url(url)) {
        Some(media_type) => MediaKind::of(media_type),
        None if is_video_page(url) => MediaKind::Video,
        None => MediaKind::Document,
    }
}

/// Whether a link is to a video of YouTube, which providers take without a type.
fn is_video_page(url: &str) -> bool {
    let host = url.split_once("://").and_then(|it| it.1.split(['/', '?', '#']).next());
    let host = host.unwrap_or_default();
    host == "youtu.be" || host == "youtube.com" || host.ends_with(".youtube.com")
}

/// Makes an image or a sound of a file that is one.
fn retype(part: &mut Part, kind: MediaKind, places: MediaPlaces) -> Lost {
    let Part::File(it) = part else { return None };
    let lost = if it.filename.is_some() { NAME } else { None };
    let extra = it.extra.clone();
    let new = match kind {
        MediaKind::Image => {
            let url = it.data.take().or_else(|| it.url.take());
            Part::Image(Image { url, extra, ..Image::default() })
        }
        MediaKind::Audio => {
            let url = it.data.as_deref().and_then(DataUrl::parse)?;
            let format = audio_format(&url.essence()).map(str::to_owned);
            let data = Some(url.data.to_owned());
            let mut audio = Audio { data, format, extra, ..Audio::default() };
            settle_audio(&mut audio, places);
            Part::Audio(audio)
        }
        MediaKind::Video | MediaKind::Document => return None,
    };
    *part = new;
    lost
}
