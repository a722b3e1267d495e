//! The floor: how fast the JSON parsers of this machine read the corpus, with no message model at
//! all. What `openai` and `chain` add to it is the price of this workspace.

use std::hint::black_box;

use benches::{allocs, corpus};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde::de::IgnoredAny;
use serde_json::Value;

fn floor(c: &mut Criterion) {
    let text = corpus::chat_json(400);
    let mut group = c.benchmark_group("floor");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("serde_json/ignored", |b| {
        b.iter(|| serde_json::from_str::<IgnoredAny>(black_box(&text)).is_ok());
    });
    group.bench_function("serde_json/value", |b| {
        b.iter(|| {
            serde_json::from_str::<Value>(black_box(&text)).expect("because the corpus is JSON")
        });
    });
    group.bench_function("sonic-rs/value", |b| {
        b.iter(|| {
            sonic_rs::from_str::<sonic_rs::Value>(black_box(&text))
                .expect("because the corpus is JSON")
        });
    });
    group.bench_function("simd-json/value", |b| {
        b.iter(|| {
            let mut bytes = black_box(&text).clone().into_bytes();
            simd_json::to_owned_value(&mut bytes).expect("because the corpus is JSON")
        });
    });
    group.bench_function("jiter/value", |b| {
        b.iter(|| jiter::JsonValue::parse(black_box(text.as_bytes()), false).is_ok());
    });
    group.finish();
    allocs::report("floor/serde_json/value", 400, || serde_json::from_str::<Value>(&text).is_ok());
}

criterion_group!(benches, floor);
criterion_main!(benches);
