//! What the blocks of Converse are told by, and the types of their members (MS-29). What is in a block keeps its source
//! where canonical writing would differ (BR-14).

use msg_codec::codec::{Found, Mended, Parts, Want, Wants};
use msg_core::Origin;
use msg_json::{Kind, Reader, to_text};

use crate::read::Depth;

pub(crate) const BEDROCK: Origin = Origin::Bedrock;

/// The members of which a block has one (BR-3).
pub(crate) const UNION: [&str; 14] = [
    "text",
    "image",
    "document",
    "video",
    "audio",
    "toolUse",
    "toolResult",
    "guardContent",
    "cachePoint",
    "reasoningContent",
    "citationsContent",
    "searchResult",
    "toolAddition",
    "toolRemoval",
];

pub(crate) const CACHE_POINT: &str = "cachePoint";
pub(crate) const GUARD: &str = "guardContent";
pub(crate) const CITATIONS: &str = "citationsContent";

// What blocks want each of their members to be (MS-29), as tables: what is meant where a value is of another kind.

/// What is meant by a block in which a value is of another kind; `name` is where it is.
pub(crate) fn mend(name: &str, source: &str, depth: Depth) -> Option<Mended> {
    let Found::Known(wants) = (if depth == Depth::Result { in_result } else { block })(source)
    else {
        return None;
    };
    Want::Object(wants).mend(name, source)
}

static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);

/// What is wanted of a block by the member of the union that it has.
fn block(source: &str) -> Found {
    static CALL: Wants =
        Wants::new(&[("toolUseId", Want::Text), ("name", Want::Name)], &[&["name"]]);
    static USE: Wants = Wants::new(&[("toolUse", Want::Object(&CALL))], &[&["toolUse"]]);
    static ANSWER: Wants = Wants::new(
        &[("toolUseId", Want::Text), ("content", Want::Content(&RESULT))],
        &[&["toolUseId"]],
    );
    static RESULT_BLOCK: Wants =
        Wants::new(&[("toolResult", Want::Object(&ANSWER))], &[&["toolResult"]]);
    match kind(source) {
        Some("text") => Found::Known(&TEXT),
        Some("toolUse") => Found::Known(&USE),
        Some("toolResult") => Found::Known(&RESULT_BLOCK),
        Some(_) => Found::Unknown,
        None => Found::NoPart,
    }
}

/// Results do not nest.
fn in_result(source: &str) -> Found {
    match kind(source) {
        Some("text") => Found::Known(&TEXT),
        Some(_) => Found::Unknown,
        None => Found::NoPart,
    }
}

static RESULT: Parts = Parts {
    of: in_result,
    text: |text| to_text(|it| it.object(|it| it.key("text").str(text))),
    may_be_bare: true,
    may_be_text: true,
    may_be_null: true,
    may_be_value: true,
};

/// The only member of the union that a block has.
fn kind(source: &str) -> Option<&'static str> {
    let (mut reader, mut found) = (Reader::from_text(source), None);
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        let is_null = matches!(reader.peek(), Ok(Kind::Null));
        reader.raw().ok()?;
        let kinds = UNION.into_iter().chain(["json"]);
        if let Some(kind) = kinds.filter(|_| !is_null).find(|it| *it == key.text) {
            found = Some(if found.is_some() { "" } else { kind });
        }
    }
    found
}
