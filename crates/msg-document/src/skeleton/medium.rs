//! Media of chat messages, with only the beginning of their data, for rules about the type of the data.
//!
//! ```text
//! {"url":"data:image/png;base64,iVBORw0KGgoAAAAN…"}   ─▶   image data:image/png;base64,iVBORw0KGgoAAAAN␟
//! ```

use std::borrow::Cow;

use msg_chainast::Profile;
use msg_core::{Audio, File, Image, Part};
use msg_json::Kind;

use super::message::{Names, SeenNames};
use super::{Cursor, LONG, MARK};
use crate::api_shapes::{is_base64, is_data, is_sound_url, is_url};

/// Whether a profile has rules about the whole data of media, or their size.
pub(super) fn judges_data(profile: &Profile) -> bool {
    profile.image_bytes_max > 0 || profile.image_side_max > 0 || profile.many_images > 0
}

/// The medium in a member of a part, with the name of the member. `None` if its form is unusual, or a word or its data
/// are invalid.
pub(super) fn medium<S: Cursor>(
    source: &mut S,
    name: &str,
    names: &mut Names,
) -> Option<(&'static str, Part)> {
    let (name, members, word, words): (_, &[&str], _, &[&str]) = match name {
        "image_url" => ("image_url", &["url"], "detail", &["auto", "low", "high", "original"]),
        "input_audio" => ("input_audio", &["data"], "format", &["wav", "mp3"]),
        _ => ("file", &["file_data", "file_id", "filename"], "", &[]),
    };
    let (mut texts, mut passed) = ([None, None, None], SeenNames::default());
    let mut has_word = word != "format";
    source.object(|source, member| {
        // The reader of documents reports a duplicate member.
        (source.kind()? == Kind::String && passed.is_new(member)).then_some(())?;
        if let Some(at) = members.iter().position(|it| *it == member) {
            let text = source.brief()?;
            (at > 0 || is_sound(name, &text)).then_some(())?;
            texts[at] = Some(beginning(text)?);
            return Some(());
        }
        if member == word {
            has_word = true;
            return words.contains(&&*source.brief()?).then_some(());
        }
        names.other(member);
        source.skip()
    })?;
    part(name, texts).filter(|_| has_word).map(|it| (name, it))
}

/// Whether a text is valid data, or a valid link.
fn is_sound(name: &str, text: &str) -> bool {
    match name {
        "image_url" => is_url(text) && is_sound_url(text),
        "input_audio" => is_base64(text),
        _ => is_data(text),
    }
}

fn part(name: &str, [data, file_id, filename]: [Option<String>; 3]) -> Option<Part> {
    Some(match name {
        "image_url" => Part::Image(Image::from_url(data?)),
        "input_audio" => Part::Audio(Audio { data: Some(data?), ..Audio::default() }),
        _ => {
            data.as_ref().or(file_id.as_ref())?;
            Part::File(File { data, file_id, filename, ..File::default() })
        }
    })
}

/// The beginning of a text, with a mark if it is cut. `None` if the beginning does not tell the type of the data.
fn beginning(text: Cow<'_, str>) -> Option<String> {
    if text.len() < LONG {
        return Some(text.into_owned());
    }
    // A long text may be escaped as in JSON.
    let begin = text.get(..LONG).filter(|it| !it.contains('\\'))?;
    let is_told = !begin.starts_with("data:") || begin[..LONG - DATA].contains(',');
    is_told.then(|| format!("{begin}{MARK}"))
}

/// The bytes of data that are enough to recognise their type.
const DATA: usize = 32;
