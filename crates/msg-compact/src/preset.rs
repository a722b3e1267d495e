//! Pipelines that are known by name (CP-45): a balanced one, and the behaviour of three shipped
//! systems with their own option names.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    Budget, Error, OnFailure, Pipeline, Reserve,
    policy::{
        Amount, ClearToolUses, DropReasoning, GoalBatch, HistoryKeep, PREFIX_CONTENT,
        PruneToolOutputs, RotateLastSection, SlidingWindow, SummarizeHistory, SummarizeQaPairs,
        SummarizeSections, SummarizeThreshold, SummarizeToolCalls,
    },
};

/// A pipeline by name, with its options.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Preset {
    /// Cheap reductions first, then a summary of the history, then a window. Needs a budget.
    #[default]
    Balanced,
    /// Sections, rotation of the last one, merged questions and answers.
    Pentagi(PentagiConfig),
    /// Pruned outputs, then a summary of the history; counts as `wolo`.
    Wolo(WoloConfig),
    /// Runs of calls, halves, batches of goals; counts as `forge`.
    Forge(ForgeConfig),
    /// The newest that fits. Needs a budget.
    Window,
}

/// Options of [`Preset::Pentagi`]. Sizes are bytes; 0 and less mean the default.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PentagiConfig {
    /// Whether the last section is rotated.
    pub preserve_last: bool,
    /// Whether older questions and answers are merged.
    pub use_qa: bool,
    /// Whether the merged questions are summarised too.
    pub summ_human_in_qa: bool,
    /// Bytes of the last section.
    pub last_sec_bytes: i64,
    /// Bytes of a body pair.
    pub max_bp_bytes: i64,
    /// Sections that there may be.
    pub max_qa_sections: i64,
    /// Bytes that the conversation may have.
    pub max_qa_bytes: i64,
    /// Sections that stay.
    pub keep_qa_sections: i64,
}

impl Default for PentagiConfig {
    fn default() -> Self {
        Self {
            preserve_last: true,
            use_qa: true,
            summ_human_in_qa: false,
            last_sec_bytes: 51_200,
            max_bp_bytes: 16_384,
            max_qa_sections: 10,
            max_qa_bytes: 65_536,
            keep_qa_sections: 1,
        }
    }
}

/// Options of [`Preset::Wolo`]. Numbers are tokens.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WoloConfig {
    /// Turns whose outputs are not pruned.
    pub protect_recent_turns: u64,
    /// Newest outputs that stay.
    pub protect_token_threshold: u64,
    /// Nothing is pruned for less.
    pub minimum_prune_tokens: u64,
    /// Tools whose outputs stay.
    pub protected_tools: Vec<String>,
    /// What takes the place of an output.
    pub replacement_text: String,
    /// Turns that a summary of the history leaves.
    pub recent_exchanges_to_keep: u64,
}

impl Default for WoloConfig {
    fn default() -> Self {
        let prune = PruneToolOutputs::default();
        Self {
            protect_recent_turns: 2,
            protect_token_threshold: 40_000,
            minimum_prune_tokens: 20_000,
            protected_tools: Vec::new(),
            replacement_text: prune.placeholder,
            recent_exchanges_to_keep: 6,
        }
    }
}

/// Options of [`Preset::Forge`]. 0 and less mean the default, but for the threshold, which is
/// clamped to 0..100.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ForgeConfig {
    /// Messages at the end whose calls stay.
    pub messages_old: i64,
    /// Old calls that are enough.
    pub min_tool_calls: i64,
    /// Distance of the oldest call that is enough.
    pub max_tool_call_distance: i64,
    /// Share of the limit above which halves are summarised.
    pub threshold_percent: i64,
    /// Messages at the end whose turns are not batched.
    pub goal_messages_old: i64,
    /// Turns of a batch at least.
    pub min_turns: i64,
    /// Turns of a batch at most.
    pub max_turns: i64,
}

impl Default for ForgeConfig {
    fn default() -> Self {
        Self {
            messages_old: 20,
            min_tool_calls: 10,
            max_tool_call_distance: 40,
            threshold_percent: 80,
            goal_messages_old: 20,
            min_turns: 3,
            max_turns: 6,
        }
    }
}

/// `{"preset": "wolo", "config": {"recent_exchanges_to_keep": 3}}`.
impl<'de> Deserialize<'de> for Preset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Stored {
            preset: String,
            #[serde(default)]
            config: Map<String, Value>,
        }
        let stored = Stored::deserialize(deserializer)?;
        Preset::named(&stored.preset, &stored.config).map_err(serde::de::Error::custom)
    }
}

impl Preset {
    /// The preset of this name with these options.
    ///
    /// # Errors
    /// There is none of this name, or it has no such option, or the option no such value.
    ///
    /// ```
    /// use msg_compact::Preset;
    ///
    /// let options = serde_json::json!({"recent_exchanges_to_keep": 3});
    /// let preset = Preset::named("wolo", options.as_object().expect("an object"))?;
    /// assert_eq!(preset.pipeline().stages(), ["prune-tool-outputs", "summarize-history"]);
    /// # Ok::<(), msg_compact::Error>(())
    /// ```
    pub fn named(name: &str, config: &Map<String, Value>) -> Result<Self, Error> {
        match name {
            "balanced" => without_config(name, config, Preset::Balanced),
            "window" => without_config(name, config, Preset::Window),
            "pentagi" => read(name, config).map(Preset::Pentagi),
            "wolo" => read(name, config).map(Preset::Wolo),
            "forge" => read(name, config).map(Preset::Forge),
            _ => Err(Error::UnknownName {
                kind: "preset",
                name: name.to_owned(),
                expected: Some("balanced, pentagi, wolo, forge or window".to_owned()),
            }),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Preset::Balanced => "balanced",
            Preset::Pentagi(_) => "pentagi",
            Preset::Wolo(_) => "wolo",
            Preset::Forge(_) => "forge",
            Preset::Window => "window",
        }
    }

    /// The counter that it takes if the caller names none.
    pub fn default_counter(&self) -> &'static str {
        match self {
            Preset::Wolo(_) => "wolo",
            Preset::Forge(_) => "forge",
            _ => "script",
        }
    }

    /// The budget that it takes if the caller gives none; none if it needs none, or cannot do
    /// without the caller's.
    pub fn default_budget(&self) -> Option<Budget> {
        match self {
            Preset::Wolo(_) => {
                Some(Budget::tokens(128_000).with_reserve(Reserve::Fixed(2000)).with_trigger(90))
            }
            Preset::Forge(_) => Some(Budget::tokens(100_000)),
            _ => None,
        }
    }

    /// The trigger that it takes if the caller gives none.
    pub fn default_trigger(&self) -> u64 {
        if matches!(self, Preset::Wolo(_)) { 90 } else { 100 }
    }

    /// Whether it makes no sense without a budget.
    pub fn needs_budget(&self) -> bool {
        matches!(self, Preset::Balanced | Preset::Window)
    }

    /// Its pipeline.
    pub fn pipeline(&self) -> Pipeline {
        match self {
            Preset::Balanced => balanced(),
            Preset::Pentagi(config) => pentagi(config),
            Preset::Wolo(config) => wolo(config),
            Preset::Forge(config) => forge(config),
            Preset::Window => Pipeline::new().over(SlidingWindow::default()),
        }
    }
}

fn balanced() -> Pipeline {
    let prune = PruneToolOutputs {
        protect: Amount::ShareOfTarget { percent: 20 },
        minimum: Amount::ShareOfTarget { percent: 5 },
        stop_at_target: true,
        ..PruneToolOutputs::default()
    };
    let history = SummarizeHistory {
        keep_turns: 2,
        prefix: PREFIX_CONTENT.to_owned(),
        form: crate::Form::Auto,
        keep: HistoryKeep::Most,
    };
    Pipeline::new()
        .over(DropReasoning::default())
        .over(prune)
        .over(ClearToolUses { stop_at_target: true, ..ClearToolUses::default() })
        .over(history)
        .over(SlidingWindow::default())
        .with_on_failure(OnFailure::Digest)
}

fn pentagi(config: &PentagiConfig) -> Pipeline {
    let default = PentagiConfig::default();
    let or = |it: i64, default: i64| positive(it).or(positive(default)).unwrap_or(1);
    let keep = or(config.keep_qa_sections, default.keep_qa_sections);
    let mut pipeline = Pipeline::new().always(SummarizeSections { keep });
    if config.preserve_last {
        pipeline = pipeline.always(RotateLastSection {
            last_sec_bytes: or(config.last_sec_bytes, default.last_sec_bytes),
            max_bp_bytes: or(config.max_bp_bytes, default.max_bp_bytes),
            keep,
            ..RotateLastSection::default()
        });
    }
    if config.use_qa {
        pipeline = pipeline.always(SummarizeQaPairs {
            max_qa_sections: or(config.max_qa_sections, default.max_qa_sections),
            max_qa_bytes: or(config.max_qa_bytes, default.max_qa_bytes),
            keep,
            summ_human_in_qa: config.summ_human_in_qa,
            human_cap: None,
        });
    }
    pipeline
}

fn wolo(config: &WoloConfig) -> Pipeline {
    let prune = PruneToolOutputs {
        protect_turns: config.protect_recent_turns,
        protect: Amount::Fixed(config.protect_token_threshold),
        minimum: Amount::Fixed(config.minimum_prune_tokens),
        protected_tools: config.protected_tools.clone(),
        placeholder: config.replacement_text.clone(),
        stop_at_target: false,
    };
    let history = SummarizeHistory {
        keep_turns: config.recent_exchanges_to_keep,
        ..SummarizeHistory::default()
    };
    Pipeline::new().over(prune).over(history)
}

fn forge(config: &ForgeConfig) -> Pipeline {
    let default = ForgeConfig::default();
    let or = |it: i64, default: i64| positive(it).or(positive(default)).unwrap_or(1);
    Pipeline::new()
        .always(SummarizeToolCalls {
            old_after: or(config.messages_old, default.messages_old),
            min_calls: or(config.min_tool_calls, default.min_tool_calls),
            max_distance: or(config.max_tool_call_distance, default.max_tool_call_distance),
        })
        .always(SummarizeThreshold {
            percent: positive(config.threshold_percent.min(100)).unwrap_or(0),
            ..SummarizeThreshold::default()
        })
        .always(GoalBatch {
            old_after: or(config.goal_messages_old, default.goal_messages_old),
            min_turns: or(config.min_turns, default.min_turns),
            max_turns: or(config.max_turns, default.max_turns),
        })
}

fn positive(number: i64) -> Option<u64> {
    u64::try_from(number).ok().filter(|it| *it > 0)
}

fn without_config(
    name: &str,
    config: &Map<String, Value>,
    preset: Preset,
) -> Result<Preset, Error> {
    match config.keys().next() {
        None => Ok(preset),
        Some(option) => Err(Error::BadOption {
            option: option.clone(),
            reason: format!("the preset {name} has no options"),
        }),
    }
}

fn read<T: DeserializeOwned>(name: &str, config: &Map<String, Value>) -> Result<T, Error> {
    let bad = |reason: String| Error::BadOption { option: name.to_owned(), reason };
    serde_json::from_value(Value::Object(config.clone())).map_err(|it| bad(it.to_string()))
}
