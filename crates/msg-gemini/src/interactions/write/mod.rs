//! Writes the steps of an interaction from [`Message`]s directly into bytes. Unedited messages that were read here are
//! written unchanged. What the format cannot hold is reported. The written objects have their known members in
//! canonical order; they are listed here with the variants of real sources, and the types of members (MS-29).
//!
//! ```text
//! system, developer ..    -> "system_instruction"                          GI-2
//! user                    -> user_input                       step.rs      GI-4, GI-9
//! assistant               -> thought, model_output, function_call, in order
//! tool                    -> function_result, a step each     step.rs      GI-8
//! ```

use msg_codec::codec::{
    Found, Mended, PartWriter, Parts, Placed, Purpose, RawMember, Shape, SlotPlan, Value, Want,
    Wants, text_of_part, type_of,
};
use msg_core::{Answered, Extra, Origin, Part, Reasoning, Report, ToolCall, ToolResult};
use msg_json::Reader;

use crate::interactions::read::{says, summary_of};
use crate::{LaterSystem, Thoughts, WriteOptions};

mod step;

/// Writes messages; used once per list.
pub(crate) struct Writer<'a, 'r> {
    options: &'a WriteOptions,
    purpose: Purpose,
    objects: PartWriter<'r>,
    /// The calls for the results in the current list.
    names: Answered<'a>,
}

/// Writes with a writer, and returns the losses.
pub(crate) fn written<'a>(
    options: &'a WriteOptions,
    purpose: Purpose,
    write: impl FnOnce(&mut Writer<'a, '_>),
) -> Report {
    let mut report = Report::new();
    let objects = PartWriter::new(INTERACTIONS, options.layout, &mut report);
    let mut writer = Writer { options, purpose, objects, names: Answered::default() };
    write(&mut writer);
    writer.objects.losses.flush();
    report
}

impl<'a> Writer<'a, '_> {
    /// Whether documents are written unchanged, including unusual shapes.
    pub(super) fn is_verbatim(&self) -> bool {
        self.purpose == Purpose::Return && self.objects.keeps_layout()
    }

    fn later_system(&self) -> LaterSystem {
        if self.is_verbatim() { LaterSystem::Keep } else { self.options.later_system }
    }

    fn plan<'b>(&self, extra: &'b Extra) -> SlotPlan<'b> {
        self.objects.plan(extra, 0)
    }

    /// The unknown members of a part, except those in `skip`; those of other formats are reported.
    fn members<'b>(&mut self, extra: &'b Extra, at: usize, skip: &[&str]) -> Vec<RawMember<'b>> {
        self.objects.losses.foreign(extra, Some(&INTERACTIONS), Some(at));
        let own = extra.iter(&INTERACTIONS).filter(|it| !skip.contains(&it.0));
        own.map(|(name, value)| RawMember { name: name.into(), value: value.text() }).collect()
    }
}

// Steps that are one part: thoughts, calls and results (GI-7, GI-8, GI-11).

const SIGNATURE: &str = "signature";

impl<'a> Writer<'a, '_> {
    /// Whether reasoning is written: with its text, with its own signature, or back to its place.
    fn keeps_thought(&self, it: &Reasoning) -> bool {
        let has_own = it.extra.iter(&INTERACTIONS).next().is_some();
        let was_here = self.is_verbatim() && self.objects.layout(&it.extra).is_some();
        let says =
            !it.display_text().is_empty() || it.summary.as_ref().is_some_and(|it| it.len() > 1);
        self.options.thoughts == Thoughts::Keep && (has_own || was_here || says)
    }

    fn thought(&mut self, at: usize, it: &Reasoning, more: &[RawMember<'a>], out: &mut Vec<u8>) {
        let is_said = |it: &Option<String>| it.as_deref().is_some_and(|it| !it.is_empty());
        let summary = it.summary.as_deref().filter(|it| !it.is_empty());
        let lost = [
            ("text", summary.is_some() && is_said(&it.text)),
            (SIGNATURE, is_said(&it.signature)),
            ("redacted", is_said(&it.redacted)),
            ("encrypted", is_said(&it.encrypted)),
        ];
        self.objects.losses.members(Some(at), &lost);
        let text = it.text.clone().filter(|it| !it.is_empty());
        let texts = summary.map_or_else(|| text.into_iter().collect(), <[String]>::to_vec);
        let plan = self.plan(&it.extra);
        let signature = match it.extra.get(&INTERACTIONS, SIGNATURE) {
            Some(raw) => Value::Json(raw.text().as_bytes()),
            None if plan.variant(thought::SIGNATURE) == thought::SIGNATURE_EMPTY => "".into(),
            None if plan.variant(thought::SIGNATURE) == thought::SIGNATURE_NULL => {
                Value::Json(b"null")
            }
            None => Value::Absent,
        };
        let mut said = Vec::new();
        match self.objects.source(&it.extra, 2).filter(|it| summary_of(it).as_ref() == Some(&texts))
        {
            Some(source) => said.extend_from_slice(source.as_bytes()),
            None if !texts.is_empty() => write_summary(&texts, &mut said),
            None if plan.variant(thought::SUMMARY) == thought::SUMMARY_NULL => {
                said.extend_from_slice(b"null");
            }
            None => {}
        }
        let said = Some(&said).filter(|it| !it.is_empty());
        let values = ["thought".into(), signature, said.into()];
        self.object(at, (&it.extra, &[SIGNATURE], more), &thought::SHAPE, &values, out);
    }

    fn call(&mut self, at: usize, it: &'a ToolCall, more: &[RawMember<'a>], out: &mut Vec<u8>) {
        self.objects.kind_losses(at, &it.kind);
        let plan = self.plan(&it.extra);
        let is_raw = |name| it.extra.get(&INTERACTIONS, name).is_some();
        let has_arguments =
            plan.may_have(call::ARGUMENTS) || !it.arguments.text().trim_ascii().is_empty();
        let arguments = self.objects.arguments(at, it, plan.variant(call::ARGUMENTS));
        let has_id = !it.id.is_empty() || plan.may_have(call::ID) && !is_raw("id");
        let was_empty = plan.variant(call::SIGNATURE) == call::SIGNATURE_EMPTY;
        let signature = it.signature.as_deref().filter(|it| !it.is_empty());
        let values = [
            "function_call".into(),
            has_id.then_some(&*it.id).into(),
            (&it.name).into(),
            has_arguments.then_some(&arguments).into(),
            signature.or(was_empty.then_some("")).into(),
        ];
        self.object(at, (&it.extra, &[], more), &call::SHAPE, &values, out);
    }

    fn result(&mut self, at: usize, it: &'a ToolResult, more: &[RawMember<'a>], out: &mut Vec<u8>) {
        self.objects.kind_losses(at, &it.kind);
        let plan = self.plan(&it.extra);
        let is_raw = |name| it.extra.get(&INTERACTIONS, name).is_some();
        let lacks_name = it.name.is_none() && (is_raw("name") || !plan.may_have(result::NAME));
        let name = if lacks_name { None } else { Some(self.name(at, it)) };
        let has_id = !it.call_id.is_empty() || plan.may_have(result::CALL_ID) && !is_raw("call_id");
        let content = self.output(at, it, plan.variant(result::RESULT));
        let has_result = !it.content.parts().is_empty() || plan.may_have(result::RESULT);
        let was_false = plan.was_false(result::IS_ERROR);
        let is_error = match it.is_error {
            true => Value::Json(b"true"),
            false if was_false && !is_raw("is_error") => Value::Json(b"false"),
            false => Value::Absent,
        };
        let values = [
            "function_result".into(),
            has_id.then_some(&*it.call_id).into(),
            name.into(),
            has_result.then_some(&content).into(),
            is_error,
        ];
        self.object(at, (&it.extra, &[], more), &result::SHAPE, &values, out);
    }

    /// The tool name of a result: its own, or else that of its call.
    fn name(&mut self, at: usize, it: &'a ToolResult) -> &'a str {
        let of_call = || self.names.call(it).map(|it| it.name.as_str());
        let name = it.name.as_deref().or_else(of_call);
        if name.is_none() {
            let text = "the result of no call has no name, which the format demands";
            self.objects.losses.warn("convert::orphan-result", Some(at), text);
        }
        name.unwrap_or("unknown_tool")
    }

    /// The value of `result`; `variant` is that of the source.
    fn output(&mut self, at: usize, it: &'a ToolResult, variant: u8) -> Vec<u8> {
        let parts: Vec<_> =
            it.content.parts().iter().filter(|it| self.fits_result(at, it)).collect();
        let mut out = Vec::new();
        match parts.as_slice() {
            [] if variant == result::RESULT_NULL => out.extend_from_slice(b"null"),
            [] if variant != result::RESULT_ARRAY => out.extend_from_slice(b"\"\""),
            [Part::Other(json)]
                if json.format == Origin::Json
                    && (variant == result::RESULT_VALUE || json.value.text().starts_with('{')) =>
            {
                out.extend_from_slice(json.value.text().as_bytes());
            }
            [one] if variant != result::RESULT_ARRAY && is_plain(one) => {
                self.objects.joined(&[(at, one)], "", &mut out);
            }
            all => msg_json::Writer::new(&mut out).array(all, |out, one| {
                out.value(|out| self.object_of(at, one, &[], out));
            }),
        }
        out
    }

    /// Whether a part can be in a result, which contains only contents.
    fn fits_result(&mut self, at: usize, it: &Part) -> bool {
        let is_step = matches!(it, Part::ToolCall(_) | Part::ToolResult(_) | Part::Reasoning(_));
        if is_step || !self.has_place(it) {
            self.objects.losses.part(at, &it.kind_of_source());
            return false;
        }
        true
    }
}

/// Whether a single part is written as a string.
fn is_plain(it: &Part) -> bool {
    text_of_part(it).is_some() && it.extra().iter(&INTERACTIONS).next().is_none()
}

/// Writes the texts of a summary as contents.
pub(crate) fn write_summary(texts: &[String], out: &mut Vec<u8>) {
    msg_json::Writer::new(out).array(texts, |it, text| {
        it.object(|it| {
            it.key("type").str("text");
            it.key("text").str(text);
        });
    });
}

// A part of a message as a content, or as a step (GI-6, GI-9, GI-15).

impl<'a> Writer<'a, '_> {
    /// Whether a part can be written.
    fn has_place(&self, it: &Part) -> bool {
        match it {
            Part::Text(_) | Part::Refusal(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
            Part::Reasoning(it) => self.keeps_thought(it),
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.source(it).is_some(),
            Part::Other(it) => it.format == INTERACTIONS || it.format == Origin::Json,
            _ => false,
        }
    }

    /// [`Writer::has_place`]; reports each part that cannot be written once.
    fn fits(&mut self, one: &Placed<'_>) -> bool {
        let fits = self.has_place(one.it);
        if !fits {
            self.options.thoughts.lose(one.part, one.it, &mut self.objects.losses);
        }
        fits
    }

    /// Writes a part that has a place; `more` are additional members of its object.
    fn part(&mut self, one: &Placed<'a>, more: &[RawMember<'a>], out: &mut Vec<u8>) {
        self.objects.losses.at_message(one.message);
        self.object_of(one.part, one.it, more, out);
    }

    /// [`Writer::part`] for the current message.
    fn object_of(&mut self, at: usize, it: &'a Part, more: &[RawMember<'a>], out: &mut Vec<u8>) {
        let whole = self.objects.whole(it.extra(), |source| more.is_empty() && says(source, it));
        if let Some(source) = whole {
            return out.extend_from_slice(source.as_bytes());
        }
        match it {
            Part::Text(it) if more.is_empty() && self.is_bare(&it.extra) => {
                msg_json::write_str(out, &it.text);
            }
            Part::Reasoning(it) => self.thought(at, it, more, out),
            Part::ToolCall(it) => self.call(at, it, more, out),
            Part::ToolResult(it) => self.result(at, it, more, out),
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.media(at, it, more, out),
            Part::Other(it) if it.format == INTERACTIONS => {
                more.iter().for_each(|it| self.objects.losses.raw(None, &it.name));
                out.extend_from_slice(it.value.text().as_bytes());
            }
            it => {
                self.objects.text_losses(at, it);
                let values = ["text".into(), text_of_part(it).unwrap_or_default().into()];
                self.object(at, (it.extra(), &[STEP], more), &text::SHAPE, &values, out);
            }
        }
    }

    /// Whether a text was a string instead of an object, and can still be one.
    fn is_bare(&self, extra: &Extra) -> bool {
        let is_plain = extra.iter(&INTERACTIONS).all(|it| it.0 == STEP);
        self.plan(extra).variant(TYPE) == text::BARE && is_plain && self.is_verbatim()
    }

    /// Writes the object of a part: these values, and its unknown members except the named ones.
    fn object(
        &mut self,
        at: usize,
        (extra, skip, more): (&Extra, &[&str], &[RawMember<'_>]),
        shape: &msg_codec::codec::Shape,
        values: &[msg_codec::codec::Value<'_>],
        out: &mut Vec<u8>,
    ) {
        let mut raw = self.members(extra, at, skip);
        let more = more.iter().filter(|new| raw.iter().all(|it| it.name != new.name));
        let more: Vec<_> =
            more.map(|it| RawMember { name: it.name.clone(), value: it.value }).collect();
        raw.extend(more);
        self.objects.object(at, (&raw, self.plan(extra)), shape, values, out);
    }
}

pub(crate) const INTERACTIONS: Origin = Origin::Interactions;

/// The member that distinguishes steps and contents; always first.
pub(crate) const TYPE: u8 = 1;

/// A step with contents: `user_input`, `model_output`; and a turn of the schema before May 2026.
pub(crate) mod held {
    use super::Shape;

    pub(crate) const CONTENT: u8 = 2;

    pub(crate) const STEP: Shape = Shape::new(&["type", "content"]);
    pub(crate) const TURN: Shape = Shape::new(&["role", "content"]);

    /// It was a turn, identified by its role.
    pub(crate) const IS_TURN: u8 = 1;
    /// The contents came without a step around them.
    pub(crate) const IS_BARE: u8 = 2;

    /// `content` was one object.
    pub(crate) const CONTENT_ONE: u8 = 1;
    /// `content` was a string.
    pub(crate) const CONTENT_TEXT: u8 = 2;
    /// `content` was null.
    pub(crate) const CONTENT_NULL: u8 = 3;
    /// `content` was a number, `true` or `false`, whose JSON is its text.
    pub(crate) const CONTENT_VALUE: u8 = 4;
}

/// A `text`.
pub(crate) mod text {
    use super::Shape;

    pub(crate) const TEXT: u8 = 2;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "text"]);

    /// It was a string instead of an object, as recorded by the shared reader.
    pub(crate) const BARE: u8 = 1;
}

/// An `image`, `audio`, `document` or `video`.
pub(crate) mod media {
    use super::Shape;

    pub(crate) const MIME: u8 = 2;
    pub(crate) const DATA: u8 = 3;
    pub(crate) const URI: u8 = 4;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "mime_type", "data", "uri"]);

    /// The types of such contents.
    pub(crate) const KINDS: [&str; 4] = ["image", "audio", "document", "video"];
}

/// A `thought`.
pub(crate) mod thought {
    use super::Shape;

    pub(crate) const SIGNATURE: u8 = 2;
    pub(crate) const SUMMARY: u8 = 3;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "signature", "summary"]);

    /// `signature` was `""`.
    pub(crate) const SIGNATURE_EMPTY: u8 = 1;
    /// `signature` was null.
    pub(crate) const SIGNATURE_NULL: u8 = 2;
    /// `summary` was null.
    pub(crate) const SUMMARY_NULL: u8 = 1;
}

/// A `function_call`.
pub(crate) mod call {
    use super::Shape;

    pub(crate) const ID: u8 = 2;
    pub(crate) const NAME: u8 = 3;
    pub(crate) const ARGUMENTS: u8 = 4;
    pub(crate) const SIGNATURE: u8 = 5;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "id", "name", "arguments", "signature"]);

    /// `signature` was `""`.
    pub(crate) const SIGNATURE_EMPTY: u8 = 1;
}

/// A `function_result`.
pub(crate) mod result {
    use super::Shape;

    pub(crate) const CALL_ID: u8 = 2;
    pub(crate) const NAME: u8 = 3;
    pub(crate) const RESULT: u8 = 4;
    pub(crate) const IS_ERROR: u8 = 5;

    pub(crate) const SHAPE: Shape = Shape::new(&["type", "call_id", "name", "result", "is_error"]);

    /// `result` was null.
    pub(crate) const RESULT_NULL: u8 = 1;
    /// `result` was an array of one plain text, or of nothing.
    pub(crate) const RESULT_ARRAY: u8 = 2;
    /// `result` was JSON that is not an object.
    pub(crate) const RESULT_VALUE: u8 = 3;
}

/// The member of a part's extra with the other members of the `model_output` that it began.
pub(crate) const STEP: &str = "step";

// The required types of the members of contents and steps (MS-29), as tables: how a value of another kind is
// interpreted.

/// The intended content, or step that is one part, for one with a value of another kind; `None` if its type is unknown
/// there.
pub(super) fn mend(source: &str, is_known: impl Fn(&str) -> bool) -> Option<Mended> {
    let kind = type_of(Reader::from_text(source)).ok()??;
    if !is_known(&kind) {
        return None;
    }
    Want::Object(of_type(&kind)?).mend("", source)
}

fn of_type(kind: &str) -> Option<&'static Wants> {
    static TEXT: Wants = Wants::new(&[("text", Want::Text)], &[&["text"]]);
    static MEDIUM: Wants = Wants::new(
        &[("mime_type", Want::Opaque), ("data", Want::Opaque), ("uri", Want::Opaque)],
        &[&["data", "uri"]],
    );
    static THOUGHT: Wants =
        Wants::new(&[("signature", Want::Opaque), ("summary", Want::Content(&SUMMARY))], &[]);
    static CALL: Wants = Wants::new(
        &[
            ("id", Want::Text),
            ("name", Want::Name),
            ("arguments", Want::Any),
            ("signature", Want::Opaque),
        ],
        &[&["name"]],
    );
    static RESULT: Wants =
        Wants::new(&[("call_id", Want::Text), ("name", Want::Text), ("is_error", Want::Flag)], &[]);
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
    may_be_null: true,
    ..Parts::new(
        |source| match type_of(Reader::from_text(source)) {
            Ok(Some(kind)) if kind == "text" => of_type(&kind).map_or(Found::Unknown, Found::Known),
            _ => Found::Unknown,
        },
        |text| Parts::typed_text("text", text),
    )
};
