//! Contents and blocks of another type than the provider takes: their values are read, and written in its form
//! (SE-38, MS-29).
//!
//! ```text
//! "content":{"type":"text","text":"a"}      ─▶  "content":[{"type":"text","text":"a"}]
//! "content":7                               ─▶  "content":"7"
//! "content":["a"]                           ─▶  "content":[{"type":"text","text":"a"}]
//! ```

use msg_core::Part;

use crate::edit::Edit;
use crate::finding::{Finding, SessionPlace};
use crate::json::{Kind, Value};
use crate::link::plan::{Content, Plan};

/// What a content of another type is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Odd {
    /// A block where a list of them belongs.
    Block,
    /// A number or a word.
    Scalar,
    /// An object that is not a block, or a value in place of the whole message.
    Unknown,
}

/// The part that a value is: a block that `part` knows, or else its text, or its JSON text; none of null.
pub(crate) fn read(value: Value<'_>, part: fn(Value<'_>) -> Option<Part>) -> Option<Part> {
    let known = part(value).filter(|it| !matches!(it, Part::Other(_)));
    known.or_else(|| (!value.is_null()).then(|| Part::text(value.plain())))
}

/// As [`read`], of an element of a list of blocks: an object of an unknown type is kept as it is.
pub(crate) fn read_block(value: Value<'_>, part: fn(Value<'_>) -> Option<Part>) -> Option<Part> {
    if value.kind() == Kind::Object { part(value) } else { read(value, part) }
}

/// Checks the types of contents and blocks. Whether a content is mended: its calls and results are judged then, once
/// they are blocks.
pub(super) fn check(plan: &mut Plan<'_>) -> bool {
    let mut is_mended = false;
    for sent in plan.sent {
        match &sent.content {
            Content::Other(value, odd) => {
                let mend = match odd {
                    Odd::Block => Some(("make it a list of one block", ("[", "]"))),
                    Odd::Scalar => Some(("write it as a text", ("\"", "\""))),
                    Odd::Unknown => None,
                };
                is_mended |= mend.is_some();
                let text = "the content of a message is neither a text nor a list of blocks";
                found(plan, sent.place, *value, text, mend);
            }
            Content::Blocks(_, blocks) => {
                let [of_text, of_scalar] = plan.rules.text_blocks;
                for (n, it) in blocks.iter().enumerate() {
                    let mend = match it.value.kind() {
                        Kind::Object => continue,
                        Kind::String => Some(of_text),
                        Kind::Number | Kind::Bool => Some(of_scalar),
                        _ => None,
                    };
                    let mend = mend.map(|it| ("write it as a text block", it));
                    let text = "an element of a content is not a block";
                    found(plan, sent.place.with_block(n), it.value, text, mend);
                }
            }
            Content::Text(_) | Content::Null(_) | Content::None => {}
        }
    }
    is_mended
}

/// What goes before a value and after it.
pub(crate) type Around = (&'static str, &'static str);

/// What goes around a text and around a number or a word to make a block of it, in most dialects.
pub(crate) const TEXT_BLOCKS: [Around; 2] =
    [(r#"{"type":"text","text":"#, "}"), (r#"{"type":"text","text":""#, r#""}"#)];

fn found(
    plan: &mut Plan<'_>,
    place: SessionPlace,
    value: Value<'_>,
    text: &'static str,
    mend: Option<(&'static str, Around)>,
) {
    let finding = Finding::error("session::content-type", place, text);
    let Some((fix, (before, after))) = mend else {
        plan.findings.push(finding);
        return;
    };
    plan.findings.push(finding.mended(fix, plan.rules.all));
    // The value itself stays where it is: of an excerpt it is longer than it looks.
    let span = value.span();
    plan.edit(Edit::replace(span.start..span.start, before));
    plan.edit(Edit::replace(span.end..span.end, after));
}
