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

/// Options of [`Preset::Pentagi`]; what is not given has the reference's default. Sizes are bytes; 0 and less
/// mean the default.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PentagiConfig {
    /// Whether the last section is rotated; it is.
    pub preserve_last: Option<bool>,
    /// Whether older questions and answers are merged; they are.
    pub use_qa: Option<bool>,
    /// Whether the merged questions are summarised too.
    pub summ_human_in_qa: bool,
    /// Bytes of the last section.
    pub last_sec_bytes: Option<i64>,
    /// Bytes of a body pair.
    pub max_bp_bytes: Option<i64>,
    /// Sections that there may be.
    pub max_qa_sections: Option<i64>,
    /// Bytes that the conversation may have.
    pub max_qa_bytes: Option<i64>,
    /// Sections that stay.
    pub keep_qa_sections: Option<i64>,
}

/// Options of [`Preset::Wolo`]; what is not given has the reference's default. Numbers are tokens.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WoloConfig {
    /// Turns whose outputs are not pruned.
    pub protect_recent_turns: Option<u64>,
    /// Newest outputs that stay.
    pub protect_token_threshold: Option<u64>,
    /// Nothing is pruned for less.
    pub minimum_prune_tokens: Option<u64>,
    /// Tools whose outputs stay.
    pub protected_tools: Vec<String>,
    /// What takes the place of an output.
    pub replacement_text: Option<String>,
    /// Turns that a summary of the history leaves.
    pub recent_exchanges_to_keep: Option<u64>,
}

/// Options of [`Preset::Forge`]; what is not given has the reference's default. 0 and less mean the default, but
/// for the threshold, which is clamped to 0..100.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ForgeConfig {
    /// Messages at the end whose calls stay.
    pub messages_old: Option<i64>,
    /// Old calls that are enough.
    pub min_tool_calls: Option<i64>,
    /// Distance of the oldest call that is enough.
    pub max_tool_call_distance: Option<i64>,
    /// Share of the limit above which halves are summarised.
    pub threshold_percent: Option<i64>,
    /// Messages at the end whose turns are not batched.
    pub goal_messages_old: Option<i64>,
    /// Turns of a batch at least.
    pub min_turns: Option<i64>,
    /// Turns of a batch at most.
    pub max_turns: Option<i64>,
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
            _ => Err(Error::unknown("preset", name, "balanced, pentagi, wolo, forge or window")),
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
        .over(DropReasoning { stop_at_target: true, ..DropReasoning::default() })
        .over(prune)
        .over(ClearToolUses { stop_at_target: true, ..ClearToolUses::default() })
        .over(history)
        .over(SlidingWindow::default())
        .with_on_failure(OnFailure::Digest)
}

fn pentagi(config: &PentagiConfig) -> Pipeline {
    let keep = positive_or(config.keep_qa_sections, SummarizeSections::default().keep);
    let mut pipeline = Pipeline::new().always(SummarizeSections { keep });
    if config.preserve_last.unwrap_or(true) {
        let default = RotateLastSection::default();
        pipeline = pipeline.always(RotateLastSection {
            last_sec_bytes: positive_or(config.last_sec_bytes, default.last_sec_bytes),
            max_bp_bytes: positive_or(config.max_bp_bytes, default.max_bp_bytes),
            keep,
            ..default
        });
    }
    if config.use_qa.unwrap_or(true) {
        let default = SummarizeQaPairs::default();
        pipeline = pipeline.always(SummarizeQaPairs {
            max_qa_sections: positive_or(config.max_qa_sections, default.max_qa_sections),
            max_qa_bytes: positive_or(config.max_qa_bytes, default.max_qa_bytes),
            keep,
            summ_human_in_qa: config.summ_human_in_qa,
            ..default
        });
    }
    pipeline
}

fn wolo(config: &WoloConfig) -> Pipeline {
    let prune = PruneToolOutputs::default();
    let history = SummarizeHistory::default();
    let amount = |it: Option<u64>, default| it.map_or(default, Amount::Fixed);
    Pipeline::new()
        .over(PruneToolOutputs {
            protect_turns: config.protect_recent_turns.unwrap_or(prune.protect_turns),
            protect: amount(config.protect_token_threshold, prune.protect),
            minimum: amount(config.minimum_prune_tokens, prune.minimum),
            protected_tools: config.protected_tools.clone(),
            placeholder: config.replacement_text.clone().unwrap_or(prune.placeholder),
            ..prune
        })
        .over(SummarizeHistory {
            keep_turns: config.recent_exchanges_to_keep.unwrap_or(history.keep_turns),
            ..history
        })
}

fn forge(config: &ForgeConfig) -> Pipeline {
    let (calls, halves) = (SummarizeToolCalls::default(), SummarizeThreshold::default());
    let goals = GoalBatch::default();
    let share = |it: i64| u64::try_from(it.min(100)).unwrap_or(0);
    Pipeline::new()
        .always(SummarizeToolCalls {
            old_after: positive_or(config.messages_old, calls.old_after),
            min_calls: positive_or(config.min_tool_calls, calls.min_calls),
            max_distance: positive_or(config.max_tool_call_distance, calls.max_distance),
        })
        .always(SummarizeThreshold {
            percent: config.threshold_percent.map_or(halves.percent, share),
            ..halves
        })
        .always(GoalBatch {
            old_after: positive_or(config.goal_messages_old, goals.old_after),
            min_turns: positive_or(config.min_turns, goals.min_turns),
            max_turns: positive_or(config.max_turns, goals.max_turns),
        })
}

fn positive_or(number: Option<i64>, default: u64) -> u64 {
    number.and_then(|it| u64::try_from(it).ok()).filter(|it| *it > 0).unwrap_or(default)
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
