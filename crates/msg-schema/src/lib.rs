//! JSON Schema as LLM providers take it: for the parameters of tools and the shape of answers.
//!
//! ```text
//! {"properties":{"a":{"type":"array"}}}         what an application sends
//!   check(…, OPENAI)   schema::root-not-object at "", schema::untyped-array at "/properties/a"
//!   mend(…, OPENAI)    {"type":"object","properties":{"a":{"type":"array","items":{}}}}
//! ```
//!
//! Each provider accepts a [`Dialect`] of JSON Schema 2020-12 and answers 400 to the rest. The dialects are
//! one table; [`check`] reports what one refuses, with a JSON pointer into the schema, and [`mend`] makes the
//! smallest change after which it is accepted: every instance that was valid stays valid. Gemini's OpenAPI
//! spelling becomes JSON Schema with [`from_openapi`]. Knows no wire format.

use msg_core::{CodeInfo, codes};
use msg_json::RawJson;

use self::node::Node;

pub use self::check::{Fault, Properties};
pub use self::dialect::Dialect;

mod check;
mod dialect;
mod mend;
mod node;
mod openapi;
mod root;

/// How a schema is changed to fit a dialect.
#[derive(Debug, Clone, PartialEq)]
pub enum SchemaOutcome {
    /// The dialect accepts it as it is.
    Accepted,
    /// The smallest change that the dialect accepts.
    Mended(RawJson),
    /// No change keeps the meaning.
    NoMend,
}

/// What a dialect refuses in a schema, in the order of the text. Linear, but for references.
///
/// ```
/// use msg_json::RawJson;
/// use msg_schema::{Dialect, check};
///
/// let found = check(&RawJson::new(r#"{"type":"string"}"#)?, Dialect::OPENAI);
/// assert_eq!((found[0].code, found[0].pointer.as_str()), ("schema::root-not-object", ""));
/// # Ok::<(), msg_json::JsonError>(())
/// ```
pub fn check(schema: &RawJson, dialect: Dialect) -> Vec<Fault> {
    check::faults(&Node::of(schema), dialect)
}

/// Makes the smallest change after which a dialect accepts the schema. What is accepted stays the same text, and a
/// second mend changes nothing.
///
/// ```
/// use msg_json::RawJson;
/// use msg_schema::{Dialect, SchemaOutcome, mend};
///
/// let schema = RawJson::new(r#"{"type":"object","properties":{}}"#)?;
/// assert_eq!(mend(&schema, Dialect::OPENAI), SchemaOutcome::Accepted);
/// # Ok::<(), msg_json::JsonError>(())
/// ```
pub fn mend(schema: &RawJson, dialect: Dialect) -> SchemaOutcome {
    let node = Node::of(schema);
    let found = check::faults(&node, dialect);
    if found.is_empty() {
        return SchemaOutcome::Accepted;
    }
    match mend::mended(node, dialect, &found) {
        Some(it) if check::faults(&it, dialect).is_empty() => SchemaOutcome::Mended(it.raw()),
        _ => SchemaOutcome::NoMend,
    }
}

/// Counts the properties that Anthropic limits in a request: optional ones, and those of several types.
///
/// ```
/// use msg_json::RawJson;
///
/// let schema = RawJson::new(r#"{"properties":{"a":{"type":["string","null"]}}}"#)?;
/// let counts = msg_schema::count_properties(&schema);
/// assert_eq!((counts.optional, counts.unions), (1, 1));
/// # Ok::<(), msg_json::JsonError>(())
/// ```
pub fn count_properties(schema: &RawJson) -> Properties {
    let mut res = Properties::default();
    res.add(&Node::of(schema));
    res
}

/// A schema in Gemini's OpenAPI spelling as JSON Schema 2020-12 (RQ-3). What needs no translation keeps its text.
///
/// ```
/// use msg_json::RawJson;
///
/// let schema = RawJson::new(r#"{"type":"STRING","nullable":true}"#)?;
/// assert_eq!(msg_schema::from_openapi(&schema).text(), r#"{"type":["string","null"]}"#);
/// # Ok::<(), msg_json::JsonError>(())
/// ```
pub fn from_openapi(schema: &RawJson) -> RawJson {
    same_text(schema, openapi::translated)
}

/// A schema in which each `const` that is a string or a number is an `enum` of one, since Gemini ignores `const` (RQ-3).
///
/// ```
/// use msg_json::RawJson;
///
/// let schema = RawJson::new(r#"{"const":"a"}"#)?;
/// assert_eq!(msg_schema::for_gemini(&schema).text(), r#"{"enum":["a"]}"#);
/// # Ok::<(), msg_json::JsonError>(())
/// ```
pub fn for_gemini(schema: &RawJson) -> RawJson {
    same_text(schema, openapi::without_const)
}

/// The schema after `change`, or its own text where that changes nothing.
fn same_text(schema: &RawJson, change: impl FnOnce(Node) -> Node) -> RawJson {
    let node = Node::of(schema);
    let changed = change(node.clone());
    if changed == node { schema.clone() } else { changed.raw() }
}

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The codes of schemas in the head of a request.
pub const CODES: &[CodeInfo] = codes! {
    error "schema::root-not-object" "RQ-5" "the root of a schema does not have type `object`";
    error "schema::open-object" "RQ-5" "a strict object allows additional properties";
    error "schema::optional-property" "RQ-5" "a strict object has an optional property";
    error "schema::untyped-array" "RQ-5" "an array without the type of its items";
    error "schema::type-beside-union" "RQ-5" "`type` is beside `anyOf`";
    error "schema::root-union" "RQ-5" "a union or a list of values is at the root";
    error "schema::keyword" "RQ-5" "a keyword that the provider does not accept";
    error "schema::format" "RQ-5" "a format that the provider does not know";
    error "schema::enum" "RQ-5" "an enum with values that the provider does not accept";
    error "schema::ref" "RQ-5" "a reference that does not resolve, or that has siblings";
    error "schema::recursive" "RQ-5" "a schema refers to itself";
    error "schema::type-list" "RQ-5" "a list of types where one is expected";
    error "schema::required-unknown" "RQ-5" "`required` names an unknown property";
    error "schema::property-name" "RQ-5" "a property name that the provider refuses";
    error "schema::invalid" "RQ-5" "not a valid schema of draft 2020-12";
    error "schema::too-large" "RQ-5" "a schema, or all strict tools, above a limit";
    warning "schema::strict-dropped" "RQ-8" "a schema that the strict mode cannot express";
};
