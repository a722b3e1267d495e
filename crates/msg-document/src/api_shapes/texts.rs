//! What an API wants of a text: base64, the data of a data URL, one of a few words.
//!
//! ```text
//! {"type":"input_audio","input_audio":{"data":"aGk=","format":"audio/mpeg"}}
//!   ─▶ `….format` is `audio/mpeg`, expected 'wav', 'mp3': set to mp3
//! ```

use super::breach::Breach;
use super::json_text::{is_base64, text};
use super::missing::Insertion;
use super::table::Path;
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
        let it = self.breach("base64", "profile::shape", sentence);
        let inner = json.trim_matches('"');
        let alone = inner.split_once(";base64,").filter(|_| inner.starts_with("data:"));
        let alone = alone.filter(|it| is_base64(it.1)).map(|it| it.1);
        let insertions = alone.map(|it| Insertion::instead(self.source.json, json, it));
        self.report(Breach { insertions: insertions.into_iter().collect(), ..it });
    }

    /// A text that has to be one of these.
    pub(super) fn word(&mut self, words: &[&str], json: &'a str) {
        let Some(told) = text(json).filter(|it| !words.contains(&&**it)) else { return };
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

    /// The data of a data URL; an address says nothing that can be judged here.
    pub(super) fn data_url(&mut self, json: &str) {
        let url = text(json);
        let data = url.as_deref().and_then(|it| it.strip_prefix("data:")?.split_once(";base64,"));
        if data.is_some_and(|it| !is_base64(it.1)) {
            let sentence = format!("the data of `{}` are not base64", self.path);
            let it = self.breach("base64", "profile::shape", sentence);
            self.report(it);
        }
    }
}

/// The one of these words that another means: the only one, or that for a media type, an ending or another name.
pub(super) fn meant<'w>(told: &str, words: &[&'w str]) -> Option<&'w str> {
    const OTHER_NAMES: [(&str, &str); 10] = [
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
    ];
    if let [word] = words {
        return Some(word);
    }
    let told = told.trim().to_ascii_lowercase();
    let name = told.rsplit(['/', '.']).next().unwrap_or_default();
    let find = |name: &str| words.iter().copied().find(|it| *it == name);
    let other = || OTHER_NAMES.iter().find(|it| it.0 == name).and_then(|it| find(it.1));
    find(name).or_else(other)
}
