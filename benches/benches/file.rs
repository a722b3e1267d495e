//! Message files: the structural scan, the typed reading, histories, and appends to small and large files.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use msg_file::store::{Appender, Durability, Options};
use msg_file::{Document, HistoryOptions, Limits, Mode, NewCell, Nonce, scan};

/// A record of so many cells of 730 bytes.
fn record(cells: usize) -> Vec<u8> {
    let body = "Lorem ipsum dolor sit amet, consectetur.\n".repeat(16);
    let cell = |i| format!("# %% Title[^{i}]\n\n[^{i}]: [markdown] model=\"m\"\n\n{body}\n");
    (1..=cells).map(cell).collect::<String>().into_bytes()
}

fn read(bytes: Arc<[u8]>) -> Document {
    Document::read(bytes, Mode::MessageFile, &Limits::default())
        .expect("because it is small enough")
}

fn reading(c: &mut Criterion) {
    let bytes: Arc<[u8]> = record(131_000).into();
    let mut group = c.benchmark_group("file/100MB");
    group.sample_size(10).throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("scan", |b| b.iter(|| black_box(scan(&bytes)).len()));
    group.bench_function("read", |b| b.iter(|| black_box(read(Arc::clone(&bytes))).cells().len()));
    let doc = read(Arc::from(record(10_000)));
    group.throughput(Throughput::Elements(10_000));
    group.bench_function("history of 10,000 cells", |b| {
        b.iter(|| black_box(doc.history(&HistoryOptions::default())).is_ok());
    });
    group.finish();
}

fn appending(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("because the system has a folder for it");
    let mut group = c.benchmark_group("file/append");
    for (name, cells) in [("1KB", 1), ("100MB", 131_000)] {
        for (how, durability) in [("none", Durability::None), ("flush", Durability::Flush)] {
            let path = folder.path().join(format!("{name}-{how}.msg.md"));
            std::fs::write(&path, record(cells)).expect("because the folder is ours");
            let options = Options { durability, ..Options::default() };
            let mut log = Appender::open(&path, options).expect("because nobody holds it");
            let cell = NewCell::message("hello\n\nthere");
            group.bench_function(format!("{name} {how}"), |b| {
                b.iter_batched(
                    || (),
                    |()| {
                        log.append(&cell, &mut || Nonce::from_random(1))
                            .expect("because it fits")
                            .id
                    },
                    BatchSize::SmallInput,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, reading, appending);
criterion_main!(benches);
