//! Rules of an API for texts: base64, the data of a data URL, one of several words.
//!
//! ```text
//! {"type":"input_audio","input_audio":{"data":"aGk=","format":"audio/mpeg"}}
//!   ─▶ `….format` is `audio/mpeg`, expected 'wav', 'mp3': set to mp3
//! ```

use std::borrow::Cow;

use msg_codec::DataUrl;
use msg_json::Kind;

use super::breach::Breach;
use super::json_text::{is_base64, is_data, is_sound_url, is_url, text};
use super::missing::Insertion;
use super::table::{Path, Type};
use super::walk::Walk;

impl<'a> Walk<'a> {
    pub(super) fn base64(&mut self, json: &str) {
        let data = text(json).unwrap_or_default();
        if is_base64(&data) {
            return;
        }
        let sentence = match data.starts_with("data:") {
            true => format!("`{}` is a data URL, expected its base64 alone", self.path),
            false => format!("`{}` is not base64", self.path),
        };
        // The answer in the table is OpenAI's for images.
        let answer = if self.path.ends_with("input_audio.data") { "" } else { "base64" };
        let it = self.breach(answer, "profile::shape", sentence);
        let inner = json.trim_matches('"');
        let alone = inner.split_once(";base64,").filter(|_| inner.starts_with("data:"));
        let alone = alone.filter(|it| is_base64(it.1)).map(|it| it.1);
        let insertions = alone.map(|it| Insertion::instead(self.source.json, json, it));
        self.report(Breach { insertions: insertions.into_iter().collect(), ..it });
    }

    /// Checks a text that must be one of these words.
    pub(super) fn word(&mut self, words: &[&str], json: &'a str) {
        // Gemini's words are upper case; its clients use any case.
        let is_any_case = self.api.path == Path::Snake;
        let is = |it: &str, told: &str| it == told || is_any_case && it.eq_ignore_ascii_case(told);
        let Some(told) = text(json).filter(|told| !words.iter().any(|it| is(it, told))) else {
            return;
        };
        let joint = if self.api.path == Path::Dots { " or " } else { ", " };
        let kinds = words.iter().map(|it| format!("'{it}'")).collect::<Vec<_>>().join(joint);
        let sentence = match told.is_empty() {
            true => format!("`{}` is empty, expected {kinds}", self.path),
            false => format!("`{}` is `{told}`, expected {kinds}", self.path),
        };
        let meant = meant(&told, words);
        let written = meant.map(|it| Insertion::instead(self.source.json, json, it));
        let it = self.breach("word", "profile::shape", sentence);
        let (value, default) = (told.into_owned(), meant.map(str::to_owned));
        self.report(Breach {
            value,
            kinds,
            default,
            insertions: written.into_iter().collect(),
            ..it
        });
    }

    /// Checks a text that must contain a JSON object.
    pub(super) fn json_text(&mut self, json: &str) {
        let told = text(json).unwrap_or_default();
        let is_object = told.trim_start().starts_with('{') && msg_json::validate(&told).is_ok();
        if !is_object {
            let sentence = format!("`{}` must be the JSON of an object", self.path);
            let it = self.breach("", "profile::shape", sentence);
            self.report(it);
        }
    }

    /// Checks base64, alone or in a data URL.
    pub(super) fn data(&mut self, json: &str) {
        if text(json).is_some_and(|it| !is_data(&it)) {
            let sentence = format!("`{}` is not base64 or a data URL of it", self.path);
            let it = self.breach("base64", "profile::shape", sentence);
            self.report(Breach { answer: "", ..it });
        }
    }

    /// Checks a URL, and the data of a data URL. Any other text is refused only by the provider that defines the
    /// format.
    pub(super) fn address(&mut self, json: &str) {
        let Some(url) = text(json) else { return };
        if !is_sound_url(&url) {
            let sentence = format!("the data of `{}` are not base64", self.path);
            let it = self.breach("base64", "profile::shape", sentence);
            return self.report(it);
        }
        if is_url(&url) || !self.scope.is_own {
            return;
        }
        let media_type = DataUrl::type_of_data(&url).filter(|_| is_base64(&url));
        let sentence = match media_type {
            Some(_) => format!("`{}` is base64, expected a data URL of it", self.path),
            None => format!("`{}` is not a URL", self.path),
        };
        let it = self.breach("", "profile::shape", sentence);
        let whole = media_type.map(|it| format!("data:{it};base64,{}", json.trim_matches('"')));
        let insertions = whole.map(|it| Insertion::instead(self.source.json, json, &it));
        self.report(Breach { insertions: insertions.into_iter().collect(), ..it });
    }
}

/// The word that another text means: the only word, or the one for a media type, a file extension or another name.
pub(super) fn meant<'w>(told: &str, words: &[&'w str]) -> Option<&'w str> {
    const OTHER_NAMES: [(&str, &str); 15] = [
        ("any", "required"),
        ("required", "any"),
        ("jpg", "jpeg"),
        ("pjpeg", "jpeg"),
        ("x-png", "png"),
        ("x-wav", "wav"),
        ("wave", "wav"),
        ("mpeg", "mp3"),
        ("plain", "txt"),
        ("markdown", "md"),
        ("htm", "html"),
        ("3gp", "three_gp"),
        ("1hr", "1h"),
        ("60m", "1h"),
        ("3600s", "1h"),
    ];
    if let [word] = words {
        return Some(word);
    }
    let told = told.trim().to_ascii_lowercase();
    let name = told.rsplit(['/', '.']).next().unwrap_or_default();
    let find = |name: &str| words.iter().copied().find(|it| it.eq_ignore_ascii_case(name));
    let other = || OTHER_NAMES.iter().find(|it| it.0 == name).and_then(|it| find(it.1));
    // `HIGH` of `MEDIA_RESOLUTION_HIGH`.
    let ends = |it: &&&str| {
        let before = it.len().checked_sub(name.len()).and_then(|at| it.split_at_checked(at));
        before.is_some_and(|it| it.0.ends_with('_') && it.1.eq_ignore_ascii_case(name))
    };
    let are_names = !name.is_empty() && !words.iter().any(|it| it.contains(char::is_lowercase));
    let longer = || words.iter().filter(|_| are_names).filter(ends);
    find(name).or_else(other).or_else(|| longer().min_by_key(|it| it.len()).copied())
}

/// The number or boolean in a text, if only that type is allowed.
pub(super) fn said_as_text(wanted: &Type, json: &str) -> Option<Cow<'static, str>> {
    let [kind] = wanted.kinds()[..] else { return None };
    let said = text(json)?;
    let said = said.trim();
    let is_number = || said.parse::<f64>().is_ok() && msg_json::validate(said).is_ok();
    match (kind, said.to_ascii_lowercase().as_str()) {
        (Kind::Bool, "true") => Some("true".into()),
        (Kind::Bool, "false") => Some("false".into()),
        (Kind::Number, _) if is_number() => Some(said.to_owned().into()),
        _ => None,
    }
}
