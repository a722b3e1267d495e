//! The fields of a profile by name: how the generated table and profile files fill one, and how one is
//! printed.

use msg_core::{Role, Severity};

use super::{CharClass, MessageNames, Profile, rules};

/// A value of a profile file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    Number(usize),
    Flag(bool),
    List(&'a [&'a str]),
}

/// Why a field cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
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

/// The fields, in the order in which they are printed.
pub(crate) const FIELDS: &[&str] = &[
    "title",
    "aliases",
    "id_class",
    "id_min",
    "id_max",
    "id_pattern",
    "id_shape",
    "id_unique",
    "id_severity",
    "name_class",
    "name_first",
    "name_max",
    "user",
    "alternate",
    "after_tool",
    "system",
    "developer",
    "empty",
    "blank",
    "empty_text",
    "arguments",
    "result_name",
    "message_name",
    "message_name_max",
    "max_calls",
    "last",
    "reasoning_keep",
    "reasoning_signed",
    "reasoning_require",
    "reasoning_fallback",
    "call_signature",
    "doubt",
];

/// Sets a field of a profile.
pub(super) fn set(profile: &mut Profile, field: &str, value: Value<'_>) -> Result<(), FieldError> {
    let wrong = |expected: &str| FieldError::Value {
        field: field.to_owned(),
        expected: expected.to_owned(),
    };
    match field {
        "title" => profile.title = text(value).ok_or_else(|| wrong("a text"))?.to_owned(),
        "aliases" => profile.aliases = list(value).ok_or_else(|| wrong("a list of texts"))?,
        "doubt" => profile.doubt = list(value).ok_or_else(|| wrong("a list of texts"))?,
        "reasoning_fallback" => {
            text(value).ok_or_else(|| wrong("a text"))?.clone_into(&mut profile.reasoning_fallback);
        }
        "id_pattern" => {
            let parse = text(value).ok_or_else(|| wrong("an id pattern"))?.parse();
            profile.id_pattern = parse.map_err(|err| wrong(&format!("an id pattern ({err})")))?;
        }
        "empty" => {
            let roles = list(value).and_then(|it| it.iter().map(|it| Role::known(it)).collect());
            profile.empty = roles.ok_or_else(|| wrong("a list of roles"))?;
        }
        "message_name" => {
            profile.message_name = match text(value) {
                Some("none") => MessageNames::None,
                other => MessageNames::Of(class(other).ok_or_else(|| wrong("`none` or a class"))?),
            };
        }
        "id_class" | "name_class" | "name_first" => {
            let class =
                class(text(value)).ok_or_else(|| wrong("`any` or a class such as [a-z]"))?;
            match field {
                "id_class" => profile.id_class = class,
                "name_class" => profile.name_class = class,
                _ => profile.name_first = class,
            }
        }
        "id_min" | "id_max" | "name_max" | "message_name_max" | "max_calls" => {
            let Value::Number(number) = value else { return Err(wrong("a number from 0 on")) };
            *number_of(profile, field) = number;
        }
        "id_shape" | "alternate" | "blank" | "reasoning_signed" => {
            let Value::Flag(flag) = value else { return Err(wrong("true or false")) };
            *flag_of(profile, field) = flag;
        }
        _ => return set_word(profile, field, text(value)),
    }
    Ok(())
}

/// Sets a field that is one of a few words.
fn set_word(profile: &mut Profile, field: &str, value: Option<&str>) -> Result<(), FieldError> {
    const SEVERITIES: &[(&str, Severity)] =
        &[("error", Severity::Error), ("warning", Severity::Warning), ("info", Severity::Info)];
    match field {
        "id_unique" => profile.id_unique = word(field, value, rules::IdScope::WORDS)?,
        "id_severity" => profile.id_severity = word(field, value, SEVERITIES)?,
        "user" => profile.user = word(field, value, rules::UserMessage::WORDS)?,
        "after_tool" => profile.after_tool = word(field, value, rules::AfterTool::WORDS)?,
        "system" => profile.system = word(field, value, rules::SystemPlace::WORDS)?,
        "developer" => profile.developer = word(field, value, rules::DeveloperRole::WORDS)?,
        "empty_text" => profile.empty_text = word(field, value, rules::EmptyText::WORDS)?,
        "arguments" => profile.arguments = word(field, value, rules::ArgumentsRule::WORDS)?,
        "result_name" => profile.result_name = word(field, value, rules::ResultNames::WORDS)?,
        "last" => profile.last = word(field, value, rules::LastMessage::WORDS)?,
        "reasoning_keep" => {
            profile.reasoning_keep = word(field, value, rules::ReasoningKept::WORDS)?;
        }
        "reasoning_require" => {
            profile.reasoning_require = word(field, value, rules::ReasoningRequired::WORDS)?;
        }
        "call_signature" => {
            profile.call_signature = word(field, value, rules::CallSignatures::WORDS)?;
        }
        _ => return Err(FieldError::Unknown { field: field.to_owned() }),
    }
    Ok(())
}

/// The text of a field, as a table prints it.
pub(super) fn get(profile: &Profile, field: &str) -> String {
    match field {
        "title" => profile.title.clone(),
        "aliases" => profile.aliases.join(", "),
        "id_class" => profile.id_class.to_string(),
        "id_min" => profile.id_min.to_string(),
        "id_max" => profile.id_max.to_string(),
        "id_pattern" => profile.id_pattern.to_string(),
        "id_shape" => profile.id_shape.to_string(),
        "id_unique" => profile.id_unique.to_string(),
        "id_severity" => profile.id_severity.to_string(),
        "name_class" => profile.name_class.to_string(),
        "name_first" => profile.name_first.to_string(),
        "name_max" => profile.name_max.to_string(),
        "user" => profile.user.to_string(),
        "alternate" => profile.alternate.to_string(),
        "after_tool" => profile.after_tool.to_string(),
        "system" => profile.system.to_string(),
        "developer" => profile.developer.to_string(),
        "empty" => profile.empty.iter().map(Role::as_str).collect::<Vec<_>>().join(", "),
        "blank" => profile.blank.to_string(),
        "empty_text" => profile.empty_text.to_string(),
        "arguments" => profile.arguments.to_string(),
        "result_name" => profile.result_name.to_string(),
        "message_name" => profile.message_name.to_string(),
        "message_name_max" => profile.message_name_max.to_string(),
        "max_calls" => profile.max_calls.to_string(),
        "last" => profile.last.to_string(),
        "reasoning_keep" => profile.reasoning_keep.to_string(),
        "reasoning_signed" => profile.reasoning_signed.to_string(),
        "reasoning_require" => profile.reasoning_require.to_string(),
        "reasoning_fallback" => profile.reasoning_fallback.clone(),
        "call_signature" => profile.call_signature.to_string(),
        "doubt" => profile.doubt.join(", "),
        _ => String::new(),
    }
}

fn word<T: Copy>(field: &str, value: Option<&str>, words: &[(&str, T)]) -> Result<T, FieldError> {
    let found = words.iter().find(|it| Some(it.0) == value).map(|it| it.1);
    found.ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|it| format!("`{}`", it.0)).collect();
        FieldError::Value { field: field.to_owned(), expected: known.join(" or ") }
    })
}

fn number_of<'p>(profile: &'p mut Profile, field: &str) -> &'p mut usize {
    match field {
        "id_min" => &mut profile.id_min,
        "id_max" => &mut profile.id_max,
        "name_max" => &mut profile.name_max,
        "message_name_max" => &mut profile.message_name_max,
        _ => &mut profile.max_calls,
    }
}

fn flag_of<'p>(profile: &'p mut Profile, field: &str) -> &'p mut bool {
    match field {
        "id_shape" => &mut profile.id_shape,
        "alternate" => &mut profile.alternate,
        "blank" => &mut profile.blank,
        _ => &mut profile.reasoning_signed,
    }
}

fn text(value: Value<'_>) -> Option<&str> {
    if let Value::Text(it) = value { Some(it) } else { None }
}

fn list(value: Value<'_>) -> Option<Vec<String>> {
    let Value::List(all) = value else { return None };
    Some(all.iter().map(|it| (*it).to_owned()).collect())
}

fn class(value: Option<&str>) -> Option<CharClass> {
    value?.parse().ok()
}
