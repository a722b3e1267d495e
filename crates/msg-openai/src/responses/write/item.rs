//! Writes messages, calls and outputs as items.

use std::ops::Range;

use msg_codec::DataUrl;
use msg_codec::codec::{NULL, Shape, Value, bit, mask, object_members};
use msg_core::{
    Audio, CallKind, Extra, File, Image, Message, Origin, Part, Place, Reasoning, Role, Text,
    ToolCall, ToolResult,
};

use super::{ItemsOf, Writer};
use crate::ItemIds;
use crate::chat::text_of;
use crate::responses::{ITEM, RESPONSES, item, part, text_type};
use crate::wanted::{TextBlocks, blocks, lose_foreign, part_members, shared, write_block};

impl Writer<'_> {
    /// Writes the message item for these parts, and reports those that do not fit. Without any fitting part, the item
    /// is missing.
    pub(super) fn message_item(
        &mut self,
        it: &Message,
        range: Range<usize>,
        list: &mut msg_json::Writer<'_>,
    ) {
        let contents = || range.clone().map(|at| (at, &it.parts[at]));
        for (at, part) in contents().filter(|it| !fits(it.1)) {
            self.objects.losses.part(at, &part.kind_of_source());
        }
        let contents = || contents().filter(|it| fits(it.1));
        let Some((at, first)) = contents().next() else { return };
        let plan = self.objects.plan(first.extra(), 0);
        let mut raw = self.item_members(at, first.extra());
        for (at, part) in contents().skip(1) {
            for it in self.item_members(at, part.extra()) {
                // Members of an item merged into this one fill its gaps (CA-25).
                let is_its_own = matches!(&*it.name, "id" | "status" | "phase");
                match is_its_own || raw.iter().any(|own| own.name == it.name) {
                    true => self.objects.losses.raw(Some(at), &it.name),
                    false => raw.push(it),
                }
            }
        }
        let want =
            mask(plan.may_have(item::TYPE), item::TYPE) | bit(item::ROLE) | bit(item::CONTENT);
        let is_string = plan.variant(item::CONTENT) == item::CONTENT_STRING
            && contents().nth(1).is_none()
            && self.is_plain(first);
        let is_assistant = it.role == Role::Assistant;
        let is_new = plan.slots().is_none() && raw.is_empty();
        if is_assistant
            && is_new
            && self.of == ItemsOf::Request
            && contents().all(|it| matches!(it.1, Part::Text(_)) && self.is_plain(it.1))
        {
            return contents().for_each(|(at, part)| self.answer(at, part, list));
        }
        self.n_items += 1;
        let lost = list.value(|out| {
            item::SHAPE.write(out, plan, want, &raw, |out, code| match code {
                item::TYPE => msg_json::write_str(out, "message"),
                item::ROLE => msg_json::write_str(out, it.role.as_str()),
                _ if is_string => msg_json::write_str(out, first.as_text().unwrap_or_default()),
                _ => self.parts(contents(), is_assistant, out),
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }

    /// Writes a text of an earlier answer as an item of its own.
    fn answer(&mut self, at: usize, part: &Part, list: &mut msg_json::Writer<'_>) {
        lose_foreign(&mut self.objects.losses, at, part.extra(), &RESPONSES);
        self.n_items += 1;
        list.object(|it| {
            it.key("type").str("message");
            it.key("role").str(Role::Assistant.as_str());
            it.key("content").str(part.as_text().unwrap_or_default());
        });
    }

    pub(super) fn call(&mut self, at: usize, it: &ToolCall, list: &mut msg_json::Writer<'_>) {
        self.objects.losses.foreign(&it.extra, Some(&RESPONSES), Some(at));
        let is_other = matches!(it.kind, CallKind::Other(_));
        let lost = [("signature", it.signature.is_some()), ("kind", is_other)];
        self.objects.losses.members(Some(at), &lost);
        let (kind, body) = match it.kind {
            CallKind::Custom => ("custom_tool_call", item::INPUT),
            _ => ("function_call", item::ARGUMENTS),
        };
        let plan = self.objects.plan(&it.extra, 0);
        let raw = self.all_members(at, &it.extra);
        let text = it.arguments.text();
        let want = bit(item::TYPE)
            | mask(plan.may_have(item::CALL_ID) || !it.id.is_empty(), item::CALL_ID)
            | mask(plan.may_have(item::NAME) || !it.name.is_empty(), item::NAME)
            | mask(plan.may_have(body) || !text.is_empty(), body);
        self.n_items += 1;
        let lost = list.value(|out| {
            item::SHAPE.write(out, plan, want, &raw, |out, code| match code {
                item::TYPE => msg_json::write_str(out, kind),
                item::CALL_ID => plan.write_id(out, code, &it.id),
                item::NAME => plan.write_text(out, code, &it.name),
                _ => plan.write_arguments(out, code, text),
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }

    pub(super) fn output(&mut self, at: usize, it: &ToolResult, list: &mut msg_json::Writer<'_>) {
        self.objects.losses.foreign(&it.extra, Some(&RESPONSES), Some(at));
        let lost = [("is_error", it.is_error), ("name", it.name.is_some())];
        self.objects.losses.members(Some(at), &lost);
        let kind = match it.kind {
            CallKind::Custom => "custom_tool_call_output",
            _ => "function_call_output",
        };
        let plan = self.objects.plan(&it.extra, 0);
        let raw = self.all_members(at, &it.extra);
        let mut parts = Vec::with_capacity(it.content.parts().len());
        for part in it.content.parts() {
            if fits(part) {
                parts.push((at, part));
            } else {
                self.objects.losses.part(at, &part.kind_of_source());
            }
        }
        let want = bit(item::TYPE)
            | mask(plan.may_have(item::CALL_ID) || !it.call_id.is_empty(), item::CALL_ID)
            | mask(plan.may_have(item::OUTPUT) || !parts.is_empty(), item::OUTPUT);
        self.n_items += 1;
        let lost = list.value(|out| {
            item::SHAPE.write(out, plan, want, &raw, |out, code| {
                let variant = plan.variant(code);
                match (code, parts.as_slice()) {
                    (item::TYPE, _) => msg_json::write_str(out, kind),
                    (item::CALL_ID, _) => plan.write_id(out, code, &it.call_id),
                    (_, []) if variant == NULL => out.extend_from_slice(b"null"),
                    (_, []) if variant == item::OUTPUT_ARRAY => out.extend_from_slice(b"[]"),
                    (_, []) => out.extend_from_slice(b"\"\""),
                    (_, [one]) if variant != item::OUTPUT_ARRAY && self.is_plain(one.1) => {
                        self.objects.joined(&parts, "", out);
                    }
                    (_, all) if self.options.joins(all) => {
                        self.objects.joined(all, &self.options.text_separator, out);
                    }
                    (_, all) => self.parts(all.iter().copied(), false, out),
                }
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }
}

// Content parts of message items and tool outputs.

/// Whether this part can be in the content.
pub(super) fn fits(it: &Part) -> bool {
    match it {
        Part::Text(_) | Part::Refusal(_) => true,
        Part::Image(it) => it.url.is_some() || it.file_id.is_some(),
        Part::File(it) => {
            [&it.file_id, &it.url, &it.data, &it.filename].into_iter().any(Option::is_some)
        }
        Part::Audio(it) => it.id.is_none() && it.data.is_some(),
        Part::Other(it) => match it.format {
            Origin::Json => true,
            Origin::Responses => matches!(it.place, None | Some(Place::Content)),
            _ => false,
        },
        _ => false,
    }
}

impl Writer<'_> {
    /// Whether a single part is written as a string, if one is possible.
    pub(super) fn is_plain(&self, it: &Part) -> bool {
        text_of(it).is_some()
            && self.objects.plan(it.extra(), 1).slots().is_none()
            && it.extra().iter(&RESPONSES).all(|(name, _)| name == ITEM)
            && shared(it.extra(), &RESPONSES).is_none()
    }

    /// Parts as an array.
    pub(super) fn parts<'m>(
        &mut self,
        parts: impl Iterator<Item = (usize, &'m Part)>,
        is_assistant: bool,
        out: &mut Vec<u8>,
    ) {
        msg_json::Writer::new(out).array(parts, |it, (at, part)| {
            it.value(|out| self.content_part(at, part, is_assistant, out));
        });
    }

    fn content_part(&mut self, at: usize, it: &Part, is_assistant: bool, out: &mut Vec<u8>) {
        lose_foreign(&mut self.objects.losses, at, it.extra(), &RESPONSES);
        match it {
            Part::Text(text) => self.text(at, text, is_assistant, out),
            Part::Refusal(it) => {
                self.flat(
                    at,
                    &it.extra,
                    &part::REFUSAL,
                    &["refusal".into(), (&it.text).into()],
                    out,
                );
            }
            Part::Image(it) => self.image(at, it, out),
            Part::File(it) => self.file(at, it, out),
            Part::Audio(it) => self.audio(at, it, out),
            Part::Other(other) if other.format == RESPONSES => {
                out.extend_from_slice(other.value.text().as_bytes());
            }
            _ => {
                self.objects.text_losses(at, it);
                let text = text_of(it).unwrap_or_default();
                let kind = part::TEXT_TYPES[text_type(is_assistant)];
                write_block(&mut msg_json::Writer::new(out), kind, text);
            }
        }
    }

    fn text(&mut self, at: usize, it: &Text, is_assistant: bool, out: &mut Vec<u8>) {
        let place = match self.objects.plan(&it.extra, 1).variant(part::TYPE) {
            0 => text_type(is_assistant),
            variant => usize::from(variant) - 1,
        };
        let kind = part::TEXT_TYPES.get(place).copied().unwrap_or(part::TEXT_TYPES[0]);
        self.flat(at, &it.extra, &part::TEXT, &[kind.into(), (&it.text).into()], out);
    }

    fn image(&mut self, at: usize, it: &Image, out: &mut Vec<u8>) {
        let lacks_type = DataUrl::lacks_type(it.media_type.as_deref(), it.url.as_deref());
        self.objects.losses.members(Some(at), &[("media_type", lacks_type)]);
        // The default, which the SDK types require in a request (RQ-45).
        let is_new =
            self.of == ItemsOf::Request && self.objects.plan(&it.extra, 1).slots().is_none();
        let detail = it.detail.as_deref().or(is_new.then_some("auto")).into();
        let [url, file_id] = [&it.url, &it.file_id].map(|it| it.as_deref().into());
        self.flat(at, &it.extra, &part::IMAGE, &["input_image".into(), url, file_id, detail], out);
    }

    fn file(&mut self, at: usize, it: &File, out: &mut Vec<u8>) {
        let lacks_type = DataUrl::lacks_type(it.media_type.as_deref(), it.data.as_deref());
        self.objects.losses.members(Some(at), &[("media_type", lacks_type)]);
        let members = [&it.file_id, &it.url, &it.data, &it.filename];
        let [file_id, url, data, filename] = members.map(|it| it.as_deref().into());
        let values = ["input_file".into(), file_id, url, data, filename];
        self.flat(at, &it.extra, &part::FILE, &values, out);
    }

    /// A part with these member values.
    fn flat(
        &mut self,
        at: usize,
        extra: &Extra,
        shape: &Shape,
        values: &[Value<'_>],
        out: &mut Vec<u8>,
    ) {
        let raw = part_members(extra, &RESPONSES, &[ITEM]);
        self.objects.object(at, (&raw, self.objects.plan(extra, 1)), shape, values, out);
    }

    fn audio(&mut self, at: usize, it: &Audio, out: &mut Vec<u8>) {
        self.objects.losses.members(Some(at), &[("transcript", it.transcript.is_some())]);
        let raw = part_members(&it.extra, &RESPONSES, &[ITEM, "input_audio"]);
        let inner = it.extra.get(&RESPONSES, "input_audio").and_then(object_members);
        let inner = inner.unwrap_or_default();
        let (plan, inner_plan) = (self.objects.plan(&it.extra, 1), self.objects.plan(&it.extra, 2));
        let values = [it.data.as_deref().into(), it.format.as_deref().into()];
        let shape = &part::AUDIO_BODY;
        let object = self.objects.inner_object(at, (&inner, inner_plan), shape, &values);
        let values = ["input_audio".into(), Value::Json(&object)];
        self.objects.object(at, (&raw, plan), &part::AUDIO, &values, out);
    }
}

// Reasoning items.

impl Writer<'_> {
    pub(super) fn reasoning(&mut self, at: usize, it: &Reasoning, list: &mut msg_json::Writer<'_>) {
        let plan = self.objects.plan(&it.extra, 0);
        if it.encrypted.is_none() && !self.is_accepted(it) {
            let text =
                "the API refuses reasoning that has neither an item id nor encrypted content";
            return self.objects.losses.warn("convert::lost-part", Some(at), text);
        }
        self.objects.losses.foreign(&it.extra, Some(&RESPONSES), Some(at));
        let lost = [("signature", it.signature.is_some()), ("redacted", it.redacted.is_some())];
        self.objects.losses.members(Some(at), &lost);
        let raw = self.all_members(at, &it.extra);
        let has_raw_summary = it.summary.is_none() && raw.iter().any(|it| it.name == "summary");
        let has_summary =
            it.summary.is_some() || (plan.may_have(item::SUMMARY) && !has_raw_summary);
        let want = bit(item::TYPE)
            | mask(has_summary, item::SUMMARY)
            | mask(it.text.is_some(), item::CONTENT)
            | mask(it.encrypted.is_some(), item::ENCRYPTED);
        self.n_items += 1;
        let lost = list.value(|out| {
            item::SHAPE.write(out, plan, want, &raw, |out, code| match code {
                item::TYPE => msg_json::write_str(out, "reasoning"),
                item::SUMMARY => self.summary(it, out),
                item::CONTENT => self.texts(it, out),
                _ => msg_json::write_str(out, it.encrypted.as_deref().unwrap_or_default()),
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }

    /// Whether the item is written without encrypted content: because of its id, or because it was read with neither.
    fn is_accepted(&self, it: &Reasoning) -> bool {
        let members = it.extra.get(&RESPONSES, ITEM).and_then(object_members);
        if members.is_some_and(|all| all.iter().any(|it| it.name == "id")) {
            return self.options.item_ids == ItemIds::Keep;
        }
        self.objects.plan(&it.extra, 0).slots().is_some()
    }

    fn summary(&self, it: &Reasoning, out: &mut Vec<u8>) {
        let texts = it.summary.as_deref().unwrap_or_default();
        let source = self.objects.source(&it.extra, 1);
        let is_same = |it: &TextBlocks| it.texts == texts;
        write_blocks("summary_text", source, is_same, texts.iter().map(String::as_str), out);
    }

    fn texts(&self, it: &Reasoning, out: &mut Vec<u8>) {
        let text = it.text.as_deref().unwrap_or_default();
        let source = self.objects.source(&it.extra, 2);
        let is_same = |it: &TextBlocks| it.texts.join("\n\n") == text;
        write_blocks("reasoning_text", source, is_same, [text], out);
    }
}

/// Writes blocks; from their source if its meaning is unchanged.
fn write_blocks<'t>(
    kind: &str,
    source: Option<&str>,
    is_same: impl Fn(&TextBlocks) -> bool,
    texts: impl IntoIterator<Item = &'t str>,
    out: &mut Vec<u8>,
) {
    match source.filter(|it| TextBlocks::read(it, kind).is_some_and(|it| is_same(&it))) {
        Some(source) => out.extend_from_slice(source.as_bytes()),
        None => out.extend_from_slice(blocks(kind, texts).as_bytes()),
    }
}
