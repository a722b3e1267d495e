//! What a compaction does, in which order (CP-11): stages, pins (CP-42), what happens when a summary fails; and
//! the pipelines that have a name (CP-45). The compactor runs it; the chain state knows what a pin locks.
//!
//! ```json
//! {"stages": [{"policy": "clear-tool-uses", "keep": 5, "when": "over"}], "pins": ["tool:plan"]}
//! ```

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

use msg_chainast::Profile;
use msg_core::{Message, Part};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::budget::Unit;
use crate::outcome::RecordInfo;
use crate::policy::{
    Amount, ClearToolUses, DropReasoning, GoalBatch, HistoryKeep, PREFIX_CONTENT, Policy,
    PruneToolOutputs, RotateLastSection, SlidingWindow, SummarizeHistory, SummarizeQaPairs,
    SummarizeSections, SummarizeThreshold, SummarizeToolCalls, TruncateToolOutput,
};
use crate::{Budget, Error, Reserve, policy};

/// When a stage runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Only while the chain exceeds its target.
    Over,
    /// In every round.
    Always,
}

impl When {
    pub(crate) fn from_json(value: &Value) -> Result<Self, Error> {
        When::deserialize(value).map_err(|_| Error::BadOption {
            option: "when".into(),
            reason: format!("found {value}, expected \"over\" or \"always\""),
        })
    }
}

/// A list of stages, cheapest first, and of messages that they must not touch.
///
/// ```
/// use msg_compact::{Pin, Pipeline, policy::ClearToolUses};
///
/// let pipeline = Pipeline::new().over(ClearToolUses::default()).with_pin(Pin::Tool("plan".into()));
/// assert_eq!(pipeline.stages(), ["clear-tool-uses"]);
///
/// let json = r#"{"stages": [{"policy": "clear-tool-uses", "when": "over"}], "pins": ["tool:plan"]}"#;
/// let pipeline: Pipeline = serde_json::from_str(json)?;
/// assert_eq!(pipeline.stages(), ["clear-tool-uses"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pipeline {
    pub(crate) stages: Vec<Stage>,
    pub(crate) pins: Vec<Pin>,
    #[serde(deserialize_with = "profile_of_name")]
    pub(crate) profile: Option<Profile>,
    pub(crate) on_failure: OnFailure,
    pub(crate) max_prompt: Option<u64>,
    pub(crate) unit: Unit,
    pub(crate) best_effort: bool,
    pub(crate) record: Option<RecordInfo>,
}

#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) policy: Arc<dyn Policy>,
    pub(crate) when: When,
}

impl<'de> Deserialize<'de> for Stage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Value::deserialize(deserializer)?;
        let (policy, when) = policy::from_json(&stored).map_err(D::Error::custom)?;
        Ok(Stage { policy: policy.into(), when: when.unwrap_or(When::Over) })
    }
}

fn profile_of_name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Profile>, D::Error> {
    let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
    name.parse().map(Some).map_err(D::Error::custom)
}

impl Pipeline {
    /// A pipeline without stages; the first user message is pinned.
    pub fn new() -> Self {
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

    /// Adds a stage that runs in every round.
    #[must_use]
    pub fn always(self, policy: impl Policy + 'static) -> Self {
        self.with_stage(Box::new(policy), When::Always)
    }

    /// Adds a stage that runs while the chain exceeds its target.
    #[must_use]
    pub fn over(self, policy: impl Policy + 'static) -> Self {
        self.with_stage(Box::new(policy), When::Over)
    }

    /// Adds a stage.
    #[must_use]
    pub fn with_stage(mut self, policy: Box<dyn Policy>, when: When) -> Self {
        self.stages.push(Stage { policy: policy.into(), when });
        self
    }

    /// Cuts outputs of these tools (`*`: of all others) to this many bytes, always. For a pipeline
    /// without a [`Budget`](crate::Budget), which has its own caps.
    #[must_use]
    pub fn with_tool_caps(mut self, caps: &BTreeMap<String, u64>) -> Self {
        self.stages.insert(0, caps_stage(caps));
        self
    }

    /// Adds a pin.
    #[must_use]
    pub fn with_pin(mut self, pin: Pin) -> Self {
        self.pins.push(pin);
        self
    }

    msg_core::setters! {
        /// Replaces all pins, including the default pin of the first user message.
        with_pins(pins: Vec<Pin>);
        /// Keeps the result valid for this provider, if the input was.
        with_profile(profile: impl Into<Profile>) profile = Some(profile.into());
        /// Sets what to do when a summary fails [default: keep the units].
        with_on_failure(on_failure: OnFailure);
        /// Sets the largest prompt of a summary request, in the current unit [default: the usable
        /// budget, else 100 000].
        with_max_prompt(max: u64) max_prompt = Some(max);
        /// Sets the unit for a pipeline without a budget [default: tokens].
        with_unit(unit: Unit);
        /// Runs the stages even if the floor shows that the target cannot be reached. `CannotFit`
        /// then contains the best result.
        with_best_effort() best_effort = true;
        /// Records each stage that changed something (CP-60).
        with_record(info: RecordInfo) record = Some(info);
    }

    /// The names of the stages, in order.
    pub fn stages(&self) -> Vec<&'static str> {
        self.stages.iter().map(|it| it.policy.name()).collect()
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("stages", &self.stages())
            .field("pins", &self.pins)
            .field("profile", &self.profile.as_ref().map(|it| &it.name))
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}

impl Default for Pipeline {
    fn default() -> Self {
        Self::new()
    }
}

/// The stage for the caps of single tools (CP-10).
pub(crate) fn caps_stage(caps: &BTreeMap<String, u64>) -> Stage {
    let policy = TruncateToolOutput { tools: caps.clone(), max_bytes: None, ..Default::default() };
    Stage { policy: Arc::new(policy), when: When::Always }
}

// Messages that must not be changed (CP-42). The chain state applies the locks.

/// Messages that stay unchanged, whatever the budget (CP-42).
///
/// ```
/// use msg_compact::Pin;
///
/// assert!(matches!("tool:plan".parse()?, Pin::Tool(name) if name == "plan"));
/// assert!("last-user".parse::<Pin>().is_err());
/// # Ok::<(), msg_compact::Error>(())
/// ```
#[derive(Clone)]
pub enum Pin {
    /// The first user message, verbatim, also if sections are merged or dropped.
    FirstUser,
    /// Messages that contain this text.
    Contains(String),
    /// Calls of this tool.
    Tool(String),
    /// Messages that the caller selects.
    When(Arc<dyn Fn(&Message) -> bool + Send + Sync>),
}

/// Functions are equal if they are the same one.
impl PartialEq for Pin {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Pin::FirstUser, Pin::FirstUser) => true,
            (Pin::Contains(it), Pin::Contains(other)) | (Pin::Tool(it), Pin::Tool(other)) => {
                it == other
            }
            (Pin::When(it), Pin::When(other)) => Arc::ptr_eq(it, other),
            _ => false,
        }
    }
}

impl FromStr for Pin {
    type Err = Error;

    /// Reads `first-user`, `contains:TEXT` or `tool:NAME`.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once(':') {
            _ if text == "first-user" => Ok(Pin::FirstUser),
            Some(("contains", text)) if !text.is_empty() => Ok(Pin::Contains(text.to_owned())),
            Some(("tool", name)) if !name.is_empty() => Ok(Pin::Tool(name.to_owned())),
            _ => Err(Error::unknown("pin", text, "first-user, contains:TEXT or tool:NAME")),
        }
    }
}

msg_core::serde_as_text!(read Pin);

impl Pin {
    /// Whether this message pins its section or pair.
    pub(crate) fn holds(&self, message: &Message) -> bool {
        match self {
            Pin::FirstUser => false,
            Pin::Contains(text) => message.parts.iter().any(|it| contains(it, text)),
            Pin::Tool(name) => message.tool_calls().any(|it| it.name == *name),
            Pin::When(holds) => holds(message),
        }
    }
}

fn contains(part: &Part, text: &str) -> bool {
    match part {
        Part::Text(it) | Part::Refusal(it) => it.text.contains(text),
        Part::ToolCall(it) => it.arguments.text().contains(text),
        Part::ToolResult(it) => it.content.parts().iter().any(|it| contains(it, text)),
        _ => false,
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pin::FirstUser => f.write_str("FirstUser"),
            Pin::Contains(text) => f.debug_tuple("Contains").field(text).finish(),
            Pin::Tool(name) => f.debug_tuple("Tool").field(name).finish(),
            Pin::When(_) => f.write_str("When(..)"),
        }
    }
}

// The handling of units that could not be summarised.

/// What to do with messages whose summary was refused or failed (CP-23).
///
/// ```
/// assert_eq!("digest".parse(), Ok(msg_compact::OnFailure::Digest));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// Keep them, and continue with the pipeline.
    #[default]
    Keep,
    /// Replace them with a digest, if it is smaller.
    Digest,
}

impl FromStr for OnFailure {
    type Err = Error;

    /// Reads `keep` or `digest`.
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "keep" => Ok(OnFailure::Keep),
            "digest" => Ok(OnFailure::Digest),
            _ => Err(Error::unknown("on-failure", name, "keep or digest")),
        }
    }
}

// Named pipelines (CP-45): a balanced one, and the behaviour of three existing systems with their own option names.

/// A pipeline by name, with its options.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Preset {
    /// Cheap reductions, then a summary of the history, then a window. Needs a budget.
    #[default]
    Balanced,
    /// Sections, rotation of the last section, merged questions and answers.
    Pentagi(PentagiConfig),
    /// Pruned outputs, then a summary of the history. Uses the counter `wolo`.
    Wolo(WoloConfig),
    /// Runs of calls, halves, batches of goals. Uses the counter `forge`.
    Forge(ForgeConfig),
    /// The newest messages that fit. Needs a budget.
    Window,
}

/// Options of [`Preset::Pentagi`] [default: those of the reference]. Sizes are in bytes; 0 and less mean the
/// default.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PentagiConfig {
    /// Whether to rotate the last section [default: yes].
    pub preserve_last: Option<bool>,
    /// Whether to merge older questions and answers [default: yes].
    pub use_qa: Option<bool>,
    /// Whether to summarise the merged questions too.
    pub summ_human_in_qa: bool,
    /// The maximum size of the last section.
    pub last_sec_bytes: Option<i64>,
    /// The maximum size of a body pair.
    pub max_bp_bytes: Option<i64>,
    /// The maximum number of sections.
    pub max_qa_sections: Option<i64>,
    /// The maximum size of the conversation.
    pub max_qa_bytes: Option<i64>,
    /// The number of sections that are kept.
    pub keep_qa_sections: Option<i64>,
}

/// Options of [`Preset::Wolo`] [default: those of the reference]. Numbers are tokens.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WoloConfig {
    /// The number of turns whose outputs are not pruned.
    pub protect_recent_turns: Option<u64>,
    /// The newest outputs up to this size are kept.
    pub protect_token_threshold: Option<u64>,
    /// The minimum that must be saved; otherwise nothing is pruned.
    pub minimum_prune_tokens: Option<u64>,
    /// Tools whose outputs are kept.
    pub protected_tools: Vec<String>,
    /// The text that replaces an output.
    pub replacement_text: Option<String>,
    /// The number of turns that a summary of the history keeps.
    pub recent_exchanges_to_keep: Option<u64>,
}

/// Options of [`Preset::Forge`] [default: those of the reference]. 0 and less mean the default, except for the
/// threshold, which is clamped to 0..100.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ForgeConfig {
    /// The number of messages at the end whose calls are kept.
    pub messages_old: Option<i64>,
    /// The number of old calls from which on they are summarised.
    pub min_tool_calls: Option<i64>,
    /// The distance of the oldest call from which on calls are summarised.
    pub max_tool_call_distance: Option<i64>,
    /// The percentage of the limit above which halves are summarised.
    pub threshold_percent: Option<i64>,
    /// The number of messages at the end whose turns are not batched.
    pub goal_messages_old: Option<i64>,
    /// The minimum number of turns of a batch.
    pub min_turns: Option<i64>,
    /// The maximum number of turns of a batch.
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
    /// The preset with this name and these options.
    ///
    /// # Errors
    /// The preset or the option is unknown, or the value is invalid.
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

    /// The counter that is used if the caller sets none.
    pub fn default_counter(&self) -> &'static str {
        match self {
            Preset::Wolo(_) => "wolo",
            Preset::Forge(_) => "forge",
            _ => "script",
        }
    }

    /// The budget that is used if the caller sets none; `None` if the preset needs no budget, or
    /// requires one from the caller.
    pub fn default_budget(&self) -> Option<Budget> {
        match self {
            Preset::Wolo(_) => {
                Some(Budget::tokens(128_000).with_reserve(Reserve::Fixed(2000)).with_trigger(90))
            }
            Preset::Forge(_) => Some(Budget::tokens(100_000)),
            _ => None,
        }
    }

    /// The trigger that is used if the caller sets none.
    pub fn default_trigger(&self) -> u64 {
        if matches!(self, Preset::Wolo(_)) { 90 } else { 100 }
    }

    /// Whether the preset requires a budget.
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
