//! What parsing and repairing allocate: the lists of the tree, and for what is mended a few texts.

use msg_chainast::{ChainAst, ChainRepairOptions, Message, Part, SeededIds, ToolCall};

/// Turns of a question, two calls with their results, and an answer.
fn turns(n: usize) -> Vec<Message> {
    let turn = |at: usize| {
        let ids = [format!("call_{at}_a"), format!("call_{at}_b")];
        let call = |id: &String| Part::ToolCall(ToolCall::new(id.as_str(), "read", "{}"));
        let asking = Message::assistant("").with_part(call(&ids[0])).with_part(call(&ids[1]));
        let [first, second] = ids.map(|it| Message::tool_result(it, "done"));
        [Message::user("q"), asking, first, second, Message::assistant("so it is")]
    };
    (0..n).flat_map(turn).collect()
}

/// How often `f` allocates; freeing what it gives is not counted.
fn count<T>(f: impl FnOnce() -> T) -> u64 {
    let mut res = None;
    let info = allocation_counter::measure(|| res = Some(f()));
    drop(res);
    info.count_total
}

fn repair(messages: Vec<Message>) -> (ChainAst, Vec<msg_core::Diagnostic>) {
    ChainAst::repair(messages, &ChainRepairOptions::new(), &mut SeededIds::new(1))
}

/// The list of sections, the pairs of each, and the tool messages of each pair that has some.
fn lists(turns: u64) -> u64 {
    1 + 2 * turns
}

#[test]
fn a_valid_chain_costs_the_lists_of_its_tree() {
    let chain = turns(1_000);
    let parsed = chain.clone();
    let parse = count(|| ChainAst::parse(parsed).unwrap());
    assert_eq!(parse, lists(1_000));
    let fixed = count(|| repair(Vec::new())) + 40; // lists of the walk, which double as they grow
    let repaired = count(|| repair(chain));
    assert!(repaired <= lists(1_000) + fixed, "{repaired}");
}

#[test]
fn a_moved_result_costs_one_allocation_and_a_placeholder_four() {
    let n_calls = 2_000;
    let (mut late, results): (Vec<_>, Vec<_>) =
        turns(1_000).into_iter().partition(|it| it.role != msg_core::Role::Tool);
    let missing = late.clone();
    late.extend(results);
    let fixed = 100;
    // The id in the report.
    let late = count(|| repair(late));
    assert!(late <= lists(1_000) + n_calls + fixed, "{late}");
    // The same, and the part, the id and the name of the placeholder.
    let missing = count(|| repair(missing));
    assert!(missing <= lists(1_000) + 4 * n_calls + fixed, "{missing}");
}

#[test]
fn a_result_that_is_pushed_does_not_cost_the_calls_of_its_pair() {
    let n_calls = 1_000;
    let id = |at: u64| format!("call_{at}");
    let calls = (0..n_calls).map(|at| Part::ToolCall(ToolCall::new(id(at), "read", "{}")));
    let asking = calls.fold(Message::assistant(""), Message::with_part);
    // Of as many messages as tests count again after each edit, which allocates.
    let mut chain =
        ChainAst::parse_open([turns(300), vec![Message::user("q"), asking]].concat()).unwrap();
    let results: Vec<_> = (0..n_calls).map(|at| Message::tool_result(id(at), "done")).collect();
    let pushed = count(|| results.into_iter().for_each(|it| chain.push(it).unwrap()));
    let each = 4; // lists that double, the entry of the index, and the set of its ids
    assert!(pushed <= each * n_calls, "{pushed}");
}
