//! The model by itself: native JSON, clones, previews, checks, turns. Beside it `serde_json` to and
//! from `Value`, which knows nothing of messages; the wire format has a bench of its own.

use std::hint::black_box;

use benches::{allocs, corpus, growth};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use msg_core::{
    InputRules, Message, Part, ToolCall, Turn, check_all, native,
    turns::{self, LowerCache, LowerOptions, lower},
};
use serde_json::Value;

/// A coding agent's session of `n` messages: prose, calls that write files, and their results.
fn session(n: usize) -> Vec<Message> {
    let arguments = |at: usize| {
        let content = corpus::quoted(corpus::CODE);
        format!(r#"{{"path": "src/part_{at}.rs", "content": {content}}}"#)
    };
    (0..n)
        .map(|at| match at % 4 {
            0 => Message::user(corpus::PROSE),
            1 => {
                let call = ToolCall::new(format!("call_{at}"), "write_file", arguments(at));
                Message::assistant(corpus::PROSE).with_part(Part::ToolCall(call))
            }
            2 => Message::tool_result(format!("call_{}", at - 1), corpus::CODE),
            _ => Message::assistant(corpus::PROSE),
        })
        .collect()
}

fn written(messages: &[Message]) -> Vec<u8> {
    let mut json = Vec::new();
    native::write(messages, &mut json);
    json
}

fn forms(c: &mut Criterion) {
    let messages = session(2_000);
    let json = written(&messages);
    let value: Value = serde_json::from_slice(&json).expect("because it was written as JSON");
    let mut group = c.benchmark_group("core");
    group.throughput(Throughput::Bytes(json.len() as u64));
    group.bench_function("native/read", |b| b.iter(|| native::read(black_box(&json)).is_ok()));
    group.bench_function("native/read/serde_json-value", |b| {
        b.iter(|| serde_json::from_slice::<Value>(black_box(&json)).is_ok());
    });
    group.bench_function("native/write", |b| {
        b.iter(|| {
            let mut out = Vec::with_capacity(json.len());
            native::write(black_box(&messages), &mut out);
            out
        });
    });
    group.bench_function("native/write/serde_json-value", |b| {
        b.iter(|| {
            let mut out = Vec::with_capacity(json.len());
            serde_json::to_writer(&mut out, black_box(&value)).is_ok()
        });
    });
    group.bench_function("clone", |b| b.iter(|| black_box(&messages).clone()));
    group.bench_function("clone/serde_json-value", |b| b.iter(|| black_box(&value).clone()));
    group.finish();
    allocs::report("core/native/read", messages.len(), || native::read(&json).is_ok());
    allocs::report("core/native/read/serde_json-value", messages.len(), || {
        serde_json::from_slice::<Value>(&json).is_ok()
    });
    growth::check(
        "core/native/read",
        1_000,
        |n| written(&session(n)),
        |it| native::read(it).is_ok(),
    );
}

fn single(c: &mut Criterion) {
    let messages = session(2_000);
    let mut group = c.benchmark_group("core");
    group.throughput(Throughput::Elements(messages.len() as u64));
    group.bench_function("preview/80", |b| {
        b.iter(|| messages.iter().map(|it| black_box(it).preview(80).len()).sum::<usize>());
    });
    group.bench_function("check", |b| {
        b.iter(|| check_all(black_box(&messages), &InputRules::unlimited()).len());
    });
    group.bench_function("size", |b| {
        b.iter(|| messages.iter().map(|it| black_box(it).size()).sum::<usize>());
    });
    group.finish();
}

fn stored(c: &mut Criterion) {
    let lifted = |n: usize| -> Vec<Turn> { turns::from_messages(session(n)).0 };
    let history = lifted(1_000);
    let mut json = Vec::new();
    turns::write(&history, &mut json);
    let options = LowerOptions::strict().with_system_prompt(corpus::PROSE);
    let mut group = c.benchmark_group("core/turns");
    group.throughput(Throughput::Elements(history.len() as u64));
    group.bench_function("read", |b| {
        b.iter(|| turns::read(black_box(&json)).is_ok());
    });
    group.bench_function("lower", |b| b.iter(|| lower(black_box(&history), &options)));
    group.bench_function("lower/one-appended", |b| {
        let mut cache = LowerCache::new(options.clone());
        cache.lower(&history, 0);
        b.iter(|| cache.lower(black_box(&history), history.len() - 1).len());
    });
    group.finish();
    growth::check("core/turns/lower", 10_000, lifted, |it| lower(it, &LowerOptions::strict()));
}

criterion_group!(benches, forms, single, stored);
criterion_main!(benches);
