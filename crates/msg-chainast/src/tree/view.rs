//! The tree without its texts, in the JSON form of `msg ast`. Its messages are not in it.

use serde::Serialize;

use super::{BodyPair, ChainAst, Header, Section};

/// Serializes `size` and `sections`; the program adds the rest of its form.
///
/// ```
/// use msg_chainast::{ChainAst, Message};
///
/// let chain = ChainAst::parse(vec![Message::user("Hello")])?;
/// let json = serde_json::to_value(chain.view())?;
/// assert_eq!(json["sections"][0]["header"]["human_parts"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize)]
pub struct TreeView<'a> {
    size: usize,
    sections: Vec<SectionView<'a>>,
}

impl<'a> TreeView<'a> {
    pub(crate) fn of(chain: &'a ChainAst) -> Self {
        TreeView {
            size: chain.size(),
            sections: chain.sections.iter().map(SectionView::of).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct SectionView<'a> {
    size: usize,
    header: HeaderView,
    body: Vec<PairView<'a>>,
}

impl<'a> SectionView<'a> {
    fn of(it: &'a Section) -> Self {
        SectionView {
            size: it.size(),
            header: HeaderView::of(it.header()),
            body: it.body.iter().map(PairView::of).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct HeaderView {
    system: bool,
    human: bool,
    human_parts: usize,
    size: usize,
}

impl HeaderView {
    fn of(it: &Header) -> Self {
        HeaderView {
            system: it.system.is_some(),
            human: it.user.is_some(),
            human_parts: it.user.as_ref().map_or(0, |it| it.parts.len()),
            size: it.size(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct PairView<'a> {
    kind: &'static str,
    size: usize,
    valid: bool,
    tool_messages: usize,
    tool_call_ids: Vec<&'a str>,
    response_ids: Vec<&'a str>,
    pending: Vec<&'a str>,
    unmatched: Vec<&'a str>,
}

impl<'a> PairView<'a> {
    fn of(it: &'a BodyPair) -> Self {
        let info = it.tool_calls_info();
        PairView {
            kind: it.kind().as_str(),
            size: it.size(),
            valid: it.is_valid(),
            tool_messages: it.tools.len(),
            tool_call_ids: it.assistant.tool_calls().map(|it| it.id.as_str()).collect(),
            response_ids: it.results().map(|(_, it)| it.call_id.as_str()).collect(),
            pending: info.pending.iter().map(|it| it.call().id.as_str()).collect(),
            unmatched: info.unmatched.iter().map(|it| it.call_id.as_str()).collect(),
        }
    }
}
