//! Counting tokens: the estimates in MB/s, the exact counters beside them and beside the peers, and how
//! far the estimates are from the exact counts.

use std::hint::black_box;

use benches::corpus;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use msg_compact::{TokenCounter, count};

const KOREAN: &str = "구문 분석기는 메시지를 하나씩 읽고 모르는 것은 그대로 둡니다. 결과가 늦게 오면 해당 호출로 옮깁니다. ";

/// Texts of `bytes` bytes, by name.
fn texts(bytes: usize) -> [(&'static str, String); 5] {
    [
        ("english", corpus::repeat(corpus::PROSE, bytes)),
        ("code", corpus::repeat(corpus::CODE, bytes)),
        ("chinese", corpus::repeat(corpus::CJK, bytes)),
        ("korean", corpus::repeat(KOREAN, bytes)),
        ("json", corpus::chat_json(bytes / 400)),
    ]
}

fn estimates(c: &mut Criterion) {
    for (name, text) in texts(256 << 10) {
        let mut group = c.benchmark_group(format!("count_tokens/{name}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        let counters: [&dyn TokenCounter; 3] = [&count::Script::new(), &count::Wolo, &count::Forge];
        for counter in counters {
            group.bench_function(counter.name(), |b| b.iter(|| counter.text(black_box(&text))));
        }
        group.finish();
    }
}

fn exact(c: &mut Criterion) {
    let tiktoken_rs = tiktoken_rs::o200k_base().expect("because the vocabulary is compiled in");
    let tiktoken = tiktoken::get_encoding("o200k_base").expect("because the feature is on");
    for (name, text) in texts(64 << 10) {
        let mut group = c.benchmark_group(format!("count_exact/{name}"));
        group.sample_size(10);
        group.throughput(Throughput::Bytes(text.len() as u64));
        let ours = count::Bpe::o200k();
        group.bench_function("msg-compact", |b| b.iter(|| ours.text(black_box(&text))));
        group.bench_function("tiktoken-rs", |b| {
            b.iter(|| tiktoken_rs.encode_ordinary(black_box(&text)).len());
        });
        group.bench_function("tiktoken", |b| b.iter(|| tiktoken.encode(black_box(&text)).len()));
        group.finish();
        assert_eq!(ours.text(&text), tiktoken_rs.encode_ordinary(&text).len() as u64, "{name}");
        let exact = ours.text(&text) as f64;
        let off = |it: &dyn TokenCounter| 100.0 * (it.text(&text) as f64 / exact - 1.0);
        println!(
            "count_error/{name}: script {:+.1} %, wolo {:+.1} %, forge {:+.1} % of {exact} tokens",
            off(&count::Script::new()),
            off(&count::Wolo),
            off(&count::Forge)
        );
    }
}

criterion_group!(benches, estimates, exact);
criterion_main!(benches);
