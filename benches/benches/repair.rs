//! How much a repair mends: chains broken in every named way, the share that comes out valid, and the share
//! that loses nothing which the report does not name.

use std::collections::HashMap;

use benches::mutations::{Dice, MUTATIONS, Mutation, valid};
use criterion::{Criterion, criterion_group, criterion_main};
use msg_chainast::{
    ChainAst, CheckOptions, Message, Orphans, Part, Profile, RepairOptions, SeededIds, check,
};
use msg_core::Diagnostic;

/// Chains for each way of breaking one.
const CHAINS: u64 = 200;

/// What became of the chains that were broken in one way.
#[derive(Default)]
struct Score {
    chains: usize,
    valid: usize,
    explained: usize,
    results_kept: usize,
}

fn options() -> RepairOptions {
    RepairOptions::new().with_orphans(Orphans::Keep).with_profile(generic())
}

fn generic() -> &'static Profile {
    Profile::named("generic").expect("because it is built in")
}

fn broken(mutation: Mutation, seed: u64) -> Vec<Message> {
    let mut dice = Dice::new(seed);
    let mut chain = valid(&mut dice);
    mutation(&mut chain, &mut dice);
    chain
}

fn score(mutation: Mutation) -> Score {
    let mut score = Score::default();
    for seed in 0..CHAINS {
        let chain = broken(mutation, seed);
        let (mended, edits) =
            ChainAst::repair(chain.clone(), &options(), &mut SeededIds::new(seed));
        let mended = mended.into_messages();
        let found = check(&mended, Some(generic()), &CheckOptions::new());
        score.chains += 1;
        score.valid += usize::from(!found.iter().any(Diagnostic::is_error));
        score.explained += usize::from(is_explained(&chain, &mended, &edits));
        score.results_kept += usize::from(keeps_results(&chain, &mended));
    }
    score
}

/// Whether each text and result of the input is in the output, or an edit stands at its place.
fn is_explained(chain: &[Message], mended: &[Message], edits: &[Diagnostic]) -> bool {
    let mut left = HashMap::new();
    let texts = mended.iter().flat_map(|it| &it.parts).flat_map(texts_of);
    texts.for_each(|it| *left.entry(it).or_insert(0_usize) += 1);
    let named = &|message: usize, part: usize| {
        edits.iter().any(|it| {
            it.fix.is_some()
                && it.at.message == Some(message)
                && it.at.part.is_none_or(|it| it == part)
        })
    };
    // Equal texts are interchangeable, so those that no edit names take what there is first.
    let mut unnamed = chain.iter().enumerate().flat_map(|(at, message)| {
        let parts = message.parts.iter().enumerate().filter(move |it| !named(at, it.0));
        parts.flat_map(|it| texts_of(it.1))
    });
    unnamed.all(|text| match left.get_mut(&text) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    })
}

/// Whether every content of a result is still there, in a result.
fn keeps_results(chain: &[Message], mended: &[Message]) -> bool {
    let results = |all: &[Message]| -> Vec<String> {
        let results = all.iter().flat_map(|it| &it.parts).filter_map(Part::as_tool_result);
        results.map(|it| it.content.text().into_owned()).collect()
    };
    let kept = results(mended);
    results(chain).iter().all(|it| kept.iter().any(|kept| kept.contains(it.as_str())))
}

fn texts_of(part: &Part) -> Vec<String> {
    match part {
        Part::Text(it) | Part::Refusal(it) => vec![it.text.clone()],
        Part::ToolResult(it) => it.content.parts().iter().flat_map(texts_of).collect(),
        Part::ToolCall(it) => vec![it.arguments.text().to_owned()],
        _ => Vec::new(),
    }
}

fn table(_: &mut Criterion) {
    let share = |it: usize, of: usize| 100.0 * it as f64 / of.max(1) as f64;
    let mut total = Score::default();
    println!("{:<42} {:>7} {:>9} {:>13}", "broken by", "valid", "explained", "results kept");
    for (name, mutation) in MUTATIONS {
        let it = score(*mutation);
        let n = it.chains;
        println!(
            "{name:<42} {:>6.1}% {:>8.1}% {:>12.1}%",
            share(it.valid, n),
            share(it.explained, n),
            share(it.results_kept, n)
        );
        total.chains += n;
        total.valid += it.valid;
        total.explained += it.explained;
        total.results_kept += it.results_kept;
    }
    println!(
        "{:<42} {:>6.1}% {:>8.1}% {:>12.1}%   {} ways, {} chains",
        "all",
        share(total.valid, total.chains),
        share(total.explained, total.chains),
        share(total.results_kept, total.chains),
        MUTATIONS.len(),
        total.chains
    );
    assert_eq!(total.valid, total.chains, "a repair gave a chain that is not valid");
    assert_eq!(total.explained, total.chains, "something was lost that no edit names");
}

fn speed(c: &mut Criterion) {
    let chains: Vec<_> =
        MUTATIONS.iter().flat_map(|it| (0..10).map(|seed| broken(it.1, seed))).collect();
    let n_messages: usize = chains.iter().map(Vec::len).sum();
    let mut group = c.benchmark_group("repair");
    group.sample_size(10).throughput(criterion::Throughput::Elements(n_messages as u64));
    group.bench_function("broken in every way", |b| {
        b.iter_batched(
            || chains.clone(),
            |all| {
                let options = RepairOptions::new();
                let mend = |it| ChainAst::repair(it, &options, &mut SeededIds::new(1)).1.len();
                all.into_iter().map(mend).sum::<usize>()
            },
            criterion::BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, table, speed);
criterion_main!(benches);
