//! What an error body says.

use super::message;

#[test]
fn the_sentence_of_an_error_is_shown() {
    for (body, want) in [
        (r#"{"error":{"message":"no such model","type":"x"}}"#, "no such model"),
        (r#"[{"error":{"code":404,"message":"not found"}}]"#, "not found"),
        (r#"{"error":"overloaded"}"#, "overloaded"),
        (r#"{"detail":"Not Found"}"#, "Not Found"),
        (r#"{"a":1}"#, r#"{"a":1}"#),
        (" bad id\n", "bad id"),
        ("", ""),
    ] {
        assert_eq!(message(body.as_bytes()), want);
    }
}
