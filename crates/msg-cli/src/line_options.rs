//! The options of one line of `--jsonl`: what its member `options` says, over the flags of the command.
//!
//! Flags and members are one struct that derives both, so that the one cannot drift from the other.

use msg_core::RawJson;
use msg_document::Refusal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The options of `line`: those of `flags`, member by member under its own.
///
/// Fails for an option that does not exist and for a value that it cannot have.
pub(crate) fn of_line<T>(flags: &T, line: &[u8]) -> Result<T, Refusal>
where
    T: Clone + Serialize + DeserializeOwned,
{
    #[derive(Deserialize)]
    struct Line {
        #[serde(default)]
        options: Option<RawJson>,
    }
    // What is no object is refused by the reader of the document, with a better place.
    let is_object = line.trim_ascii_start().starts_with(b"{");
    let line = serde_json::from_slice::<Line>(line).ok().filter(|_| is_object);
    let Some(options) = line.and_then(|it| it.options) else { return Ok(flags.clone()) };
    let bad =
        |it: serde_json::Error| Refusal::bad_option(format!("options are not understood: {it}"));
    let own: Map<String, Value> = options.parse().map_err(bad)?;
    let mut all = match serde_json::to_value(flags) {
        Ok(Value::Object(all)) => all,
        _ => Map::new(),
    };
    all.extend(own);
    serde_json::from_value(Value::Object(all)).map_err(bad)
}
