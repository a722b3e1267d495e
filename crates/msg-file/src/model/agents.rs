//! Agents and their attributes (MF-16, MF-17): values are typed by their key, never by YAML.

use std::sync::Arc;

/// Where an agent is known from (MF-17).
///
/// ```
/// assert_eq!(msg_file::AgentKind::Preset.as_str(), "preset");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentKind {
    /// The frontmatter.
    Preset,
    /// An `[agent]` cell.
    Temporary,
    /// Only its name is known: it answered.
    Implicit,
}

impl AgentKind {
    /// The word of the JSON form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::Temporary => "temporary",
            Self::Implicit => "implicit",
        }
    }
}

/// An agent of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its name, unique in the file.
    pub name: Arc<str>,
    /// Where it is known from.
    pub kind: AgentKind,
    /// The attributes that were valid.
    pub config: Arc<AgentConfig>,
    /// Ordinal of its first appearance; none for presets.
    pub cell: Option<usize>,
}

/// Attributes of an agent (MF-16). What was not given, or was wrong, is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentConfig {
    /// Models to use, best first.
    pub models: Option<Vec<String>>,
    /// Size of the context window, in tokens.
    pub context_window: Option<u64>,
    /// Most tokens of an answer.
    pub max_output_tokens: Option<u64>,
    /// Whether the model shall reason.
    pub reasoning: Option<bool>,
    /// Whether a temperature is sent; absent means yes.
    pub use_temperature: Option<bool>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// What is sent first (presets only).
    pub system_prompt: Option<String>,
}

/// What a key of an agent's attributes turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Yes,
    BadValue,
    UnknownKey,
}

impl AgentConfig {
    /// Takes a scalar value for `key` (MF-16).
    pub(crate) fn take(&mut self, key: &str, text: &str) -> Taken {
        fn put<T>(slot: &mut Option<T>, value: Option<T>) -> Taken {
            if value.is_none() {
                return Taken::BadValue;
            }
            *slot = value;
            Taken::Yes
        }
        match key {
            "models" => put(&mut self.models, Some(split_models(text))),
            "context_window" => put(&mut self.context_window, number(text)),
            "max_output_tokens" => put(&mut self.max_output_tokens, number(text)),
            "reasoning" => put(&mut self.reasoning, boolean(text)),
            "use_temperature" => put(&mut self.use_temperature, boolean(text)),
            "temperature" => put(&mut self.temperature, decimal(text)),
            "system_prompt" => put(&mut self.system_prompt, Some(text.to_owned())),
            _ => Taken::UnknownKey,
        }
    }
}

fn split_models(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|m| !m.is_empty()).map(str::to_owned).collect()
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    let ok = text.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit());
    ok.then(|| digits.parse().ok()).flatten()
}

/// Truth as people write it: true/false, t/f, yes/no, on/off, 1/0, in any case.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "on" | "1" => Some(true),
        "false" | "f" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let ok = bare.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && bare.bytes().any(|b| b.is_ascii_digit());
    ok.then(|| text.parse().ok()).flatten()
}
