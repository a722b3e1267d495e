//! Anthropic messages beside `msg-openai`'s of the same conversation and `serde_json` into its own
//! `Value`: reading and writing requests of 400 and 10 000 messages, a stream of 10 000 deltas whole and in
//! 16-byte chunks, and the events of another stream rewritten live.

use std::hint::black_box;

use benches::{corpus, growth};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use msg_anthropic::{ANTHROPIC, EventOptions, EventWriter, WriteOptions, messages};
use msg_core::{FinishReason, StreamEvent};
use msg_openai::{ReadOptions, WriteOptions, chat};
use msg_wire::{StreamOptions, StreamReader};
use serde_json::Value;

const DELTAS: usize = 10_000;

fn read(json: &[u8]) -> messages::Document {
    messages::read(json, &ReadOptions::new()).expect("because the corpus is a request").0
}

fn write(document: &messages::Document) -> Vec<u8> {
    let mut out = Vec::new();
    document.write(&WriteOptions::new(), &mut out);
    out
}

/// The chat request of this many messages, and the same conversation for Anthropic.
fn requests(count: usize) -> (Vec<u8>, Vec<u8>) {
    let chat = corpus::chat_json(count);
    let read = chat::read(chat.as_bytes(), &ReadOptions::new());
    let messages = read.expect("because the corpus is a request").0.into_messages();
    let mut out = Vec::new();
    messages::write(&messages, &WriteOptions::new(), &mut out);
    (chat.into_bytes(), out)
}

fn documents(c: &mut Criterion) {
    for count in [400, 10_000] {
        let (chat, ours) = requests(count);
        let mut group = c.benchmark_group(format!("anthropic/read/{count}"));
        group.throughput(Throughput::Bytes(ours.len() as u64));
        group.bench_function("msg-anthropic", |b| b.iter(|| read(black_box(&ours))));
        group.bench_function("msg-openai", |b| {
            b.iter(|| chat::read(black_box(&chat), &ReadOptions::new()).is_ok());
        });
        group.bench_function("serde_json/value", |b| {
            b.iter(|| serde_json::from_slice::<Value>(black_box(&ours)).is_ok());
        });
        group.finish();
        let document = read(&ours);
        let theirs = chat::read(&chat, &ReadOptions::new()).expect("because it was read before").0;
        let value: Value = serde_json::from_slice(&ours).expect("because the corpus is JSON");
        let mut group = c.benchmark_group(format!("anthropic/write/{count}"));
        group.throughput(Throughput::Bytes(ours.len() as u64));
        group.bench_function("msg-anthropic", |b| b.iter(|| write(black_box(&document))));
        group.bench_function("msg-openai", |b| {
            b.iter(|| {
                let mut out = Vec::new();
                theirs.write(&WriteOptions::new(), &mut out);
                out
            });
        });
        group.bench_function("serde_json/value", |b| {
            b.iter(|| serde_json::to_vec(black_box(&value)).is_ok());
        });
        group.finish();
    }
}

fn events(deltas: usize) -> Vec<StreamEvent<'static>> {
    let text = |_| StreamEvent::TextDelta { choice: 0, text: "word".into() };
    let end = StreamEvent::Finish { choice: 0, reason: FinishReason::Stop };
    (0..deltas).map(text).chain([end]).collect()
}

fn rewritten(events: &[StreamEvent<'_>]) -> Vec<u8> {
    let mut writer = EventWriter::new(EventOptions::default());
    let mut out = Vec::new();
    events.iter().for_each(|it| writer.feed(it, &mut out));
    writer.finish(&mut out);
    out
}

fn assembled(bytes: &[u8], chunk: usize) -> usize {
    let mut reader = StreamReader::new(&[ANTHROPIC], StreamOptions::default());
    for chunk in bytes.chunks(chunk) {
        reader.feed(chunk, &mut |event| {
            black_box(&event);
        });
    }
    reader.finish(&mut |_| {}).choices[0].message.text().len()
}

fn streams(c: &mut Criterion) {
    let events = events(DELTAS);
    let stream = rewritten(&events);
    assert_eq!(assembled(&stream, 16), 4 * DELTAS);
    let mut group = c.benchmark_group("anthropic/stream");
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("whole", |b| b.iter(|| assembled(black_box(&stream), usize::MAX)));
    group.bench_function("16 bytes", |b| b.iter(|| assembled(black_box(&stream), 16)));
    group.bench_function("rewritten live", |b| b.iter(|| rewritten(black_box(&events))));
    group.finish();
}

/// Printed and not asserted: on a shared machine the larger run is the one that is interrupted.
fn growths(_: &mut Criterion) {
    let ratio = growth::ratio(400, |n| requests(n).1, |json| read(json));
    println!("anthropic read: 10x the input takes {ratio:.1}x the time");
    let ratio = growth::ratio(400, |n| read(&requests(n).1), write);
    println!("anthropic write: 10x the input takes {ratio:.1}x the time");
}

criterion_group!(benches, growths, documents, streams);
criterion_main!(benches);
