//! Policies by their JSON names, for programs and configurations.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    ClearToolUses, DropReasoning, GoalBatch, Policy, PruneToolOutputs, RotateLastSection,
    SlidingWindow, SummarizeHistory, SummarizeQaPairs, SummarizeSections, SummarizeThreshold,
    SummarizeToolCalls, TruncateToolOutput,
};
use crate::{Error, pipeline::When};

/// Reads `{"policy":NAME,"when":"over|always",…options}` (section 4 of the page).
///
/// # Errors
/// No object, no policy of this name, an option that it does not have, or a value that the option
/// cannot have.
///
/// ```
/// use msg_compact::policy::from_json;
///
/// let (policy, when) = from_json(&serde_json::json!({"policy": "clear-tool-uses", "keep": 5}))?;
/// assert_eq!((policy.name(), when), ("clear-tool-uses", None));
/// assert!(from_json(&serde_json::json!({"policy": "forget"})).is_err());
/// # Ok::<(), msg_compact::Error>(())
/// ```
pub fn from_json(value: &Value) -> Result<(Box<dyn Policy>, Option<When>), Error> {
    let bad = |reason: &str| Error::BadOption { option: "policies".into(), reason: reason.into() };
    let mut options = value.as_object().ok_or_else(|| bad("expected an object"))?.clone();
    let name = match options.remove("policy") {
        Some(Value::String(name)) => name,
        _ => return Err(bad("expected the name of a policy in \"policy\"")),
    };
    let when = options.remove("when").map(|it| When::from_json(&it)).transpose()?;
    Ok((named(&name, options)?, when))
}

const NAMES: &str = "drop-reasoning, prune-tool-outputs, clear-tool-uses, truncate-tool-output, \
    summarize-sections, rotate-last-section, summarize-qa-pairs, summarize-tool-calls, \
    summarize-threshold, summarize-history, goal-batch or sliding-window";

fn named(name: &str, options: Map<String, Value>) -> Result<Box<dyn Policy>, Error> {
    Ok(match name {
        "drop-reasoning" => read::<DropReasoning>(name, options)?,
        "prune-tool-outputs" => read::<PruneToolOutputs>(name, options)?,
        "clear-tool-uses" => read::<ClearToolUses>(name, options)?,
        "truncate-tool-output" => read::<TruncateToolOutput>(name, options)?,
        "summarize-sections" => read::<SummarizeSections>(name, options)?,
        "rotate-last-section" => read::<RotateLastSection>(name, options)?,
        "summarize-qa-pairs" => read::<SummarizeQaPairs>(name, options)?,
        "summarize-tool-calls" => read::<SummarizeToolCalls>(name, options)?,
        "summarize-threshold" => read::<SummarizeThreshold>(name, options)?,
        "summarize-history" => read::<SummarizeHistory>(name, options)?,
        "goal-batch" => read::<GoalBatch>(name, options)?,
        "sliding-window" => read::<SlidingWindow>(name, options)?,
        _ => return Err(Error::unknown("policy", name, NAMES)),
    })
}

fn read<P: Policy + DeserializeOwned + 'static>(
    name: &str,
    options: Map<String, Value>,
) -> Result<Box<dyn Policy>, Error> {
    match serde_json::from_value::<P>(Value::Object(options)) {
        Ok(policy) => Ok(Box::new(policy)),
        Err(it) => Err(Error::BadOption { option: name.to_owned(), reason: it.to_string() }),
    }
}
