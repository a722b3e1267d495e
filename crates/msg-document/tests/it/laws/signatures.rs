//! The law of signatures (AN-7, GE-7): what a provider sealed, its thoughts and its signatures, goes out in no format but
//! that provider's own, and in the forms of this workspace, which keep it apart. Chat messages have members that say
//! whose it is: `thinking_blocks` is Anthropic's, `extra_content.google` Gemini's.

use msg_core::{Message, Part, Reasoning};
use msg_document::{
    CaptureOptions, ConvertOptions, Document, Format, Provider, ReadOptions, StreamForm, convert,
    stream,
};
use serde_json::Value;

/// The providers' formats.
const FORMATS: [&str; 4] = ["openai", "responses", "anthropic", "gemini"];

/// Other forms that have no place for a seal.
const OTHERS: [&str; 3] = ["sharegpt", "otel", "plain"];

/// The streams of providers, and whose they are.
const STREAMS: [(&str, StreamForm); 4] = [
    ("openai", StreamForm::OpenAiChunks),
    ("responses", StreamForm::ResponsesEvents),
    ("anthropic", StreamForm::AnthropicEvents),
    ("gemini", StreamForm::GeminiChunks),
];

/// No other format than the one that a document came in holds what is sealed in it.
pub(crate) fn seals_stay_in_their_format(json: &[u8], from: Format) {
    let read = ReadOptions::default().with_from(Some(from));
    let Ok(document) = Document::read(json, &read) else { return };
    let seals = seals(document.messages(), json);
    for to in FORMATS.iter().chain(&OTHERS).filter(|it| **it != from.name()) {
        let format = to.parse().expect("because it is a format");
        let options = ConvertOptions::default().with_read(read.clone());
        let Ok(converted) = convert(json, format, &options) else { continue };
        bears_none(&converted.document, &seals, from.name(), to);
    }
}

/// No other provider's stream than that of the provider holds what is sealed in it.
pub(crate) fn seals_stay_in_their_stream(body: &[u8], from: Provider) {
    let read = |to| stream(body, &CaptureOptions::default().with_provider(from).with_to(to));
    for (to, form) in STREAMS.iter().filter(|it| it.0 != from.name()) {
        let Ok(streamed) = read(*form) else { return };
        let choices = &streamed.assembled.choices;
        let messages: Vec<Message> = choices.iter().map(|it| it.message.clone()).collect();
        let mut out = Vec::new();
        streamed.write_stream(&mut out);
        bears_none(&out, &seals(&messages, body), from.name(), to);
    }
}

/// The sealed values that are long enough to be distinguished from other text and occur only once.
fn seals(messages: &[Message], source: &[u8]) -> Vec<String> {
    let source = String::from_utf8_lossy(source);
    let is_told = |it: &String| it.len() >= 8 && source.matches(it.as_str()).count() == 1;
    let of_thought = |it: &Reasoning| {
        [&it.signature, &it.redacted, &it.encrypted].into_iter().flatten().cloned().collect()
    };
    let of_part = |it: &Part| -> Vec<String> {
        match it {
            Part::Reasoning(it) => of_thought(it),
            Part::ToolCall(it) => it.signature.iter().cloned().collect(),
            _ => Vec::new(),
        }
    };
    messages.iter().flat_map(|it| &it.parts).flat_map(of_part).filter(is_told).collect()
}

fn bears_none(written: &[u8], seals: &[String], from: &str, to: &str) {
    let text = String::from_utf8_lossy(written);
    let objects = text.lines().map(|it| it.strip_prefix("data: ").unwrap_or(it));
    let written: Vec<String> = objects
        .map(|it| match serde_json::from_str::<Value>(it) {
            Ok(mut value) => {
                drop_named(&mut value, from);
                value.to_string()
            }
            Err(_) => it.to_owned(),
        })
        .collect();
    for seal in seals {
        let json = Value::from(seal.as_str()).to_string();
        let found = written.iter().find(|it| it.contains(json.trim_matches('"')));
        assert!(found.is_none(), "{to} holds what {from} sealed, {seal:?}: {found:?}");
    }
}

/// Takes the members out that say whose a seal is.
fn drop_named(value: &mut Value, from: &str) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|it| drop_named(it, from)),
        Value::Object(members) => {
            match from {
                "anthropic" => drop(members.remove("thinking_blocks")),
                "gemini" => drop(members.remove("extra_content")),
                _ => {}
            }
            members.values_mut().for_each(|it| drop_named(it, from));
        }
        _ => {}
    }
}
