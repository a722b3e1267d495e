//! What the link rules see of a session.

use std::borrow::Cow;

use crate::finding::SessionPlace;
use crate::json::Value;
use crate::link::Media;
use crate::link::results::Limits;

/// A record of the active path that is sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent<'a> {
    /// Index of the record.
    pub(crate) record: usize,
    /// Where it is.
    pub(crate) place: SessionPlace,
    /// Who speaks.
    pub(crate) sender: Sender,
    /// The id of the answer that it is a piece of.
    pub(crate) answer: Option<Cow<'a, str>>,
    /// What is said.
    pub(crate) content: Content<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    User,
    Assistant,
}

/// What a record says.
#[derive(Debug, Clone)]
pub(crate) enum Content<'a> {
    /// A string.
    Text(Value<'a>),
    /// A list of blocks, and its value.
    Blocks(Value<'a>, Vec<Block<'a>>),
    /// `null`, which is not a content.
    Null(Value<'a>),
    /// Nothing that the provider would take.
    None,
}

impl<'a> Content<'a> {
    /// The content member of a message, whose blocks are of the kind that `kind` says.
    pub(crate) fn of(
        content: Option<Value<'a>>,
        kind: fn(Value<'a>) -> Option<BlockKind<'a>>,
    ) -> Self {
        let Some(value) = content else { return Content::None };
        if value.text().is_some() {
            return Content::Text(value);
        }
        if value.is_null() {
            return Content::Null(value);
        }
        let block = |value| Block { value, kind: kind(value).unwrap_or(BlockKind::Other) };
        match value.array() {
            Some(blocks) => Content::Blocks(value, blocks.into_iter().map(block).collect()),
            None => Content::None,
        }
    }
}

/// A block of a content list.
#[derive(Debug, Clone)]
pub(crate) struct Block<'a> {
    pub(crate) value: Value<'a>,
    pub(crate) kind: BlockKind<'a>,
}

/// What the rules need to know of a block. An id is the value of the member that holds it.
#[derive(Debug, Clone)]
pub(crate) enum BlockKind<'a> {
    Call(Option<Value<'a>>),
    Result(Option<Value<'a>>),
    /// A call of a tool that the provider's server runs, and its result.
    ServerCall(Option<Value<'a>>),
    ServerResult(Option<Value<'a>>),
    Text(Value<'a>),
    Thinking {
        emptied: bool,
    },
    Other,
}

/// What differs between the dialects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Whether neighbouring records of one answer are one message.
    pub(crate) joins_answers: bool,
    /// Whether results must be before everything else of their message (SE-34), and a result that
    /// comes goes to the front of the next record where it can (SE-37).
    pub(crate) results_first: bool,
    /// Whether the conversation must begin with a user (SE-39).
    pub(crate) starts_with_user: bool,
    /// Whether a text of the user that is white space only is refused (SE-136).
    pub(crate) blank_is_refused: bool,
    /// What is between a call id and the number of the call that got it again (SE-31, SE-129).
    pub(crate) renamed: char,
    /// Whether the mends of warnings are made.
    pub(crate) all: bool,
    /// Whether long values are marks of an excerpt.
    pub(crate) has_marks: bool,
    /// What the provider takes of images.
    pub(crate) limits: &'static Limits,
    /// Whether a result must be in the message right after its call (SE-34).
    pub(crate) finds_late: bool,
    /// The JSON of an error result for the call with this id, which is given as JSON, and its block.
    pub(crate) placeholder: for<'v> fn(&str, Value<'v>) -> String,
    /// The images and documents of a block.
    pub(crate) media: for<'v> fn(Value<'v>) -> Vec<Media<'v>>,
}

impl<'a> Sent<'a> {
    pub(crate) fn blocks(&self) -> &[Block<'a>] {
        match &self.content {
            Content::Blocks(_, it) => it,
            _ => &[],
        }
    }

    /// Whether it says something else than results.
    pub(crate) fn says_more_than_results(&self) -> bool {
        match &self.content {
            Content::Text(_) => true,
            Content::Blocks(_, it) => it.iter().any(|it| !it.is_result()),
            Content::Null(_) | Content::None => false,
        }
    }

    /// Whether the provider gets to see anything of it: an agent leaves blank texts of answers out.
    pub(crate) fn is_seen(&self) -> bool {
        let is_seen = |text: &Value<'_>| {
            self.sender == Sender::User || text.text().is_none_or(|it| !it.trim().is_empty())
        };
        match &self.content {
            Content::Text(it) => is_seen(it),
            Content::Blocks(_, it) => it.iter().any(|it| match &it.kind {
                BlockKind::Text(it) => is_seen(it),
                _ => true,
            }),
            Content::Null(_) | Content::None => false,
        }
    }
}

impl<'a> Block<'a> {
    pub(crate) fn is_result(&self) -> bool {
        matches!(self.kind, BlockKind::Result(_))
    }

    /// The id of a call, not empty.
    pub(crate) fn call_id(&self) -> Option<(Value<'a>, Cow<'a, str>)> {
        let BlockKind::Call(Some(id)) = self.kind else { return None };
        id.text().filter(|it| !it.is_empty()).map(|it| (id, it))
    }

    /// The id of the call that a result answers, not empty.
    pub(crate) fn result_id(&self) -> Option<(Value<'a>, Cow<'a, str>)> {
        let BlockKind::Result(Some(id)) = self.kind else { return None };
        id.text().filter(|it| !it.is_empty()).map(|it| (id, it))
    }
}
