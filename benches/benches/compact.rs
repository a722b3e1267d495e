//! Planning a compaction: over 1 000 to 100 000 messages whose costs are known, each policy by itself
//! and the presets as they are. Summaries are answered at once, so that only the planning is timed.

use std::hint::black_box;

use benches::{corpus, growth};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use msg_chainast::ChainAst;
use msg_compact::{
    Budget, Outcome, Pipeline, Preset, TokenIndex, compact_with, count,
    policy::{self, SlidingWindow},
};
use msg_core::{Message, Part, SeededIds, ToolCall};

/// A mixed session of about `n` messages: question, two calls, two results, answer.
fn session(n: usize) -> ChainAst {
    let mut messages = vec![Message::system("You are a coding agent.")];
    for turn in 0..n / 5 {
        let call = |it: usize| {
            Part::ToolCall(ToolCall::new(
                format!("call_{turn}_{it}"),
                "read",
                r#"{"path":"src/lib.rs"}"#,
            ))
        };
        messages.push(Message::user(format!("task {turn}: look at the parser")));
        messages.push(Message::assistant("").with_part(call(0)).with_part(call(1)));
        messages.push(Message::tool_result(format!("call_{turn}_0"), corpus::CODE));
        messages.push(Message::tool_result(format!("call_{turn}_1"), corpus::PROSE));
        messages.push(Message::assistant("It is done."));
    }
    ChainAst::parse(messages).expect("because the session is valid")
}

fn counted(ast: &ChainAst) -> TokenIndex {
    TokenIndex::of(ast, Box::new(count::Script::new()), &[])
}

fn run(ast: &ChainAst, index: &TokenIndex, budget: &Budget, pipeline: &Pipeline) -> Outcome {
    let ask = |_: &_| Ok("They worked on the parser.".to_owned());
    compact_with(ast, index, Some(budget), pipeline, &mut SeededIds::new(1), ask)
        .expect("because the budget makes sense")
}

/// Half of what the session costs.
fn half(index: &TokenIndex) -> Budget {
    Budget::tokens(index.total().tokens / 2)
}

fn sizes(c: &mut Criterion) {
    let mut group = c.benchmark_group("plan_compaction");
    for n in [1_000, 10_000, 100_000] {
        let ast = session(n);
        let index = counted(&ast);
        let budget = half(&index);
        group.throughput(Throughput::Elements(n as u64));
        let pipeline = Pipeline::new().over(SlidingWindow::default());
        group.bench_with_input(BenchmarkId::new("window", n), &n, |b, _| {
            b.iter(|| run(black_box(&ast), &index, &budget, &pipeline));
        });
        let pipeline = Preset::Balanced.pipeline();
        group.bench_with_input(BenchmarkId::new("balanced", n), &n, |b, _| {
            b.iter(|| run(black_box(&ast), &index, &budget, &pipeline));
        });
    }
    group.finish();
}

/// 100 000 small messages of which every policy has something to ask: what a request costs besides its
/// answer shows here.
fn summaries(c: &mut Criterion) {
    let turn = |turn: usize| {
        let answer = format!("answer {turn}, which is a little longer than the question");
        [Message::user(format!("question {turn}")), Message::assistant(answer)]
    };
    let ast = ChainAst::parse((0..50_000).flat_map(turn).collect());
    let ast = ast.expect("because the session is valid");
    let index = counted(&ast);
    let budget = half(&index);
    let mut group = c.benchmark_group("plan_summaries/100k");
    group.sample_size(10);
    for name in ["summarize-history", "summarize-sections", "summarize-qa-pairs"] {
        let policy = policy::from_json(&serde_json::json!({"policy": name}));
        let policy = policy.expect("because the name is one of the page").0;
        let pipeline = Pipeline::new().with_stage(policy, msg_compact::When::Always);
        group.bench_function(name, |b| b.iter(|| run(black_box(&ast), &index, &budget, &pipeline)));
    }
    for name in ["balanced", "pentagi", "forge"] {
        let preset = Preset::named(name, &serde_json::Map::new());
        let pipeline = preset.expect("because the preset exists").pipeline();
        group.bench_function(name, |b| b.iter(|| run(black_box(&ast), &index, &budget, &pipeline)));
    }
    group.finish();
}

fn policies(c: &mut Criterion) {
    let ast = session(10_000);
    let index = counted(&ast);
    let budget = half(&index);
    let mut group = c.benchmark_group("policy/10k");
    for name in [
        "drop-reasoning",
        "prune-tool-outputs",
        "clear-tool-uses",
        "truncate-tool-output",
        "summarize-sections",
        "rotate-last-section",
        "summarize-qa-pairs",
        "summarize-tool-calls",
        "summarize-threshold",
        "summarize-history",
        "goal-batch",
        "sliding-window",
    ] {
        let policy = policy::from_json(&serde_json::json!({"policy": name}));
        let policy = policy.expect("because the name is one of the page").0;
        let pipeline = Pipeline::new().with_stage(policy, msg_compact::When::Always);
        group.bench_function(name, |b| b.iter(|| run(black_box(&ast), &index, &budget, &pipeline)));
    }
    group.finish();
    for name in ["prune-tool-outputs", "summarize-history", "sliding-window", "summarize-sections"]
    {
        let policy =
            || policy::from_json(&serde_json::json!({"policy": name})).expect("it is one").0;
        let pipeline = Pipeline::new().with_stage(policy(), msg_compact::When::Always);
        // Printed, not asserted: at the larger size the plan no longer fits the caches.
        let ratio = growth::ratio(
            10_000,
            |n| {
                let ast = session(n);
                let index = counted(&ast);
                let budget = half(&index);
                (ast, index, budget)
            },
            |(ast, index, budget)| run(ast, index, budget, &pipeline),
        );
        println!("compact/{name}: 10x the input takes {ratio:.1}x the time");
    }
}

fn token_indexes(c: &mut Criterion) {
    let message = Message::assistant("done");
    let mut group = c.benchmark_group("index");
    group.throughput(Throughput::Elements(1_000));
    group.bench_function("push/1000-short", |b| {
        b.iter_batched(
            || TokenIndex::new(Box::new(count::Forge), &[]),
            |mut index| (0..1_000).for_each(|_| index.push(black_box(&message))),
            BatchSize::SmallInput,
        );
    });
    group.bench_function("extend_last/1000-deltas", |b| {
        b.iter_batched(
            || {
                let mut index = TokenIndex::new(Box::new(count::Script::new()), &[]);
                index.push(&message);
                index
            },
            |mut index| (0..1_000).for_each(|_| index.extend_last(black_box(" word"))),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, sizes, summaries, policies, token_indexes);
criterion_main!(benches);
