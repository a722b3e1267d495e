//! A document that fits a budget (CP-70), and what was cut for it.
//!
//! ```text
//! FitOptions --read once--> Fitter --a document--> Fitted, or Reached where a plan was given
//! ```
//!
//! `msg-compact` decides what is cut, the caller who writes the summaries.

mod answer;
mod fitted;
mod fitter;
mod options;
mod original;
mod plan;
mod requests;
mod run;

use std::collections::BTreeMap;
use std::str::FromStr;

use msg_compact::count::{Forge, Script, ToolSpec, Wolo};
use msg_compact::{MediaRates, TokenCounter};
use msg_core::RawJson;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::json::may_have_member;
use crate::refusal::Refusal;
#[cfg(feature = "bpe")]
use msg_compact::count::Bpe;

pub use self::answer::{FitAnswer, Reached};
pub use self::fitted::Fitted;
pub use self::fitter::Fitter;
pub(crate) use self::fitter::counter;
pub use self::options::{FitOptions, FitTarget, Usage};
pub use self::plan::Goal;
pub use self::run::fit;
pub use crate::fit::requests::{Digest, Summarizer};

// How tokens are counted, by name.

/// How tokens are counted (CP-50).
///
/// ```
/// use msg_document::Counter;
///
/// assert_eq!("forge".parse::<Counter>()?, Counter::Forge);
/// assert!("abacus".parse::<Counter>().is_err());
/// # Ok::<(), msg_document::Refusal>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Counter {
    /// An estimate by scripts, without tables.
    Script,
    /// As the agent forge counts.
    Forge,
    /// As the agent wolo counts.
    Wolo,
    /// Exactly, by the table of GPT-4o and later.
    #[cfg(feature = "bpe")]
    O200k,
    /// Exactly, by the table of GPT-4.
    #[cfg(feature = "bpe")]
    Cl100k,
}

impl Counter {
    /// With media counted by these formulas; the two agents' own estimates keep theirs.
    pub(crate) fn make(self, media: MediaRates) -> Box<dyn TokenCounter> {
        match self {
            Counter::Script => Box::new(Script::new().with_media(media)),
            Counter::Forge => Box::new(Forge),
            Counter::Wolo => Box::new(Wolo),
            #[cfg(feature = "bpe")]
            Counter::O200k => Box::new(Bpe::o200k().with_media(media)),
            #[cfg(feature = "bpe")]
            Counter::Cl100k => Box::new(Bpe::cl100k().with_media(media)),
        }
    }
}

impl FromStr for Counter {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        Ok(match name {
            "script" => Counter::Script,
            "forge" => Counter::Forge,
            "wolo" => Counter::Wolo,
            #[cfg(feature = "bpe")]
            "o200k" => Counter::O200k,
            #[cfg(feature = "bpe")]
            "cl100k" => Counter::Cl100k,
            other => {
                let tables = if cfg!(feature = "bpe") { "o200k, cl100k, " } else { "" };
                let expected = format!("expected script, {tables}forge or wolo");
                let text = format!("no counter is called {other:?}, {expected}");
                return Err(Refusal::bad_option(text));
            }
        })
    }
}

impl<'de> Deserialize<'de> for Counter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

// Tool definitions as a request body or a file of them has them.

/// The `tools` of a request body; none if the document is something else or has none.
pub(super) fn tools_of(json: &[u8]) -> Option<Vec<RawJson>> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(default)]
        tools: Option<Vec<RawJson>>,
    }
    let may_have = json.trim_ascii_start().first() == Some(&b'{');
    if !may_have || !may_have_member(json, "\"tools\"") {
        return None;
    }
    serde_json::from_slice::<Body>(json).ok()?.tools
}

/// The first of some values that is not a tool definition, neither a function nor a tool of a provider's own.
pub(super) fn no_tool(tools: &[RawJson]) -> Option<usize> {
    let is_typed =
        |it: &RawJson| it.parse::<Map<String, Value>>().is_ok_and(|it| it.contains_key("type"));
    tools.iter().position(|it| tool_spec(it).is_none() && !is_typed(it))
}

/// What a counter counts of tool definitions; what is none is not counted.
pub(crate) fn tool_specs(tools: Option<&[RawJson]>) -> Vec<ToolSpec> {
    tools.into_iter().flatten().filter_map(tool_spec).collect()
}

/// A tool definition: `{"type":"function","function":{…}}`, or the function alone.
fn tool_spec(raw: &RawJson) -> Option<ToolSpec> {
    #[derive(Deserialize)]
    struct Outer {
        function: Option<Function>,
        #[serde(flatten)]
        own: BTreeMap<String, Value>,
    }
    #[derive(Deserialize)]
    struct Function {
        name: String,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        parameters: Option<Value>,
    }
    let outer: Outer = raw.parse().ok()?;
    let function = match outer.function {
        Some(function) => function,
        None => serde_json::from_value(Value::Object(outer.own.into_iter().collect())).ok()?,
    };
    let parameters = function.parameters.and_then(|it| RawJson::new(it.to_string()).ok());
    let description = function.description.unwrap_or_default();
    Some(ToolSpec { name: function.name, description, parameters })
}
