//! How the value of one field is read and given back, and what is said of one that does not fit.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a field cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct FieldError {
    /// The names of the tables in which the field stands, and its own.
    pub(crate) path: Vec<String>,
    pub(crate) problem: String,
}

impl FieldError {
    pub(super) fn unknown(field: &str) -> Self {
        FieldError { path: vec![field.to_owned()], problem: format!("unknown field `{field}`") }
    }

    pub(super) fn wrong(field: &str, problem: &str) -> Self {
        FieldError { path: vec![field.to_owned()], problem: format!("`{field}`: {problem}") }
    }

    /// The same of a field in a table.
    pub(super) fn within(mut self, table: &str) -> Self {
        self.path.insert(0, table.to_owned());
        self
    }
}

/// The value of a profile file; else what was expected.
pub(super) fn read<'v, T: Deserialize<'v>>(value: &'v Value) -> Result<T, String> {
    T::deserialize(value).map_err(|it| it.to_string())
}

/// As [`read`], of a field that is one of two words.
pub(super) fn read_word(value: &Value, no: &str, yes: &str) -> Result<bool, String> {
    match value.as_str() {
        Some(it) if it == no => Ok(false),
        Some(it) if it == yes => Ok(true),
        _ => Err(format!("{value}, expected `{no}` or `{yes}`")),
    }
}

/// What a profile file has for a value.
pub(super) fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("because a field is a text, a number, a flag or a list")
}
