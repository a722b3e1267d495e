//! Planning a compaction: 100 000 messages whose costs are known, with nothing to ask and with summaries, which are
//! answered at once.

use msg_chainast::ChainAst;
use msg_compact::policy::{self, SlidingWindow};
use msg_compact::{
    Budget, CompactOutcome, Pipeline, Preset, TokenIndex, When, compact_with, count,
};
use msg_core::{Message, SeededIds};

use crate::chains;
use crate::contest::{On, Size};
use crate::row::{Goal, Row};
use crate::script;

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "compact/window",
        "100 000 messages, the last half kept",
        &[Goal::Time(10.0)],
        |data| {
            let chain = chains::mixed(data.n(100_000));
            let on = planned(chain, Pipeline::new().over(SlidingWindow::default()));
            script::entry(on, data, "langchain trim_messages, 2 000 of them", "langchain_trim")
                .done()
        },
    )
    .note("langchain's figure is for a fiftieth of the messages"),
    Row::new(
        "compact/balanced",
        "100 000 messages, preset `balanced`",
        &[Goal::Time(60.0)],
        |data| planned(chains::mixed(data.n(100_000)), preset("balanced")).done(),
    ),
    Row::new(
        "compact/sections",
        "100 000 small messages, sections summarised",
        &[Goal::Time(60.0)],
        |data| planned(chains::chat(data.n(100_000)), summaries("summarize-sections")).done(),
    ),
    Row::new(
        "compact/history",
        "100 000 small messages, history summarised",
        &[Goal::Time(60.0)],
        |data| planned(chains::chat(data.n(100_000)), summaries("summarize-history")).done(),
    ),
    Row::new(
        "compact/pentagi",
        "100 000 small messages, preset `pentagi`",
        &[Goal::Time(60.0)],
        |data| planned(chains::chat(data.n(100_000)), preset("pentagi")).done(),
    ),
    Row::new(
        "compact/push",
        "a short message counted into the index",
        &[Goal::Each(100.0)],
        |data| {
            let messages = chains::chat(data.n(10_000));
            let size = Size::Items(messages.len());
            let run = |it: &Vec<Message>| {
                let mut index = TokenIndex::new(Box::new(count::Forge), &[]);
                it.iter().for_each(|it| index.push(it));
                vec![index.total().tokens]
            };
            On::new(messages, size).timed("msg-compact", run).done()
        },
    ),
];

fn preset(name: &str) -> Pipeline {
    Preset::named(name, &serde_json::Map::new()).expect("because the preset exists").pipeline()
}

fn summaries(name: &str) -> Pipeline {
    let policy = policy::from_json(&serde_json::json!({"policy": name}));
    Pipeline::new().with_stage(policy.expect("because the policy exists").0, When::Always)
}

fn planned(chain: Vec<Message>, pipeline: Pipeline) -> On<(ChainAst, TokenIndex)> {
    let ast = ChainAst::parse(chain).expect("because the shape is valid");
    let index = TokenIndex::of(&ast, Box::new(count::Script::new()), &[]);
    let run = move |(ast, index): &(ChainAst, TokenIndex)| {
        let budget = Budget::tokens(index.total().tokens / 2);
        let ask = |_: &_| Ok("They worked on the parser.".to_owned());
        let outcome =
            compact_with(ast, index, Some(&budget), &pipeline, &mut SeededIds::new(1), ask);
        vec![u64::from(matches!(
            outcome,
            Ok(CompactOutcome::Compacted(_) | CompactOutcome::CannotFit(_))
        ))]
    };
    On::new((ast, index), Size::Whole).right(vec![1]).timed("msg-compact", run)
}
