//! The first members of lines.

use super::{Head, read};
use crate::Dialect;

#[test]
fn what_is_said_is_not_read() {
    let said = |it: &str| Some(Head::Said(it.to_owned().into()));
    let line = r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"#;
    assert_eq!(read(Dialect::ClaudeCode, line), said("user"));
    let line = r#"{"isSidechain":true,"type":"assistant","#;
    assert_eq!(read(Dialect::ClaudeCode, line), Some(Head::Quiet));
    assert_eq!(read(Dialect::ClaudeCode, r#"{"type":"summary","#), None);
    let line =
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","#;
    assert_eq!(read(Dialect::Codex, line), said("user"));
    assert_eq!(
        read(Dialect::Goose, r#"{"id":null,"role":"assistant","content":[["#),
        said("assistant")
    );
    assert_eq!(read(Dialect::GeminiCli, r#"{"$set":{"lastUpdated":"t"}}"#), None);
}
