//! What each diagnostic code of this crate means. Sentences about one finding are made where it is found, not here.

use msg_core::CodeInfo;

/// The codes of schemas in the head of a request.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::error(
        "schema::root-not-object",
        "RQ-5",
        "the root of a schema is not of type object",
    ),
    CodeInfo::error("schema::open-object", "RQ-5", "a strict object allows other properties"),
    CodeInfo::error(
        "schema::optional-property",
        "RQ-5",
        "a strict object has an optional property",
    ),
    CodeInfo::error("schema::untyped-array", "RQ-5", "an array does not say what its items are"),
    CodeInfo::error("schema::type-beside-union", "RQ-5", "`type` is beside `anyOf`"),
    CodeInfo::error("schema::root-union", "RQ-5", "a union or a list of values is at the root"),
    CodeInfo::error("schema::keyword", "RQ-5", "a keyword that the provider does not accept"),
    CodeInfo::error("schema::format", "RQ-5", "a format that the provider does not know"),
    CodeInfo::error(
        "schema::enum",
        "RQ-5",
        "an enum with values that the provider does not accept",
    ),
    CodeInfo::error("schema::ref", "RQ-5", "a reference that does not resolve, or has siblings"),
    CodeInfo::error("schema::recursive", "RQ-5", "a schema refers to itself"),
    CodeInfo::error("schema::type-list", "RQ-5", "a list of types where one is expected"),
    CodeInfo::error("schema::required-unknown", "RQ-5", "`required` names no property"),
    CodeInfo::error("schema::property-name", "RQ-5", "a property name that the provider refuses"),
    CodeInfo::error("schema::invalid", "RQ-5", "not a schema of draft 2020-12"),
    CodeInfo::error("schema::too-large", "RQ-5", "a schema, or all strict tools, above a limit"),
    CodeInfo::warning("schema::strict-dropped", "RQ-8", "a strict dialect cannot say the schema"),
];
