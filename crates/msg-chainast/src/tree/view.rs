//! The tree without its texts, in the JSON form of `msg ast`. Its messages are not in it.

use serde::{Serialize, Serializer, ser::SerializeStruct};

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
#[derive(Debug, Clone, Copy)]
pub struct TreeView<'a> {
    chain: &'a ChainAst,
}

impl<'a> TreeView<'a> {
    pub(crate) fn of(chain: &'a ChainAst) -> Self {
        TreeView { chain }
    }

    /// Size in bytes of the chain.
    pub fn size(&self) -> usize {
        self.chain.size()
    }

    /// The sections, to be serialized on their own.
    pub fn sections(&self) -> impl Serialize + 'a {
        Sections(&self.chain.sections)
    }
}

impl Serialize for TreeView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("TreeView", 2)?;
        out.serialize_field("size", &self.size())?;
        out.serialize_field("sections", &self.sections())?;
        out.end()
    }
}

struct Sections<'a>(&'a [Section]);
struct Body<'a>(&'a [BodyPair]);

impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(SectionView::of))
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(PairView::of))
    }
}

#[derive(Serialize)]
struct SectionView<'a> {
    size: usize,
    header: HeaderView,
    body: Body<'a>,
}

impl<'a> SectionView<'a> {
    fn of(it: &'a Section) -> Self {
        SectionView { size: it.size(), header: HeaderView::of(it.header()), body: Body(it.body()) }
    }
}

#[derive(Serialize)]
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

#[derive(Serialize)]
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
