//! The options of a conversion (`--options JSON`, or `options` of a turns document).
//!
//! Knows the names that concern the program; all others are handed to the libraries that own them.

use msg_core::{AgentForm, Code, Diagnostic};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use crate::document::WriteOptions;

/// What `convert` can be told about both sides.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConvertOptions {
    /// How messages are written.
    pub(crate) write: WriteOptions,
}

impl ConvertOptions {
    /// These options, changed by the members of a JSON object.
    pub(crate) fn with(mut self, json: &[u8]) -> Result<Self, Box<Diagnostic>> {
        let members: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(json)
            .map_err(|it| bad(format!("options are no JSON object: {it}")))?;
        for (name, value) in &members {
            self.set(name, value)?;
        }
        Ok(self)
    }

    fn set(&mut self, name: &str, value: &RawValue) -> Result<(), Box<Diagnostic>> {
        match name {
            "preview" => self.write.preview = Some(parse(name, value)?),
            "agent_form" => {
                self.write.agent_form = match word(name, value)?.as_str() {
                    "document" => AgentForm::default(),
                    "sdk" => AgentForm::Sdk,
                    _ => return Err(bad("option agent_form takes document or sdk".to_owned())),
                }
            }
            _ => {
                let word = word(name, value)?;
                match self.write.encode.set(name, &word) {
                    Ok(true) => {}
                    Ok(false) => return Err(bad(format!("no option is called {name}"))),
                    Err(error) => return Err(bad(error.to_string())),
                }
            }
        }
        Ok(())
    }
}

/// A string's text, any other scalar's source text.
fn word(name: &str, value: &RawValue) -> Result<String, Box<Diagnostic>> {
    match value.get().as_bytes().first() {
        Some(b'"') => parse(name, value),
        Some(b'{' | b'[') => Err(bad(format!("option {name} takes no list and no object"))),
        _ => Ok(value.get().to_owned()),
    }
}

fn parse<'a, T: Deserialize<'a>>(name: &str, value: &'a RawValue) -> Result<T, Box<Diagnostic>> {
    serde_json::from_str(value.get()).map_err(|it| bad(format!("option {name}: {it}")))
}

fn bad(text: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::new("cli::bad-option"), text))
}
