//! Where in a document its conversations are: the options `field` and `join` (RW-1 to RW-3).
//!
//! What is done with the places is for `rows`.

mod paths;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

pub use self::paths::FieldPath;
pub(crate) use self::paths::{Found, elements};
use crate::refusal::Refusal;

/// Where the conversations of a row are: nowhere in particular by default, so that the document is the conversation.
///
/// ```
/// use msg_document::{CheckOptions, RowFields, check};
///
/// let row = br#"{"id":7,"request":{"body":[{"role":"user","content":"hi"}]}}"#;
/// let mut options = CheckOptions::default();
/// options.read.fields = RowFields::field("request.body".parse()?);
/// assert!(check(row, &options)?.ok);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowFields {
    pub(crate) places: Vec<Place>,
}

/// One place, or the two places of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In one member.
    Field(FieldPath),
    /// A request and its answer.
    Join(JoinedPaths),
}

/// The members that hold a request and its answer, written `input,output` (RW-3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedPaths {
    /// Where the request is.
    pub input: FieldPath,
    /// Where the answer is.
    pub output: FieldPath,
}

impl RowFields {
    /// The conversation is in this member.
    pub fn field(path: FieldPath) -> Self {
        RowFields { places: vec![Place::Field(path)] }
    }

    /// The conversation is a request and its answer in two members.
    pub fn join(input: FieldPath, output: FieldPath) -> Self {
        RowFields { places: vec![Place::Join(JoinedPaths { input, output })] }
    }

    /// Also there.
    #[must_use]
    pub fn and(mut self, other: RowFields) -> Self {
        self.places.extend(other.places);
        self
    }

    /// Whether the document itself is the conversation.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Of the options `field` and `join`.
    pub(crate) fn of(field: Vec<FieldPath>, join: Vec<JoinedPaths>) -> Self {
        let fields = field.into_iter().map(Place::Field);
        RowFields { places: fields.chain(join.into_iter().map(Place::Join)).collect() }
    }
}

/// `a.b`, or `input,output`.
impl fmt::Display for RowFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, place) in self.places.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            match place {
                Place::Field(it) => write!(f, "{comma}`{it}`")?,
                Place::Join(it) => write!(f, "{comma}`{},{}`", it.input, it.output)?,
            }
        }
        Ok(())
    }
}

impl FromStr for JoinedPaths {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let halves = text.split_once(',').filter(|it| !it.1.contains(','));
        let (input, output) = halves.ok_or_else(|| {
            Refusal::bad_option(format!(
                "bad pair `{text}`: expected two paths, such as `input,output`"
            ))
        })?;
        Ok(JoinedPaths { input: input.trim().parse()?, output: output.trim().parse()? })
    }
}

impl<'de> Deserialize<'de> for JoinedPaths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// One path, or a list of them: the value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths<T>(pub(crate) Vec<T>);

/// As [`Paths`], for a member of public options.
pub(crate) fn paths<'de, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: FromStr<Err = Refusal>,
    D: Deserializer<'de>,
{
    Paths::deserialize(deserializer).map(|it| it.0)
}

impl<'de, T: FromStr<Err = Refusal>> Deserialize<'de> for Paths<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Given {
            One(String),
            Many(Vec<String>),
        }
        let given = match Given::deserialize(deserializer)? {
            Given::One(it) => vec![it],
            Given::Many(it) => it,
        };
        let paths = given.iter().map(|it| it.parse()).collect::<Result<_, Refusal>>();
        paths.map(Paths).map_err(serde::de::Error::custom)
    }
}
