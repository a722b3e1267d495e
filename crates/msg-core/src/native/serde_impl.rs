//! `Serialize` and `Deserialize` of messages, parts, and the words and calls in them: the native form
//! (MS-7), for `serde_json`.
//!
//! The functions of this module are faster: they need no second walk over the bytes.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{part, read, write};
use crate::{
    CallKind, FinishReason, Message, Part, RawJson, Role, ToolCall, ToolResult,
    reading::deserialize, with_article,
};

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawJson::written(|it| it.value(|out| write::write_message(self, out))).serialize(serializer)
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawJson::written(|it| it.value(|out| write::write_part(self, out))).serialize(serializer)
    }
}

/// Calls and results by themselves are the native part that they make, `type` included.
macro_rules! as_part {
    ($($kind:ident),*) => {
        $(impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Part::$kind(self.clone()).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match Part::deserialize(deserializer)? {
                    Part::$kind(it) => Ok(it),
                    other => Err(D::Error::custom(format!(
                        "found {} part, expected {} part",
                        with_article(other.kind()),
                        with_article(Part::$kind($kind::default()).kind()),
                    ))),
                }
            }
        })*
    };
}

as_part!(ToolCall, ToolResult);

/// Words are written as they are, and read with the spellings that their `From<&str>` takes.
macro_rules! as_word {
    ($($kind:ident),*) => {
        $(impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                Ok($kind::from(word.as_str()))
            }
        })*
    };
}

as_word!(Role, CallKind, FinishReason);

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer, read::read_message)
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer, part::read)
    }
}
