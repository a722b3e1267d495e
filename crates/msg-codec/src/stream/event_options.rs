//! What a stream that is written says about its message beside the content.

use msg_core::{FinishReason, Usage};
use serde::Deserialize;

use super::assembled::Assembled;

/// What a stream that is written says about its message beside the content.
///
/// ```
/// use msg_codec::EventOptions;
///
/// let options = EventOptions::default().with_id("c1").with_model("m").with_created(7);
/// assert_eq!((options.id.as_str(), options.created), ("c1", 7));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventOptions {
    /// The id of the response; `""` if none is given.
    pub id: String,
    /// The model that answers; `""` if none is given.
    pub model: String,
    /// When the response was made, in whole seconds since 1970; 0 if nobody said.
    pub created: u64,
    /// What it cost, as far as it is known before the stream says so.
    pub usage: Option<Usage>,
    /// Why the model stopped, as far as it is known before the stream says so.
    pub finish: Option<FinishReason>,
}

impl EventOptions {
    /// What a stream that was read says about its message.
    #[must_use]
    pub fn of(read: &Assembled) -> Self {
        Self {
            id: read.id.clone().unwrap_or_default(),
            model: read.model.clone().unwrap_or_default(),
            // A time before 1970 or out of all bounds is none; the cast saturates.
            created: read.created.map_or(0, |it| it as u64),
            usage: read.usage.clone(),
            finish: read.choices.first().and_then(|it| it.finish.clone()),
        }
    }

    /// The id of the response.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self { id: id.into(), ..self }
    }

    /// The model that answers.
    #[must_use]
    pub fn with_model(self, model: impl Into<String>) -> Self {
        Self { model: model.into(), ..self }
    }

    /// When the response was made.
    #[must_use]
    pub fn with_created(self, created: u64) -> Self {
        Self { created, ..self }
    }

    /// What it cost.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Why the model stopped.
    #[must_use]
    pub fn with_finish(self, finish: FinishReason) -> Self {
        Self { finish: Some(finish), ..self }
    }
}
