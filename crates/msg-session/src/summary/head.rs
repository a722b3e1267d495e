//! Who speaks in a line, as its first members say, so that what is said need not be read.

use std::borrow::Cow;

use msg_json::Reader;

use crate::Dialect;

/// What the beginning of a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Head<'a> {
    /// Somebody says something.
    Said(Cow<'a, str>),
    /// Nothing that a list shows.
    Quiet,
}

/// The head of a line; none of one that must be read as a whole.
pub(super) fn read(dialect: Dialect, line: &str) -> Option<Head<'_>> {
    let mut reader = Reader::from_text(line);
    reader.begin_object().ok()?;
    match dialect {
        Dialect::ClaudeCode => claude_code(&mut reader),
        Dialect::Codex => codex(&mut reader),
        Dialect::GeminiCli => match text(&mut reader, "type")? {
            kind if matches!(&*kind, "user" | "gemini") => Some(Head::Said(kind)),
            _ => Some(Head::Quiet),
        },
        Dialect::Goose => text(&mut reader, "role").map(Head::Said),
        _ => None,
    }
}

fn claude_code<'a>(reader: &mut Reader<'a>) -> Option<Head<'a>> {
    let (mut kind, mut is_sidechain) = (None, None);
    while kind.is_none() || is_sidechain.is_none() {
        let Some(key) = reader.next_key().ok()? else { break };
        match &*key.text {
            "type" => match reader.string().ok()?.text {
                it if matches!(&*it, "user" | "assistant") => kind = Some(it),
                it if matches!(&*it, "ai-title" | "custom-title" | "summary") => return None,
                _ => return Some(Head::Quiet),
            },
            "isSidechain" => is_sidechain = Some(reader.raw().ok()? == "true"),
            _ => drop(reader.raw().ok()?),
        }
    }
    match is_sidechain {
        Some(true) => Some(Head::Quiet),
        _ => kind.map(Head::Said),
    }
}

fn codex<'a>(reader: &mut Reader<'a>) -> Option<Head<'a>> {
    text(reader, "type")?;
    while reader.next_key().ok()??.text != "payload" {
        reader.raw().ok()?;
    }
    reader.begin_object().ok()?;
    match &*text(reader, "type")? {
        "message" => text(reader, "role").map(Head::Said),
        "thread_name_updated" => None,
        _ => Some(Head::Quiet),
    }
}

/// The text of this member of the object that the reader is in; it is not read further.
fn text<'a>(reader: &mut Reader<'a>, name: &str) -> Option<Cow<'a, str>> {
    loop {
        let key = reader.next_key().ok()??;
        if key.text == name {
            return reader.string().ok().map(|it| it.text);
        }
        reader.raw().ok()?;
    }
}

#[cfg(test)]
mod tests {
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
}
