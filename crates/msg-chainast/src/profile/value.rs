//! What the fields of a profile can hold, and how each is read and printed.

use msg_core::{Role, Severity};
use serde::Deserialize;

use super::CharClass;
use crate::ids::IdPattern;

/// A value of a profile file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Text(String),
    Number(usize),
    Flag(bool),
    List(Vec<String>),
}

/// Why a field cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldError {
    /// Profiles have no such field.
    #[error("unknown field `{field}`")]
    Unknown {
        /// The name.
        field: String,
    },
    /// The field holds something else.
    #[error("`{field}` must be {expected}")]
    Value {
        /// The name.
        field: String,
        /// What it holds.
        expected: String,
    },
}

/// What a field can hold.
pub(super) trait FieldValue: Sized {
    /// The value of a profile file; else what was expected.
    fn read(value: &Value) -> Result<Self, String>;

    /// The text of a value, as a table prints it.
    fn print(&self) -> String;
}

impl FieldValue for String {
    fn read(value: &Value) -> Result<Self, String> {
        text(value).map(str::to_owned).ok_or_else(|| "a text".to_owned())
    }

    fn print(&self) -> String {
        self.clone()
    }
}

impl FieldValue for Vec<String> {
    fn read(value: &Value) -> Result<Self, String> {
        if let Value::List(it) = value { Ok(it.clone()) } else { Err("a list of texts".to_owned()) }
    }

    fn print(&self) -> String {
        self.join(", ")
    }
}

impl FieldValue for Vec<Role> {
    fn read(value: &Value) -> Result<Self, String> {
        let Value::List(all) = value else { return Err("a list of roles".to_owned()) };
        let roles: Option<_> = all.iter().map(|it| Role::known(it)).collect();
        roles.ok_or_else(|| "a list of roles".to_owned())
    }

    fn print(&self) -> String {
        self.iter().map(Role::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl FieldValue for usize {
    fn read(value: &Value) -> Result<Self, String> {
        if let Value::Number(it) = value { Ok(*it) } else { Err("a number from 0 on".to_owned()) }
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl FieldValue for bool {
    fn read(value: &Value) -> Result<Self, String> {
        if let Value::Flag(it) = value { Ok(*it) } else { Err("true or false".to_owned()) }
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl FieldValue for IdPattern {
    fn read(value: &Value) -> Result<Self, String> {
        let text = text(value).ok_or_else(|| "an id pattern".to_owned())?;
        text.parse().map_err(|err| format!("an id pattern ({err})"))
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl FieldValue for CharClass {
    fn read(value: &Value) -> Result<Self, String> {
        class(value).ok_or_else(|| "`any` or a class such as [a-z]".to_owned())
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl FieldValue for Option<CharClass> {
    fn read(value: &Value) -> Result<Self, String> {
        match text(value) {
            Some("none") => Ok(None),
            _ => class(value).map(Some).ok_or_else(|| "`none` or a class".to_owned()),
        }
    }

    fn print(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), CharClass::to_string)
    }
}

impl FieldValue for Severity {
    fn read(value: &Value) -> Result<Self, String> {
        let severities =
            [("error", Severity::Error), ("warning", Severity::Warning), ("info", Severity::Info)];
        word(value, &severities)
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

/// The meaning of one of a few words.
pub(super) fn word<T: Copy>(value: &Value, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|it| Some(it.0) == text(value)).map(|it| it.1);
    found.ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|it| format!("`{}`", it.0)).collect();
        known.join(" or ")
    })
}

fn text(value: &Value) -> Option<&str> {
    if let Value::Text(it) = value { Some(it) } else { None }
}

fn class(value: &Value) -> Option<CharClass> {
    text(value)?.parse().ok()
}
