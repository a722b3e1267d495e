//! What the chain tree costs beside nothing at all: parse, flatten, size, repair, edits, by shape and size.

use std::hint::black_box;

use benches::{allocs, chains, growth};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use msg_chainast::{
    BodyPair, ChainAst, Change, CheckOptions, Message, Profile, RepairOptions, SeededIds, check,
};

// Inputs are made one by one: a batch of large ones fills memory, and times the faults of its pages.
const SIZES: &[usize] = &[1_000, 10_000, 100_000];

/// Parse, flatten and size, as an agent does before each request. The tree is given back, so that freeing
/// it is not timed.
fn through(messages: Vec<Message>) -> (ChainAst, usize, usize) {
    let chain = ChainAst::parse(messages).expect("because the shape is valid");
    let n_parts = chain.messages().map(|it| it.parts.len()).sum();
    let size = chain.size();
    (chain, n_parts, size)
}

fn repaired(messages: Vec<Message>) -> ChainAst {
    ChainAst::repair(messages, &RepairOptions::new(), &mut SeededIds::new(1)).0
}

fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse+flatten+size");
    group.sample_size(20);
    for n in SIZES {
        for shape in ["mixed", "chat", "agent"] {
            let chain = shape_of(shape)(*n);
            group.throughput(Throughput::Elements(chain.len() as u64));
            group.bench_function(format!("{shape}/{n}"), |b| {
                b.iter_batched(|| chain.clone(), through, BatchSize::PerIteration);
            });
        }
    }
    let wide = chains::wide(3_000);
    group.bench_function("wide/3000 calls", |b| {
        b.iter_batched(|| wide.clone(), through, BatchSize::PerIteration);
    });
    group.finish();
    let chain = chains::mixed(10_000);
    allocs::report("parse/mixed/10000", chain.len(), {
        let chain = chain.clone();
        move || through(chain)
    });
}

/// What a tree takes beside the list that it was made of, and what lookups by id add to it.
fn memory(_: &mut Criterion) {
    if !allocs::ENABLED {
        return;
    }
    for shape in ["mixed", "chat", "agent", "wide"] {
        let chain = shape_of(shape)(10_000);
        let (n, calls) = (chain.len() as f64, chain.iter().flat_map(Message::tool_calls).count());
        let list = n * size_of::<Message>() as f64;
        let (tree, parsed) = allocs::count(|| ChainAst::parse(chain).expect("because it is valid"));
        let (_, indexed) = allocs::count(|| tree.find_tool_results("").count());
        println!(
            "memory/{shape}: {:+.1} bytes a message, {:.1} at the peak of parsing; \
             index {:.1} bytes a call; {:.2} allocations a message",
            parsed.grown as f64 / n,
            parsed.peak as f64 / n,
            indexed.grown as f64 / calls.max(1) as f64,
            parsed.count as f64 / n,
        );
        // The list that a tree was made of is given back, and a tree of loose vectors would be twice as big.
        assert!((parsed.grown as f64) < list, "the tree of {shape} is too big");
    }
}

fn repair(c: &mut Criterion) {
    let mut group = c.benchmark_group("repair");
    group.sample_size(20);
    for n in SIZES {
        let chain = chains::mixed(*n);
        group.throughput(Throughput::Elements(chain.len() as u64));
        group.bench_function(format!("valid/{n}"), |b| {
            b.iter_batched(|| chain.clone(), repaired, BatchSize::PerIteration);
        });
    }
    for shape in ["mixed", "missing", "late", "wide"] {
        let chain = shape_of(shape)(10_000);
        group.throughput(Throughput::Elements(chain.len() as u64));
        group.bench_function(format!("{shape}/10000"), |b| {
            b.iter_batched(|| chain.clone(), repaired, BatchSize::PerIteration);
        });
        let n = chain.len();
        allocs::report(&format!("repair/{shape}/10000"), n, move || repaired(chain));
    }
    group.finish();
}

fn judge(c: &mut Criterion) {
    let mut group = c.benchmark_group("check");
    group.sample_size(20);
    for n in SIZES {
        let chain = chains::mixed(*n);
        group.throughput(Throughput::Elements(chain.len() as u64));
        group.bench_function(format!("mixed/{n}"), |b| {
            b.iter(|| check(black_box(&chain), None, &CheckOptions::new()).len());
        });
    }
    let chain = chains::mixed(10_000);
    for name in ["openai", "anthropic", "generic"] {
        let profile = Profile::named(name).expect("because it is built in");
        group.bench_function(format!("mixed/10000/{name}"), |b| {
            b.iter(|| check(black_box(&chain), Some(profile), &CheckOptions::new()).len());
        });
    }
    group.finish();
}

fn edits(c: &mut Criterion) {
    let mut group = c.benchmark_group("edits");
    group.sample_size(10);
    for (what, pending) in [("in one pair", chains::pending(40_000)), ("in pairs", pairs(40_000))] {
        group.bench_function(format!("40000 results added {what}"), |b| {
            b.iter_batched(|| pending_tree(&pending), add_results, BatchSize::PerIteration);
        });
    }
    group.bench_function("100000 user messages appended", |b| {
        b.iter(|| {
            let mut chain = ChainAst::new();
            for _ in 0..100_000 {
                let _ = chain.append_user("and?");
            }
            chain
        });
    });
    group.bench_function("100000 user messages appended, each answered", |b| {
        b.iter_batched(
            || vec![BodyPair::completion("It does."); 100_000],
            |answers| {
                let mut chain = ChainAst::new();
                for answer in answers {
                    if let Change::Section(id) = chain.append_user("and?") {
                        chain.add_body_pair(id, answer);
                    }
                }
                chain
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn pairs(n: usize) -> Vec<Message> {
    let mut chain = chains::agent(n * 2);
    chain.retain(|it| it.role != msg_core::Role::Tool);
    chain
}

/// A tree with pending calls everywhere, which only building gives.
fn pending_tree(messages: &[Message]) -> (ChainAst, Vec<String>) {
    use msg_chainast::{Header, Section};
    let pairs = messages[1..].iter().map(|it| BodyPair::new(it.clone(), Vec::new())).collect();
    let mut chain = ChainAst::new();
    chain.add_section(Section::new(Header::new(None, Some(messages[0].clone())), pairs));
    let ids = messages.iter().flat_map(Message::tool_calls).map(|it| it.id.clone()).collect();
    (chain, ids)
}

fn add_results((mut chain, ids): (ChainAst, Vec<String>)) -> (ChainAst, Vec<String>) {
    for id in &ids {
        chain.add_tool_result(id, "", "done").expect("because the call is there");
    }
    (chain, ids)
}

fn shape_of(name: &str) -> fn(usize) -> Vec<Message> {
    let shape = chains::SHAPES.iter().find(|it| it.0 == name);
    shape.expect("because the shape is in the list").1
}

fn linear(_: &mut Criterion) {
    // A run of the smaller size has to take a few milliseconds, or noise decides.
    for (name, shape) in chains::SHAPES {
        growth::check(&format!("repair/{name}"), 40_000, shape, |it| repaired(it.clone()));
    }
    growth::check("check/mixed", 40_000, chains::mixed, |it| {
        check(it, None, &CheckOptions::new()).len()
    });
}

criterion_group!(benches, parse, memory, repair, judge, edits, linear);
criterion_main!(benches);
