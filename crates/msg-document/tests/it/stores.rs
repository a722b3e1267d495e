//! Stores of frameworks whose values are of a wrong type, twice, or beside what a message says: a document is refused, or
//! each command gives every value back or names it. A call of each store has no result, so that a repair edits it.

use msg_document::{
    ConvertOptions, Digest, FitOptions, Format, ReadOptions, RepairOptions, convert, fit, repair,
};
use serde_json::{Value, json};

use crate::wrong_types::{LEAF, places, pointer, says, values};

/// A store by its format.
fn samples() -> Vec<(&'static str, Value)> {
    vec![
        (
            "ai-sdk",
            json!([
            {"role": "user", "content": [{"type": "text", "text": "what is this?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "look"},
                {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"n": 1}}]},
            {"role": "user", "content": "thanks"}]),
        ),
        (
            "vercel-ui",
            json!([
            {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "what is this?"}]},
            {"id": "m2", "role": "assistant", "metadata": {"at": 5}, "parts": [
                {"type": "tool-look", "toolCallId": "c1", "state": "input-available", "input": {"n": 1}}]},
            {"id": "m3", "role": "user", "parts": [{"type": "text", "text": "thanks"}]}]),
        ),
        (
            "ag-ui",
            json!([
            {"id": "m1", "role": "user", "name": "ann", "content": "what is this?"},
            {"id": "m2", "role": "assistant", "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"n\":1}"}}]},
            {"id": "m3", "role": "user", "content": "thanks"}]),
        ),
        (
            "langchain",
            json!([
            {"type": "human", "data": {"content": "what is this?", "id": "m1"}},
            {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "look", "args": {"n": 1}, "id": "c1"}]}},
            {"type": "human", "data": {"content": "thanks"}}]),
        ),
        (
            "pydantic-ai",
            json!([
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "what is this?", "timestamp": "t"}]},
            {"kind": "response", "model_name": "m", "parts": [
                {"part_kind": "tool-call", "tool_name": "look", "args": "{\"n\":1}", "tool_call_id": "c1"}]},
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "thanks"}]}]),
        ),
        (
            "agents-sdk",
            json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "what is this?"}]},
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"n\":1}"},
            {"role": "user", "content": "thanks"}]),
        ),
        (
            "adk",
            json!({"id": "s", "events": [
            {"id": "e1", "author": "user", "invocationId": "i", "content": {"role": "user", "parts": [{"text": "what is this?"}]}},
            {"id": "e2", "author": "agent", "invocationId": "i", "content": {"role": "model", "parts": [
                {"functionCall": {"id": "c1", "name": "look", "args": {"n": 1}}}]}},
            {"id": "e3", "author": "user", "content": {"role": "user", "parts": [{"text": "thanks"}]}}]}),
        ),
        (
            "haystack",
            json!([
            {"role": "user", "meta": {"k": 1}, "name": "ann", "content": [{"text": "what is this?"}]},
            {"role": "assistant", "meta": {}, "name": null, "content": [
                {"tool_call": {"id": "c1", "tool_name": "look", "arguments": {"n": 1}}}]},
            {"role": "user", "meta": {}, "name": null, "content": [{"text": "thanks"}]}]),
        ),
        (
            "llama-index",
            json!([
            {"role": "user", "additional_kwargs": {"k": 1}, "blocks": [{"block_type": "text", "text": "what is this?"}]},
            {"role": "assistant", "additional_kwargs": {}, "blocks": [
                {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "look", "tool_kwargs": {"n": 1}}]},
            {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "thanks"}]}]),
        ),
        (
            "autogen",
            json!([
            {"type": "UserMessage", "source": "user", "content": "what is this?"},
            {"type": "AssistantMessage", "source": "a", "thought": null, "content": [
                {"id": "c1", "name": "look", "arguments": "{\"n\":1}"}]},
            {"type": "UserMessage", "source": "user", "content": "thanks"}]),
        ),
        (
            "agent-framework",
            json!([
            {"type": "message", "role": "user", "contents": [{"type": "text", "text": "what is this?"}]},
            {"type": "message", "role": "assistant", "contents": [
                {"type": "function_call", "call_id": "c1", "name": "look", "arguments": {"n": 1}}]},
            {"type": "message", "role": "user", "contents": [{"type": "text", "text": "thanks"}]}]),
        ),
        (
            "semantic-kernel",
            json!({"messages": [
            {"content_type": "message", "role": "user", "items": [{"content_type": "text", "text": "what is this?"}]},
            {"content_type": "message", "role": "assistant", "items": [
                {"content_type": "function_call", "id": "c1", "name": "look", "arguments": "{\"n\":1}"}]},
            {"content_type": "message", "role": "user", "items": [{"content_type": "text", "text": "thanks"}]}]}),
        ),
    ]
}

/// Puts a value of another type, or an additional member, in each place.
fn documents(sample: &Value) -> Vec<(String, Value)> {
    let mut res = Vec::new();
    for path in places(sample) {
        let at = pointer(&path);
        let place = sample.pointer(&at).expect("it was found there");
        for value in values().into_iter().filter(|it| it.to_string().contains(LEAF)) {
            let mut document = sample.clone();
            *document.pointer_mut(&at).expect("it was found there") = value.clone();
            res.push((format!("{at} = {value}"), document));
        }
        if let Value::Object(members) = place {
            let mut document = sample.clone();
            let mut more = members.clone();
            more.insert("more".to_owned(), json!({"v": LEAF}));
            *document.pointer_mut(&at).expect("it was found there") = Value::Object(more);
            res.push((format!("{at} has more"), document));
        }
    }
    res
}

#[test]
fn stores_give_back_or_name_every_value() {
    let (mut tried, mut broken) = (0, Vec::new());
    for (name, sample) in samples() {
        let format: Format = name.parse().expect("because it is a format");
        let read = ReadOptions::default().with_from(Some(format));
        for (what, document) in documents(&sample) {
            let json = document.to_string();
            let mut expect = |act: &str, document: &[u8], report: &[_], after: &[String]| {
                tried += 1;
                let is_after = |it: &String| it == "v" || what.contains(it.as_str());
                let is_told = says(document, report) || after.iter().any(is_after);
                // The words of a store are given up with what they are said of.
                if !is_told && !what.contains("/state = ") && !what.contains("/type = \"") {
                    let out = String::from_utf8_lossy(document);
                    broken.push(format!("{name} {what}: {act} gives {out} and says {report:?}"));
                }
            };
            let mend = RepairOptions::default().with_read(read.clone());
            if let Ok(it) = repair(json.as_bytes(), &mend) {
                expect("repair", &it.document, &it.edits, &[]);
            }
            let to_chat = ConvertOptions::default().with_read(read.clone());
            if let Ok(it) = convert(json.as_bytes(), Format::default(), &to_chat) {
                expect("convert", &it.document, &it.edits, &it.left_behind);
            }
            let options = FitOptions::default()
                .with_budget(100_000)
                .with_read(ReadOptions::default().with_from(Some(format)));
            if let Ok(mut it) = fit(json.as_bytes(), &options, &Digest) {
                let line = it.to_json();
                expect("fit", &line, &it.edits(), &[]);
            }
        }
    }
    assert!(tried > 1000, "only {tried} documents were tried");
    let first: Vec<_> = broken.iter().take(30).map(String::as_str).collect();
    assert!(broken.is_empty(), "{} of {tried} are broken:\n{}", broken.len(), first.join("\n"));
}
