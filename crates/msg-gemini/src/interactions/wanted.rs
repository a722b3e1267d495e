//! What contents and steps want each of their members to be (MS-29), as tables: what is meant where a value is of
//! another kind.

use msg_codec::codec::{Found, Mended, Parts, Want, Wants, type_of};
use msg_json::{Reader, to_text};

/// What is meant by a content, or by a step that is one part, in which a value is of another kind; none of those whose
/// type is not known in their place.
pub(super) fn mend(source: &str, is_known: impl Fn(&str) -> bool) -> Option<Mended> {
    let kind = type_of(Reader::from_text(source)).ok()??;
    if !is_known(&kind) {
        return None;
    }
    Want::Object(of_type(&kind)?).mend("", source)
}

const fn wants(
    members: &'static [(&'static str, Want)],
    needs: &'static [&'static [&'static str]],
) -> Wants {
    Wants { members, needs, marks: &[], bare: None }
}

fn of_type(kind: &str) -> Option<&'static Wants> {
    static TEXT: Wants = wants(&[("text", Want::Text)], &[&["text"]]);
    static MEDIUM: Wants = wants(
        &[("mime_type", Want::Opaque), ("data", Want::Opaque), ("uri", Want::Opaque)],
        &[&["data", "uri"]],
    );
    static THOUGHT: Wants =
        wants(&[("signature", Want::Opaque), ("summary", Want::Content(&SUMMARY))], &[]);
    static CALL: Wants = wants(
        &[
            ("id", Want::Text),
            ("name", Want::Name),
            ("arguments", Want::Any),
            ("signature", Want::Opaque),
        ],
        &[&["name"]],
    );
    static RESULT: Wants =
        wants(&[("call_id", Want::Text), ("name", Want::Text), ("is_error", Want::Flag)], &[]);
    Some(match kind {
        "text" => &TEXT,
        "image" | "audio" | "document" | "video" => &MEDIUM,
        "thought" => &THOUGHT,
        "function_call" => &CALL,
        "function_result" => &RESULT,
        _ => return None,
    })
}

/// The texts of a thought.
static SUMMARY: Parts = Parts {
    of: |source| match type_of(Reader::from_text(source)) {
        Ok(Some(kind)) if kind == "text" => of_type(&kind).map_or(Found::Unknown, Found::Known),
        _ => Found::Unknown,
    },
    text: |text| {
        to_text(|it| {
            it.object(|it| {
                it.key("type").str("text");
                it.key("text").str(text);
            });
        })
    },
    may_be_bare: false,
    may_be_text: false,
    may_be_null: true,
    may_be_value: false,
};
