//! The `audio` of a choice, whose data and transcript grow by deltas (OA-18).

use std::borrow::Cow;

use msg_codec::Json;
use msg_codec::stream::{Channel, Merged, Step};
use msg_core::{Audio, Origin};

/// The audio so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct SpokenAudio {
    id: Option<String>,
    data: Channel,
    transcript: Channel,
    unknown: Merged,
}

impl SpokenAudio {
    /// Takes the members of a delta.
    pub(crate) fn take(&mut self, audio: Json<'_>, step: &mut Step<'_, '_>) {
        for (key, value) in audio.members() {
            let gauge = &mut step.text_gauge();
            match (&*key, value.string()) {
                ("id", Some(_)) if self.id.is_none() => {
                    self.id = value.text().map(Cow::into_owned);
                }
                ("id", _) => {}
                ("data", Some(text)) => drop(self.data.push(text, gauge)),
                ("transcript", Some(text)) => drop(self.transcript.push(text, gauge)),
                _ => self.unknown.add(&key, value, gauge),
            }
        }
    }

    /// The part that it is at its end.
    pub(crate) fn close(mut self, step: &mut Step<'_, '_>) -> Audio {
        self.data.end(&mut step.text_gauge());
        self.transcript.end(&mut step.text_gauge());
        let text = |it: Channel| (!it.is_empty()).then(|| it.into_text());
        let (data, transcript) = (text(self.data), text(self.transcript));
        let mut audio = Audio { id: self.id, data, transcript, ..Audio::default() };
        self.unknown.into_extra(&Origin::OpenAi, &mut audio.extra);
        audio
    }
}
