//! Fuzzes compaction: chains, budgets, pipelines and answers made of bytes, and the laws over what
//! comes of them.
#![no_main]

#[path = "../../../crates/msg-compact/tests/it/hostile.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "the tests use the rest")]
mod hostile;
#[path = "../../../crates/msg-compact/tests/it/laws.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod laws;

use hostile::{Choices, Vandal};
use laws::Case;
use msg_compact::{Pin, Pipeline};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (head, tail) = bytes.split_at(bytes.len().min(24));
    let first = head.first().copied().unwrap_or(0);
    let counter = || Choices::new(&[first]).counter();
    let mut choices = Choices::new(head);
    let profile = choices.profile();
    let messages = Choices::new(tail).chain(60, profile);
    let it = counter();
    let tokens = it.request(&[]) + messages.iter().map(|m| it.message(m)).sum::<u64>();
    let size = messages.iter().map(|it| it.size() as u64).sum();
    let budget = choices.budget(tokens, size);
    // Twice the same pins: a pipeline does not show its own.
    let (same, pins) = (choices.clone().pins(), choices.pins());
    let mut pipeline = choices.pipeline(budget.is_some()).with_pins(same);
    if let Some(profile) = profile {
        pipeline = pipeline.with_profile(profile);
    }
    let answer = choices.answers();
    let case = Case {
        messages: &messages,
        budget: budget.as_ref(),
        pipeline: &pipeline,
        counter: &counter,
        answer: &answer,
        profile,
        pins: &pins,
    };
    laws::outcome_is_lawful(&case);
    laws::is_idempotent(&case);
    laws::order_of_answers_is_free(&case);
    laws::token_index_is_a_recount(&messages, &counter, tail);
    let vandal = Pipeline::new().always(Vandal(head.to_vec()));
    laws::outcome_is_lawful(&Case {
        pipeline: &vandal,
        profile: None,
        pins: &[Pin::FirstUser],
        ..case
    });
    let text = String::from_utf8_lossy(bytes);
    laws::script_is_its_table(&text);
    laws::counts_grow(&text, bytes.len() / 2);
});
