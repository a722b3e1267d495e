//! What a record of block lists is for its neighbours, where nothing is wrong with it.

use super::model::{Block, BlockKind, Content, Sender};
use crate::excerpt::{Outline, Step};
use crate::json::Value;

/// What a record that is sent is; unsettled if a rule could find something in it.
pub(crate) fn of(
    sender: Sender,
    content: &Content<'_>,
    answer: Option<String>,
    images: for<'v> fn(Value<'v>) -> Vec<(Value<'v>, Value<'v>)>,
) -> Outline {
    let blocks = match content {
        Content::Blocks(_, blocks) => blocks.as_slice(),
        _ => &[],
    };
    let is_plain = match content {
        Content::Text(text) => says_something(*text),
        Content::Blocks(..) => {
            !blocks.is_empty()
                && blocks.iter().all(|it| is_plain(it) && images(it.value).is_empty())
        }
        Content::None => false,
    };
    let step = match sender {
        _ if !is_plain => Step::Unknown,
        Sender::Assistant if !blocks.iter().any(Block::is_result) => Step::Answer(answer),
        Sender::User if !blocks.iter().any(is_of_an_answer) => of_user(blocks),
        _ => Step::Unknown,
    };
    let ids = |id: fn(&Block<'_>) -> Option<String>| blocks.iter().filter_map(id).collect();
    Outline {
        calls: match sender {
            Sender::Assistant => ids(|it| it.call_id().map(|it| it.1.into_owned())),
            Sender::User => Vec::new(),
        },
        results: ids(|it| it.result_id().map(|it| it.1.into_owned())),
        ..Outline::of(step)
    }
}

/// A user's record is a question, or results, or both, which only some agents take.
fn of_user(blocks: &[Block<'_>]) -> Step {
    match blocks.iter().filter(|it| it.is_result()).count() {
        0 => Step::Question,
        count if count == blocks.len() => Step::Results,
        _ => Step::Unknown,
    }
}

fn is_of_an_answer(block: &Block<'_>) -> bool {
    matches!(block.kind, BlockKind::Call(_) | BlockKind::Thinking { .. })
}

/// Whether no rule finds anything in a block by itself.
fn is_plain(block: &Block<'_>) -> bool {
    match &block.kind {
        BlockKind::Call(_) => block.call_id().is_some(),
        BlockKind::Result(_) => block.result_id().is_some(),
        BlockKind::Text(text) => says_something(*text),
        BlockKind::Thinking { emptied } => !emptied,
        BlockKind::Other => false,
    }
}

fn says_something(text: Value<'_>) -> bool {
    text.text().is_some_and(|it| !it.trim().is_empty())
}
