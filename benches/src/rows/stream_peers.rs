//! What others make of the same streams. For the assembling ones the stream is cut into lines by hand, and nothing is
//! done about what servers do wrong, so that what is measured is the least that they can cost.

use async_openai::types::chat::CreateChatCompletionStreamResponse;
use serde::Deserialize;
use serde_json::Value;

use super::streams::TIMES;
use crate::contest::On;
use crate::data::Capture;

type Captures = On<Vec<Capture>>;

/// The least that a program declares to get at text and arguments.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Vec<Choice<'a>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    delta: Delta<'a>,
}

#[derive(Deserialize, Default)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    arguments: Option<std::borrow::Cow<'a, str>>,
}

pub(super) fn assemble(on: Captures) -> Captures {
    on.timed("serde_json, typed", |it| {
        each(it, |data, out| append(serde_json::from_str(data).ok(), out))
    })
    .timed("sonic-rs 0.5.10, typed", |it| {
        each(it, |data, out| append(sonic_rs::from_str(data).ok(), out))
    })
    .timed("async-openai 0.43", |it| each(it, async_openai))
    .timed("serde_json, Value", |it| each(it, value))
}

/// Texts and arguments of each stream, as `append` finds them in the data of its events.
fn each(captures: &[Capture], append: impl Fn(&str, &mut String)) -> Vec<u64> {
    let read = |it: &Capture| {
        let text = String::from_utf8_lossy(&it.bytes);
        let data = text.lines().filter_map(|it| it.strip_prefix("data:")).map(str::trim_start);
        let mut out = String::new();
        data.take_while(|it| *it != "[DONE]").for_each(|it| append(it, &mut out));
        out.len() as u64
    };
    (1..TIMES).for_each(|_| captures.iter().for_each(|it| _ = read(it)));
    captures.iter().map(read).collect()
}

fn append(chunk: Option<Chunk<'_>>, out: &mut String) {
    for choice in chunk.into_iter().flat_map(|it| it.choices) {
        out.push_str(choice.delta.content.as_deref().unwrap_or_default());
        for call in choice.delta.tool_calls.into_iter().flatten() {
            let arguments = call.function.and_then(|it| it.arguments);
            out.push_str(arguments.as_deref().unwrap_or_default());
        }
    }
}

fn async_openai(data: &str, out: &mut String) {
    let chunk = serde_json::from_str::<CreateChatCompletionStreamResponse>(data);
    for choice in chunk.into_iter().flat_map(|it| it.choices) {
        out.push_str(choice.delta.content.as_deref().unwrap_or_default());
        for call in choice.delta.tool_calls.into_iter().flatten() {
            let arguments = call.function.and_then(|it| it.arguments);
            out.push_str(arguments.as_deref().unwrap_or_default());
        }
    }
}

fn value(data: &str, out: &mut String) {
    let Ok(chunk) = serde_json::from_str::<Value>(data) else { return };
    for choice in chunk["choices"].as_array().into_iter().flatten() {
        out.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            out.push_str(call["function"]["arguments"].as_str().unwrap_or_default());
        }
    }
}

pub(super) fn frame(on: Captures, chunk: usize) -> Captures {
    on.timed("sse-core 0.2.3", move |captures| {
        let read = |it: &Capture| {
            let mut decoder = sse_core::SseDecoder::new();
            let mut n = 0;
            for mut chunk in it.bytes.chunks(chunk) {
                while let Some(event) = decoder.next(&mut chunk) {
                    if let Ok(sse_core::SseEvent::Message(event)) = event {
                        n += event.data.len();
                    }
                }
            }
            n as u64
        };
        (1..TIMES).for_each(|_| captures.iter().for_each(|it| _ = read(it)));
        captures.iter().map(read).collect()
    })
}
