//! What a compaction does, in which order (CP-11): stages, pins (CP-42), and what happens when a summary fails. The
//! compactor runs it; the chain state knows what a pin locks.
//!
//! ```json
//! {"stages": [{"policy": "clear-tool-uses", "keep": 5, "when": "over"}], "pins": ["tool:plan"]}
//! ```

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

use msg_chainast::Profile;
use msg_core::{Message, Part};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

use crate::budget::Unit;
use crate::outcome::RecordInfo;
use crate::policy::{Policy, TruncateToolOutput};
use crate::{Error, policy};

/// When a stage runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Only while the chain is over its target.
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

/// A list of stages, cheapest first, with what they may not touch.
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
    let unknown = || D::Error::custom(format_args!("no profile is called {name:?}"));
    Profile::named(&name).cloned().map(Some).ok_or_else(unknown)
}

impl Pipeline {
    /// No stage; the first user message pinned.
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

    /// Adds a stage that runs while the chain is over its target.
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

    /// Cuts outputs of these tools (`*`: of any other) to so many bytes, always; for a pipeline
    /// without a [`Budget`](crate::Budget), which has caps of its own.
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

    /// Takes these pins instead of all others, the first user message included.
    #[must_use]
    pub fn with_pins(mut self, pins: Vec<Pin>) -> Self {
        self.pins = pins;
        self
    }

    /// Keeps the outcome within what a provider accepts, if the input was.
    #[must_use]
    pub fn with_profile(mut self, profile: &Profile) -> Self {
        self.profile = Some(profile.clone());
        self
    }

    /// What to do when a summary fails; its units stay if not set.
    #[must_use]
    pub fn with_on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// The largest prompt of a request, in the unit in use; the usable budget if not set, else
    /// 100 000.
    #[must_use]
    pub fn with_max_prompt(mut self, max: u64) -> Self {
        self.max_prompt = Some(max);
        self
    }

    /// The unit in use without a budget; tokens if not set.
    #[must_use]
    pub fn with_unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Tries even where the floor shows that nothing fits, so that `CannotFit` holds what was
    /// reached.
    #[must_use]
    pub fn with_best_effort(mut self) -> Self {
        self.best_effort = true;
        self
    }

    /// Leaves a record of each stage that changed something (CP-60).
    #[must_use]
    pub fn with_record(mut self, info: RecordInfo) -> Self {
        self.record = Some(info);
        self
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

/// The stage of the caps of single tools (CP-10).
pub(crate) fn caps_stage(caps: &BTreeMap<String, u64>) -> Stage {
    let policy = TruncateToolOutput { tools: caps.clone(), max_bytes: None, ..Default::default() };
    Stage { policy: Arc::new(policy), when: When::Always }
}

// What may not be touched (CP-42). What a pin locks is the chain state's business.

/// What stays as it is, whatever the budget (CP-42).
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
    /// The first user message, verbatim, wherever sections are merged or dropped.
    FirstUser,
    /// What contains this text.
    Contains(String),
    /// What calls this tool.
    Tool(String),
    /// What the caller says.
    When(Arc<dyn Fn(&Message) -> bool + Send + Sync>),
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

impl<'de> Deserialize<'de> for Pin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

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

// What happens to units that could not be summarised.

/// What to do with units whose summary was refused or failed (CP-23).
///
/// ```
/// assert_eq!("digest".parse(), Ok(msg_compact::OnFailure::Digest));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// They stay, and the pipeline goes on.
    #[default]
    Keep,
    /// The digest takes the summary's place, if it is smaller.
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
