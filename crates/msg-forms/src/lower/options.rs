//! How turns are lowered (OA-7 … OA-12).
//!
//! Options of the wire format, such as the content beside calls, belong to the wire crates.

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value};

/// Which rules decide what goes out (OA-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LowerRules {
    /// Safe to send: every call is answered, ids are unique.
    #[default]
    Strict,
    /// The rules of the reference document to the letter.
    Doc,
    /// What the released program did later.
    Shipped,
}

/// Whether [`LowerRules::Doc`] sends failed tools (OA-7); the document says both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailedTools {
    /// They are left out.
    #[default]
    Filter,
    /// The model is told of the error.
    IncludeError,
}

/// What stands for the output of a tool that gave none (OA-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyOutput {
    /// As the profile says: nothing in [`LowerRules::Doc`], a sentence in the others.
    #[default]
    ByProfile,
    /// A sentence, reported as `turn::placeholder-output`.
    Placeholder,
    /// Nothing.
    Literal,
}

/// What [`LowerRules::Strict`] sends of argument text that is no JSON (OA-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InvalidArguments {
    /// The text as it is; of a call that was cut short, as [`InvalidArguments::Wrap`].
    #[default]
    Keep,
    /// `{"_raw": TEXT}`.
    Wrap,
}

/// How a tool's `input` is spelled as argument text (OA-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentSpelling {
    /// With `", "` and `": "`, as the reference document spells it.
    #[default]
    Spaced,
    /// Without white space.
    Compact,
}

/// Which assistant messages carry their reasoning (OA-10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningPolicy {
    /// All.
    #[default]
    All,
    /// Those with calls.
    WithCalls,
    /// None.
    None,
}

/// The role of system turns and of the prompt (OA-11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`
    #[default]
    System,
    /// `developer`
    Developer,
}

/// How turns are lowered. The default is [`LowerOptions::strict`].
///
/// Deserialises from an object in snake case; members that it does not know are ignored, because
/// wire formats have options in the same object (OA-27).
///
/// ```
/// use msg_forms::turns::{LowerOptions, LowerRules, ReasoningPolicy};
/// let it: LowerOptions =
///     serde_json::from_str(r#"{"profile":"doc","include_reasoning":false,"text_parts":"join"}"#)?;
/// assert_eq!((it.profile, it.reasoning), (LowerRules::Doc, ReasoningPolicy::None));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, remote = "Self")]
#[non_exhaustive]
pub struct LowerOptions {
    /// Which rules decide what goes out.
    pub profile: LowerRules,
    /// The prompt, if no system message is emitted.
    pub system_prompt: Option<String>,
    /// The role of system turns and of the prompt.
    pub system_role: SystemRole,
    /// The name that takes the place of `product_name` in the injected prompt.
    pub agent_display_name: Option<String>,
    /// The name that the prompt was written with.
    pub product_name: String,
    /// Which assistant messages carry their reasoning.
    pub reasoning: ReasoningPolicy,
    /// Whether [`LowerRules::Doc`] sends failed tools.
    pub failed_tools: FailedTools,
    /// What stands for an output that is empty.
    pub empty_tool_output: EmptyOutput,
    /// What [`LowerRules::Strict`] sends of argument text that is no JSON.
    pub invalid_arguments: InvalidArguments,
    /// How a tool's `input` is spelled.
    pub arguments: ArgumentSpelling,
    /// What stands between the text parts of a turn.
    pub text_separator: String,
    /// Whether text behind a tool part begins another assistant message (OA-8).
    pub split_interleaved: bool,
}

impl Default for LowerOptions {
    fn default() -> Self {
        Self {
            profile: LowerRules::Strict,
            system_prompt: None,
            system_role: SystemRole::System,
            agent_display_name: None,
            product_name: "Wolo".to_owned(),
            reasoning: ReasoningPolicy::All,
            failed_tools: FailedTools::Filter,
            empty_tool_output: EmptyOutput::ByProfile,
            invalid_arguments: InvalidArguments::Keep,
            arguments: ArgumentSpelling::Spaced,
            text_separator: "\n".to_owned(),
            split_interleaved: false,
        }
    }
}

impl LowerOptions {
    /// Safe to send.
    pub fn strict() -> Self {
        Self::default()
    }

    /// The rules of the reference document to the letter.
    pub fn doc() -> Self {
        Self { profile: LowerRules::Doc, ..Self::default() }
    }

    /// What the released program did later.
    pub fn shipped() -> Self {
        Self { profile: LowerRules::Shipped, ..Self::default() }
    }

    /// Sets the prompt.
    #[must_use]
    pub fn with_system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Sets the role of system turns and of the prompt.
    #[must_use]
    pub fn with_system_role(mut self, role: SystemRole) -> Self {
        self.system_role = role;
        self
    }

    /// Sets the name that takes the place of the product's in the prompt.
    #[must_use]
    pub fn with_agent_name(mut self, name: impl Into<String>) -> Self {
        self.agent_display_name = Some(name.into());
        self
    }

    /// Sets which assistant messages carry their reasoning.
    #[must_use]
    pub fn with_reasoning(mut self, reasoning: ReasoningPolicy) -> Self {
        self.reasoning = reasoning;
        self
    }

    /// Sets what is sent of argument text that is no JSON.
    #[must_use]
    pub fn with_invalid_arguments(mut self, it: InvalidArguments) -> Self {
        self.invalid_arguments = it;
        self
    }

    /// Text behind a tool part begins another assistant message.
    #[must_use]
    pub fn with_split_interleaved(mut self) -> Self {
        self.split_interleaved = true;
        self
    }
}

impl<'de> Deserialize<'de> for LowerOptions {
    /// Each member may be absent or null; `include_reasoning` says all or none in one word.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Map::<String, Value>::deserialize(deserializer)?;
        members.retain(|_, it| !it.is_null());
        if let Some(it) = members.remove("include_reasoning") {
            let included = bool::deserialize(it).map_err(D::Error::custom)?;
            let policy = if included { "all" } else { "none" };
            members.entry("reasoning").or_insert(policy.into());
        }
        // The derived function, which `remote` leaves beside this one.
        Self::deserialize(Value::Object(members)).map_err(D::Error::custom)
    }
}
