//! Streams of 10 000 deltas: bytes into a message, whole and in 16-byte chunks, beside the chunk types
//! of the peers with the accumulation that their users write by hand.
//!
//! The peers get the stream cut into lines already and do nothing about what servers do wrong, so what
//! is measured for them is the least that they can cost. `rig-core` and `genai` assemble streams only
//! behind an HTTP client of their own, which has no place here.

use std::fmt::Write as _;
use std::hint::black_box;

use benches::{allocs, growth};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use msg_openai::{CHAT, RESPONSES, StreamOptions, StreamReader};
use serde_json::Value;

const DELTAS: usize = 10_000;

/// How the chunks of a stream differ from each other.
#[derive(Clone, Copy)]
enum Kind {
    /// Four bytes of text each.
    Text,
    /// The same, with padding of another text and length in each chunk.
    Padded,
    /// Arguments of one call, with escapes.
    Arguments,
}

fn stream(kind: Kind, deltas: usize) -> String {
    let mut res = String::new();
    let mut chunk = |delta: &str, padding: &str| {
        let head = r#""id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWx","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_0123456789""#;
        writeln!(
            res,
            "data: {{{head},\"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":null}}]{padding}}}\n"
        )
        .expect("because a String takes everything");
    };
    if let Kind::Arguments = kind {
        chunk(
            r#"{"tool_calls":[{"index":0,"id":"call_AbCdEfGh","type":"function","function":{"name":"write_file","arguments":"{\"text\":\""}}]}"#,
            "",
        );
    }
    for n in 0..deltas {
        match kind {
            Kind::Text => chunk(r#"{"content":"word"}"#, ""),
            Kind::Padded => {
                let padding = "abcdefghijklmnop".get(n % 7..n % 7 + 3 + n % 5).unwrap_or("abc");
                chunk(r#"{"content":"word"}"#, &format!(r#","obfuscation":"{padding}{n}""#));
            }
            Kind::Arguments => {
                chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"a\\n"}}]}"#, "");
            }
        }
    }
    if let Kind::Arguments = kind {
        chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]}"#, "");
    }
    res.push_str("data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    res
}

/// Bytes of text and arguments.
fn ours(bytes: &[u8], chunk: usize) -> usize {
    let mut reader = StreamReader::new(&[RESPONSES, CHAT], StreamOptions::default());
    for chunk in bytes.chunks(chunk) {
        reader.feed(chunk, &mut |event| {
            black_box(&event);
        });
    }
    let res = reader.finish(&mut |_| {});
    assert!(res.complete && res.choices[0].incomplete.is_empty());
    let message = &res.choices[0].message;
    message.text().len() + message.tool_calls().map(|it| it.arguments.text().len()).sum::<usize>()
}

fn data(stream: &str) -> impl Iterator<Item = &str> {
    stream.lines().filter_map(|it| it.strip_prefix("data: ")).take_while(|it| *it != "[DONE]")
}

fn async_openai_types(stream: &str) -> usize {
    use async_openai::types::chat::CreateChatCompletionStreamResponse;
    let (mut text, mut arguments) = (String::new(), String::new());
    for data in data(stream) {
        let chunk: CreateChatCompletionStreamResponse =
            serde_json::from_str(data).expect("because the corpus is what the types describe");
        for choice in chunk.choices {
            text.push_str(choice.delta.content.as_deref().unwrap_or_default());
            for call in choice.delta.tool_calls.into_iter().flatten() {
                let more = call.function.and_then(|it| it.arguments);
                arguments.push_str(more.as_deref().unwrap_or_default());
            }
        }
    }
    text.len() + arguments.len()
}

fn openai_protocol_types(stream: &str) -> usize {
    use openai_protocol::chat::ChatCompletionStreamResponse;
    let (mut text, mut arguments) = (String::new(), String::new());
    for data in data(stream) {
        let chunk: ChatCompletionStreamResponse =
            serde_json::from_str(data).expect("because the corpus is what the types describe");
        for choice in chunk.choices {
            text.push_str(choice.delta.content.as_deref().unwrap_or_default());
            for call in choice.delta.tool_calls.into_iter().flatten() {
                let more = call.function.and_then(|it| it.arguments);
                arguments.push_str(more.as_deref().unwrap_or_default());
            }
        }
    }
    text.len() + arguments.len()
}

fn serde_json_value(stream: &str) -> usize {
    let (mut text, mut arguments) = (String::new(), String::new());
    for data in data(stream) {
        let chunk: Value = serde_json::from_str(data).expect("because the corpus is JSON");
        let delta = &chunk["choices"][0]["delta"];
        text.push_str(delta["content"].as_str().unwrap_or_default());
        let more = &delta["tool_calls"][0]["function"]["arguments"];
        arguments.push_str(more.as_str().unwrap_or_default());
    }
    text.len() + arguments.len()
}

fn kind(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, kind: Kind) {
    let text = stream(kind, DELTAS);
    let peers: [(&str, fn(&str) -> usize); 3] = [
        ("async-openai-types", async_openai_types),
        ("openai-protocol-types", openai_protocol_types),
        ("serde_json-value", serde_json_value),
    ];
    let expected = ours(text.as_bytes(), text.len());
    group.throughput(Throughput::Bytes(text.len() as u64));
    for (chunk, size) in [("whole", text.len()), ("16-bytes", 16)] {
        assert_eq!(ours(text.as_bytes(), size), expected);
        group.bench_function(format!("{name}/{chunk}"), |b| {
            b.iter(|| ours(black_box(text.as_bytes()), size));
        });
        allocs::report(&format!("stream/{name}/{chunk}"), DELTAS, || ours(text.as_bytes(), size));
    }
    for (peer, run) in peers {
        assert_eq!(run(&text), expected);
        group.bench_function(format!("{name}/{peer}"), |b| b.iter(|| run(black_box(&text))));
        allocs::report(&format!("stream/{name}/{peer}"), DELTAS, || run(&text));
    }
}

fn streams(c: &mut Criterion) {
    let mut group = c.benchmark_group("stream");
    group.sample_size(20);
    kind(&mut group, "text", Kind::Text);
    kind(&mut group, "padded", Kind::Padded);
    kind(&mut group, "arguments", Kind::Arguments);
    group.finish();
    for chunk in [usize::MAX, 1] {
        growth::check(
            &format!("stream in chunks of {chunk}"),
            2_000,
            |n| stream(Kind::Arguments, n),
            |it| ours(it.as_bytes(), chunk.min(it.len())),
        );
    }
}

criterion_group!(benches, streams);
criterion_main!(benches);
