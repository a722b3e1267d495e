//! What conversations cost at a provider with a prompt cache, compacted to the budget and by money (CL-62): each request
//! reads what it shares with the one before it and writes the rest.

use msg_chainast::{ChainAst, SeededIds};
use msg_compact::{
    Budget, CacheCost, CompactOutcome, Preset, TokenCounter as _, TokenIndex, compact_with, count,
    digest,
};
use msg_core::{Message, Part, ToolCall, ToolResult};

/// Thousandths of the input price.
const READ: u64 = 100;
const WRITE: u64 = 1250;

/// The bill of a conversation whose every answer is a request, in thousandths of an input token.
fn bill(messages: &[Message], budget: &Budget) -> u64 {
    let counter = count::Script::new();
    let mut history: Vec<Message> = Vec::new();
    let (mut shared, mut bill) = (0, 0);
    for message in messages {
        let is_request = message.role == msg_core::Role::Assistant && !history.is_empty();
        if is_request {
            let ast = ChainAst::parse(history.clone())
                .expect("a request ends with a question or a result");
            let index = TokenIndex::of(&ast, Box::new(count::Script::new()), &[]);
            let pipeline = Preset::Balanced.pipeline().with_best_effort();
            let mut ids = SeededIds::new(1);
            let outcome =
                compact_with(&ast, &index, Some(budget), &pipeline, &mut ids, |it| Ok(digest(it)));
            let compaction = match outcome.expect("the budget makes sense") {
                CompactOutcome::NotNeeded(_) => None,
                CompactOutcome::Compacted(it) => Some(it),
                CompactOutcome::CannotFit(it) => it.best.map(|it| *it),
            };
            if let Some(it) = compaction {
                shared = shared.min(it.first_changed);
                history = it.apply(ast).expect("it is its tree");
            }
            let cost = |it: &[Message]| it.iter().map(|it| counter.message(it)).sum::<u64>();
            let read = cost(&history[..shared.min(history.len())]);
            bill += read * READ + (cost(&history) - read) * WRITE;
            shared = history.len();
        }
        history.push(message.clone());
    }
    bill
}

/// Turns of a chat, each with calls whose outputs have so many words.
fn conversation(turns: usize, calls: usize, words: usize) -> Vec<Message> {
    let mut messages = vec![Message::system("Answer briefly. ".repeat(20))];
    for turn in 0..turns {
        messages.push(Message::user(format!("question {turn} ") + &"word ".repeat(words / 4)));
        for call in 0..calls {
            let id = format!("c{turn}x{call}");
            let asked = ToolCall::new(&id, "read", format!("{{\"path\":\"src/{call}.rs\"}}"));
            let mut assistant = Message::assistant("");
            assistant.parts = vec![Part::ToolCall(asked)];
            messages.push(assistant);
            let said = "line ".repeat(words + 37 * (call % 5));
            let result = Part::ToolResult(ToolResult::new(&id, said));
            messages.push(Message::new(msg_core::Role::Tool).with_part(result));
        }
        messages.push(Message::assistant("answer ".repeat(words / 2)));
    }
    messages
}

#[test]
fn cutting_by_money_is_never_dearer() {
    for (turns, calls, words) in
        [(40, 0, 120), (20, 3, 80), (4, 20, 100), (1, 60, 150), (60, 1, 10)]
    {
        let messages = conversation(turns, calls, words);
        let counter = count::Script::new();
        let total: u64 = messages.iter().map(|it| counter.message(it)).sum();
        for percent in [20, 40, 70] {
            let budget = Budget::tokens(total * percent / 100);
            let plain = bill(&messages, &budget);
            let money = bill(&messages, &budget.clone().with_cache(CacheCost::default()));
            assert!(
                money <= plain,
                "{turns} turns of {calls} calls, {words} words, {percent} %: {money} > {plain}"
            );
        }
    }
}

#[test]
fn a_cut_by_money_keeps_what_is_asked_for() {
    let messages = conversation(40, 0, 120);
    let ast = ChainAst::parse(messages).expect("it is a chain");
    let index = TokenIndex::of(&ast, Box::new(count::Script::new()), &[]);
    let total = index.total().tokens;
    let after = |budget: &Budget| {
        let pipeline = Preset::Balanced.pipeline();
        let mut ids = SeededIds::new(1);
        let outcome =
            compact_with(&ast, &index, Some(budget), &pipeline, &mut ids, |it| Ok(digest(it)));
        let Ok(CompactOutcome::Compacted(it)) = outcome else { panic!("it fits when compacted") };
        it.after.tokens
    };
    let budget = Budget::tokens(total / 2);
    let money = budget.clone().with_cache(CacheCost::default());
    assert!(after(&money) < after(&budget), "a deeper cut is cheaper");
    assert!(after(&money.clone().with_cache_keep(total / 3)) > after(&money), "more is kept");
    assert!(after(&budget) * 10 > total / 2 * 9, "the budget is used");
}
