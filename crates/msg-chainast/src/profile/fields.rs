//! The fields of a profile by name: how the generated table and profile files fill one, and how one is
//! printed. What a field means stands at the struct.

use msg_core::{Role, Severity};

use super::{CharClass, Profile};
use crate::ids::IdPattern;

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
    fn read(value: Value<'_>) -> Result<Self, String>;

    /// The text of a value, as a table prints it.
    fn print(&self) -> String;
}

/// Reads a field, whose member of the struct may be a `bool` for two words.
macro_rules! read {
    ($profile:ident, $value:ident, $name:ident) => {
        FieldValue::read($value).map(|it| $profile.$name = it)
    };
    ($profile:ident, $value:ident, $name:ident, $member:ident, $no:literal, $yes:literal) => {
        word($value, &[($no, false), ($yes, true)]).map(|it| $profile.$member = it)
    };
}

/// The text of a field.
macro_rules! print {
    ($profile:ident, $name:ident) => {
        $profile.$name.print()
    };
    ($profile:ident, $name:ident, $member:ident, $no:literal, $yes:literal) => {
        if $profile.$member { $yes } else { $no }.to_owned()
    };
}

/// Lists the fields once, in the order in which they are printed.
macro_rules! fields {
    ($($name:ident $(=> $member:ident [$no:literal, $yes:literal])?,)+) => {
        /// The names of the fields, in the order in which they are printed.
        #[cfg(feature = "toml")]
        pub(crate) const FIELDS: &[&str] = &[$(stringify!($name)),+];

        /// Sets a field of a profile.
        pub(super) fn set(
            profile: &mut Profile,
            field: &str,
            value: Value<'_>,
        ) -> Result<(), FieldError> {
            let read = match field {
                $(stringify!($name) => read!(profile, value, $name $(, $member, $no, $yes)?),)+
                _ => return Err(FieldError::Unknown { field: field.to_owned() }),
            };
            read.map_err(|expected| FieldError::Value { field: field.to_owned(), expected })
        }

        /// The text of each field, in order.
        pub(super) fn all(profile: &Profile) -> Vec<(&'static str, String)> {
            vec![$((stringify!($name), print!(profile, $name $(, $member, $no, $yes)?))),+]
        }
    };
}

fields! {
    title,
    aliases,
    format,
    model,
    account,
    id_class,
    id_min,
    id_max,
    id_pattern,
    id_shape,
    id_unique => ids_unique_in_chain ["message", "chain"],
    id_severity,
    name_class,
    name_first,
    name_max,
    user,
    first_role,
    consecutive_user,
    system_place,
    repeated_system,
    later_system => later_system_as_user ["hoist", "user"],
    interleaved_calls,
    leading_results,
    alternate,
    after_tool => assistant_after_tool ["any", "assistant"],
    system,
    developer => developer_as_system ["keep", "system"],
    empty,
    empty_is => empty_texts_count ["text", "part"],
    blank,
    empty_text,
    arguments,
    result_name => results_named ["any", "call"],
    message_name,
    message_name_max,
    max_calls,
    last => user_last ["any", "user"],
    reasoning_keep,
    reasoning_signed,
    reasoning_stored,
    lone_reasoning,
    reasoning_bound,
    reasoning_require,
    reasoning_fallback,
    reasoning_first,
    call_signature => drops_call_signatures ["keep", "drop"],
    media_roles,
    media_urls,
    image_types,
    image_bytes_max,
    image_side_max,
    many_images,
    many_images_side_max,
    file_types,
    file_name_class,
    file_name_max,
    file_needs_text,
    empty_result,
    error_result,
    untyped_parts,
    members => known_members_only ["any", "known"],
    refused_members,
    cache_max,
    cache_members,
    server_tools,
    last_trim,
    doubt,
}

impl FieldValue for String {
    fn read(value: Value<'_>) -> Result<Self, String> {
        text(value).map(str::to_owned).ok_or_else(|| "a text".to_owned())
    }

    fn print(&self) -> String {
        self.clone()
    }
}

impl FieldValue for Vec<String> {
    fn read(value: Value<'_>) -> Result<Self, String> {
        list(value).ok_or_else(|| "a list of texts".to_owned())
    }

    fn print(&self) -> String {
        self.join(", ")
    }
}

impl FieldValue for Vec<Role> {
    fn read(value: Value<'_>) -> Result<Self, String> {
        let roles = list(value).and_then(|it| it.iter().map(|it| Role::known(it)).collect());
        roles.ok_or_else(|| "a list of roles".to_owned())
    }

    fn print(&self) -> String {
        self.iter().map(Role::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl FieldValue for usize {
    fn read(value: Value<'_>) -> Result<Self, String> {
        if let Value::Number(it) = value { Ok(it) } else { Err("a number from 0 on".to_owned()) }
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl FieldValue for bool {
    fn read(value: Value<'_>) -> Result<Self, String> {
        if let Value::Flag(it) = value { Ok(it) } else { Err("true or false".to_owned()) }
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl FieldValue for IdPattern {
    fn read(value: Value<'_>) -> Result<Self, String> {
        let text = text(value).ok_or_else(|| "an id pattern".to_owned())?;
        text.parse().map_err(|err| format!("an id pattern ({err})"))
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl FieldValue for CharClass {
    fn read(value: Value<'_>) -> Result<Self, String> {
        class(value).ok_or_else(|| "`any` or a class such as [a-z]".to_owned())
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl FieldValue for Option<CharClass> {
    fn read(value: Value<'_>) -> Result<Self, String> {
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
    fn read(value: Value<'_>) -> Result<Self, String> {
        let severities =
            [("error", Severity::Error), ("warning", Severity::Warning), ("info", Severity::Info)];
        word(value, &severities)
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

/// The meaning of one of a few words.
pub(super) fn word<T: Copy>(value: Value<'_>, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|it| Some(it.0) == text(value)).map(|it| it.1);
    found.ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|it| format!("`{}`", it.0)).collect();
        known.join(" or ")
    })
}

fn text(value: Value<'_>) -> Option<&str> {
    if let Value::Text(it) = value { Some(it) } else { None }
}

fn list(value: Value<'_>) -> Option<Vec<String>> {
    let Value::List(all) = value else { return None };
    Some(all.iter().map(|it| (*it).to_owned()).collect())
}

fn class(value: Value<'_>) -> Option<CharClass> {
    text(value)?.parse().ok()
}
