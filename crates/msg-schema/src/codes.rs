//! What each diagnostic code of this crate means. Sentences about one finding are made where it is found, not here.

use msg_core::{CodeInfo, codes};

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
