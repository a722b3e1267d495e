//! The wire formats beside the peers: reading and writing chat requests of 10, 400 and 10 000 messages,
//! and a request of a megabyte in which every message has members that nobody knows.
//!
//! `serde_json` into its own `Value` is what a reader without a model costs, `async-openai` what typed
//! messages cost that drop what they do not know, `sonic-rs` what another parser makes of the same bytes.

use std::hint::black_box;

use benches::{allocs, corpus, growth};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use msg_openai::{ReadOptions, WriteOptions, chat};
use serde_json::Value;

fn read(json: &str) -> chat::Document {
    chat::read(json.as_bytes(), &ReadOptions::new()).expect("because the corpus is a request").0
}

fn write(document: &chat::Document, options: &WriteOptions) -> Vec<u8> {
    let mut out = Vec::new();
    document.write(options, &mut out);
    out
}

/// A request of about a megabyte: every message has members that the model does not know, and some
/// stand in an order that is not the canonical one.
fn with_unknown_members() -> String {
    let mut res = String::from(r#"{"model":"gpt-4o","messages":["#);
    let text = corpus::quoted(corpus::PROSE);
    let code = corpus::quoted(corpus::CODE);
    for at in 0..3500 {
        if at > 0 {
            res.push(',');
        }
        let message = match at % 3 {
            0 => format!(r#"{{"content":{text},"role":"user","turn_idx":{at},"cost":0.125}}"#),
            1 => format!(
                r#"{{"role":"assistant","content":{text},"refusal":null,"annotations":[],"usage":{{"prompt_tokens":{at},"details":{{"cached":0}}}}}}"#
            ),
            _ => format!(
                r#"{{"role":"tool","tool_call_id":"call_{at}","content":{code},"metadata":{{"exit":0,"took":1.50}}}}"#
            ),
        };
        res.push_str(&message);
    }
    res.push_str("]}");
    res
}

fn reading(c: &mut Criterion) {
    for (name, json) in documents() {
        let mut group = c.benchmark_group(format!("read/{name}"));
        group.throughput(Throughput::Bytes(json.len() as u64));
        group.bench_function("msg-openai", |b| b.iter(|| read(black_box(&json))));
        group.bench_function("serde_json/value", |b| {
            b.iter(|| serde_json::from_str::<Value>(black_box(&json)).is_ok());
        });
        group.bench_function("sonic-rs/value", |b| {
            b.iter(|| sonic_rs::from_str::<sonic_rs::Value>(black_box(&json)).is_ok());
        });
        group.bench_function("async-openai", |b| {
            b.iter(|| serde_json::from_str::<Typed>(black_box(&json)).is_ok());
        });
        group.finish();
    }
}

fn writing(c: &mut Criterion) {
    let canonical = WriteOptions::canonical();
    for (name, json) in documents() {
        let document = read(&json);
        let value: Value = serde_json::from_str(&json).expect("because the corpus is JSON");
        let mut group = c.benchmark_group(format!("write/{name}"));
        group.throughput(Throughput::Bytes(json.len() as u64));
        group.bench_function("msg-openai", |b| {
            b.iter(|| write(black_box(&document), &WriteOptions::new()));
        });
        group.bench_function("msg-openai/canonical", |b| {
            b.iter(|| write(black_box(&document), &canonical));
        });
        group.bench_function("serde_json/value", |b| {
            b.iter(|| serde_json::to_vec(black_box(&value)).is_ok());
        });
        if let Ok(typed) = serde_json::from_str::<Typed>(&json) {
            group.bench_function("async-openai", |b| {
                b.iter(|| serde_json::to_vec(black_box(&typed)).is_ok());
            });
        }
        group.finish();
    }
}

fn counts(_: &mut Criterion) {
    for (name, json) in documents() {
        let messages = read(&json).messages().count();
        allocs::report(&format!("read/{name}/msg-openai"), messages, || read(&json));
        allocs::report(&format!("read/{name}/serde_json/value"), messages, || {
            serde_json::from_str::<Value>(&json).is_ok()
        });
        let document = read(&json);
        allocs::report(&format!("write/{name}/msg-openai"), messages, || {
            write(&document, &WriteOptions::new())
        });
    }
    // Printed and not asserted: on a shared machine the larger run is the one that is interrupted.
    let make = corpus::chat_json;
    let ratio = growth::ratio(400, make, |json| read(json));
    println!("read: 10x the input takes {ratio:.1}x the time");
    let ratio = growth::ratio(400, |n| read(&make(n)), |it| write(it, &WriteOptions::new()));
    println!("write: 10x the input takes {ratio:.1}x the time");
}

fn documents() -> [(&'static str, String); 4] {
    [
        ("10", corpus::chat_json(10)),
        ("400", corpus::chat_json(400)),
        ("10000", corpus::chat_json(10_000)),
        ("1MB-unknown", with_unknown_members()),
    ]
}

/// What a program has that uses the peer's types.
#[derive(serde::Serialize, serde::Deserialize)]
struct Typed {
    model: String,
    messages: Vec<async_openai::types::chat::ChatCompletionRequestMessage>,
}

criterion_group!(benches, counts, reading, writing);
criterion_main!(benches);
