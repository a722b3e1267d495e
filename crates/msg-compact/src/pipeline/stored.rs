//! A pipeline as JSON: its policies by name, its profile by name, everything else as a text or a number.

use msg_chainast::Profile;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use super::{OnFailure, Pin, Pipeline, When};
use crate::{budget::Unit, policy, record::RecordInfo};

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Stored {
    stages: Vec<Value>,
    pins: Vec<Pin>,
    profile: Option<String>,
    on_failure: OnFailure,
    max_prompt: Option<u64>,
    unit: Unit,
    best_effort: bool,
    record: Option<RecordInfo>,
}

impl Default for Stored {
    fn default() -> Self {
        Self {
            stages: Vec::new(),
            pins: vec![Pin::FirstUser],
            profile: None,
            on_failure: OnFailure::Keep,
            max_prompt: None,
            unit: Unit::Tokens,
            best_effort: false,
            record: None,
        }
    }
}

impl<'de> Deserialize<'de> for Pipeline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let mut pipeline =
            Pipeline::new().with_pins(stored.pins).with_on_failure(stored.on_failure);
        for stage in &stored.stages {
            let (policy, when) = policy::from_json(stage).map_err(D::Error::custom)?;
            pipeline = pipeline.with_stage(policy, when.unwrap_or(When::Over));
        }
        if let Some(name) = &stored.profile {
            let profile = Profile::named(name)
                .ok_or_else(|| D::Error::custom(format_args!("no profile is called {name:?}")))?;
            pipeline = pipeline.with_profile(profile);
        }
        pipeline.max_prompt = stored.max_prompt;
        pipeline.unit = stored.unit;
        pipeline.best_effort = stored.best_effort;
        pipeline.record = stored.record;
        Ok(pipeline)
    }
}
