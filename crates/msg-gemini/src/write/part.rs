//! Writes a part of a message as a part of a content (GE-4, GE-7, GE-11, GE-18), with calls and their results
//! (GE-6, GE-8, GE-13).

use std::borrow::Cow;

use msg_codec::codec::{
    ListWriter, MediaSource, Placed, RawMember, SlotPlan, Value, object_members, text_of,
    text_of_part,
};
use msg_core::{
    Extra, Message, Origin, Part, RawJson, Reasoning, Role, Text, ToolCall, ToolResult,
};

use super::{Writer, tools_of};
use crate::read::{says_alone, text_in};
use crate::shape::{GEMINI, call, media, part, response};
use crate::write::ContentForm;
use crate::{Ids, Thoughts};

impl<'a> Writer<'a, '_> {
    /// Whether a part can be written.
    pub(super) fn has_place(&self, it: &Part) -> bool {
        match it {
            Part::Text(_) | Part::Refusal(_) | Part::ToolCall(_) | Part::ToolResult(_) => true,
            Part::Reasoning(it) => self.keeps_thought(it),
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.source(it).is_some(),
            Part::Other(it) => it.format == GEMINI || it.format == Origin::Json,
            _ => false,
        }
    }

    /// Whether reasoning is written: as its text, or if empty, back to its place.
    fn keeps_thought(&self, it: &Reasoning) -> bool {
        let is_ours = it.text.is_some() && !self.is_converting();
        self.options.thoughts == Thoughts::Keep && (is_ours || !it.display_text().is_empty())
    }

    /// [`Writer::has_place`]; reports each part that cannot be written once (AN-20).
    pub(super) fn fits(&mut self, at: usize, it: &Part) -> bool {
        let fits = self.has_place(it);
        if !fits {
            self.options.thoughts.lose(at, it, &mut self.objects.losses);
        }
        fits
    }

    /// Writes a part that has a place.
    pub(super) fn part(&mut self, at: usize, it: &'a Part, out: &mut Vec<u8>) {
        match it {
            Part::Text(text) => self.text(at, text, out),
            Part::Reasoning(it) => self.thought(at, it, out),
            Part::Image(_) | Part::Audio(_) | Part::File(_) => self.media(at, it, out),
            Part::ToolCall(it) => self.call(at, it, out),
            Part::ToolResult(it) => self.response(at, it, out),
            Part::Other(it) if it.format == GEMINI => {
                out.extend_from_slice(it.value.text().as_bytes());
            }
            _ => self.as_text(at, it, out),
        }
    }

    fn text(&mut self, at: usize, it: &Text, out: &mut Vec<u8>) {
        let is_bare = self.plan(&it.extra).variant_of_any(part::DATA) == part::DATA_BARE;
        if is_bare && it.extra.is_empty() {
            return msg_json::write_str(out, &it.text);
        }
        self.text_part(at, &it.extra, &it.text, out);
    }

    fn as_text(&mut self, at: usize, it: &Part, out: &mut Vec<u8>) {
        self.objects.text_losses(at, it);
        self.text_part(at, it.extra(), text_of_part(it).unwrap_or_default(), out);
    }

    fn text_part(&mut self, at: usize, extra: &Extra, text: &str, out: &mut Vec<u8>) {
        let mut raw = self.members(extra, at, None);
        // It would turn the text into a thought.
        let before = raw.len();
        raw.retain(|it| it.name != "thought" || it.value != "true");
        if raw.len() < before {
            self.objects.losses.raw(Some(at), "gemini.thought");
        }
        self.objects.object(at, (&raw, self.plan(extra)), &part::TEXT, &[text.into()], out);
    }

    fn thought(&mut self, at: usize, it: &Reasoning, out: &mut Vec<u8>) {
        let is_said = |it: &Option<String>| it.as_deref().is_some_and(|it| !it.is_empty());
        let has_summary = it.summary.as_ref().is_some_and(|it| !it.is_empty());
        let lost = [
            ("summary", it.text.is_some() && has_summary),
            ("signature", is_said(&it.signature)),
            ("redacted", is_said(&it.redacted)),
            ("encrypted", is_said(&it.encrypted)),
        ];
        self.objects.losses.members(Some(at), &lost);
        let text = it.display_text();
        let raw = self.members(&it.extra, at, None);
        let values = [(&*text).into(), Value::Json(b"true")];
        self.objects.object(at, (&raw, self.plan(&it.extra)), &part::TEXT, &values, out);
    }
}

// Images, audio and files: inline data, or a file by URI (GE-9).

const INLINE: &str = "inlineData";
const FILE: &str = "fileData";

impl<'a> Writer<'a, '_> {
    /// The source of a medium; `None` if the format cannot hold it.
    fn source<'m>(&self, it: &'m Part) -> Option<MediaSource<'m>> {
        let spelled = || {
            let members = it.extra().get(&GEMINI, INLINE).and_then(object_members)?;
            let kept = members.iter().find(|it| it.name == "mimeType")?;
            Some(text_of(kept.value)?.0.into_owned())
        };
        let mut res = MediaSource::of(it, spelled)?;
        // Other formats write `image/*` for an unknown type, which the API rejects.
        if res.link.is_some() && self.is_converting() {
            res.media_type.take_if(|it| it.ends_with("/*"));
        }
        if let (None, Some(url)) = (&res.media_type, res.link)
            && self.objects.plan(it.extra(), 1).may_have(media::MIME)
        {
            res.media_type = msg_codec::media_type_of_url(url).map(Cow::Borrowed);
        }
        Some(res)
    }

    /// Writes a medium that has a source.
    pub(super) fn media(&mut self, at: usize, it: &'a Part, out: &mut Vec<u8>) {
        let Some(source) = self.source(it) else { return };
        source.lose(at, it, &["filename"], &mut self.objects.losses);
        let name = if let Part::File(it) = it { it.filename.as_deref() } else { None };
        let (kind, shape) = match source.data {
            Some(_) => (INLINE, &part::INLINE),
            None => (FILE, &part::FILE),
        };
        let (mut inner, plan) = self.objects.inner(at, it.extra(), kind);
        if let Part::Audio(_) = it {
            inner.retain(|it| it.name != "mimeType");
        }
        let object = self.data(at, (&source, name), plan, &inner);
        let raw = self.members(it.extra(), at, Some(kind));
        self.objects.object(at, (&raw, self.plan(it.extra())), shape, &[Value::Json(&object)], out);
    }

    /// The object in the part.
    fn data(
        &mut self,
        at: usize,
        (source, name): (&MediaSource<'_>, Option<&str>),
        plan: SlotPlan<'_>,
        raw: &[RawMember<'_>],
    ) -> Vec<u8> {
        let shape = if source.data.is_some() { &media::INLINE } else { &media::FILE };
        let data = source.data.or(source.link);
        let has_raw = raw.iter().any(|it| it.name == "mimeType");
        let media_type = source.media_type.as_deref().filter(|_| !has_raw);
        let values = [media_type.into(), data.into(), name.into()];
        self.objects.inner_object(at, (raw, plan), shape, &values)
    }
}

// The content of `systemInstruction` (GE-3).

impl<'a> ListWriter<'a> for Writer<'a, '_> {
    fn system(&mut self, messages: &'a [Message], leading: usize) -> Option<Vec<u8>> {
        if let [one, ..] = messages
            && leading == 1
            && let Some(source) = self.whole(one, |source| says_alone(source, one))
        {
            return Some(source.as_bytes().to_vec());
        }
        let (mut parts, mut sources) = (Vec::new(), Vec::new());
        for (at, it) in self.later_system().instructions(messages, leading) {
            self.objects.losses.at_message(at);
            self.instructions(at, it, &mut parts);
            sources.push((at, it));
            if at >= leading {
                self.objects.losses.system_moved();
            }
        }
        let mut out = Vec::new();
        match sources.as_slice() {
            [(_, one)] if let Some(text) = self.bare(one).filter(|it| !it.is_empty()) => {
                msg_json::write_str(&mut out, text);
            }
            all if parts.is_empty() => {
                self.unsaid(all);
                return None;
            }
            all => self.content(all, parts, (ContentForm::Alone, None), &mut out),
        }
        Some(out)
    }

    fn list(&mut self, messages: &'a [Message], first: usize, out: &mut Vec<u8>) {
        self.names = tools_of(messages);
        let mut groups = self.groups(messages, first);
        groups.retain(|it| !self.is_lost(it));
        msg_json::Writer::new(out).array(groups, |out, group| {
            out.value(|out| self.group(&group, ContentForm::List, out));
        });
    }

    fn single(&mut self, messages: &'a [Message], first: usize, out: &mut Vec<u8>) {
        if !self.objects.keeps_layout() {
            return self.list(messages, first, out);
        }
        self.names = tools_of(messages);
        let mut groups = self.groups(messages, first);
        let bare = match messages {
            [one] => self.bare(one),
            _ => None,
        };
        match (bare, groups.as_mut_slice()) {
            (Some(text), _) => msg_json::write_str(out, text),
            (None, [one]) => self.group(one, ContentForm::List, out),
            _ => self.list(messages, first, out),
        }
    }

    fn keeps(&self, _: &RawJson) -> bool {
        self.objects.keeps_layout()
    }
}

impl<'a> Writer<'a, '_> {
    /// Collects the texts of a message. Only text can be written, except for unedited content.
    fn instructions(&mut self, at: usize, it: &'a Message, parts: &mut Vec<Placed<'a>>) {
        if it.role == Role::Developer {
            let text = "developer instructions go with those of the system";
            self.objects.losses.warn("convert::role-changed", None, text);
        }
        for one in Placed::all(at, it) {
            if !self.is_converting() || text_of_part(one.it).is_some() {
                parts.push(one);
            } else {
                self.objects.losses.part(one.part, &one.it.kind_of_source());
            }
        }
    }

    /// Reports other content of instructions without text.
    fn unsaid(&mut self, messages: &[(usize, &Message)]) {
        for (at, it) in messages {
            self.objects.lose_envelope(*at, it);
        }
    }
}

const CALL: &str = "functionCall";
const RESPONSE: &str = "functionResponse";

impl<'a> Writer<'a, '_> {
    /// Notes the calls and results of a content that is written as its source.
    pub(super) fn note_calls(&mut self, message: &'a Message) {
        if message.role == Role::Assistant {
            self.waiting.clear();
        }
        message.tool_calls().for_each(|it| self.note_call(it));
        for it in message.tool_results() {
            if it.call_id.is_empty() {
                self.first_waiting(it.name.as_deref());
            }
            self.answered.insert(&it.call_id);
        }
    }

    fn note_call(&mut self, it: &'a ToolCall) {
        self.waiting.push_back((&it.id, &it.name));
    }

    pub(super) fn call(&mut self, at: usize, it: &'a ToolCall, out: &mut Vec<u8>) {
        self.note_call(it);
        self.objects.kind_losses(at, &it.kind);
        let (inner, plan) = self.objects.inner(at, &it.extra, CALL);
        let has_args = plan.may_have(call::ARGS) || !it.arguments.text().trim_ascii().is_empty();
        let args = self.objects.arguments(at, it, plan.variant(call::ARGS));
        let has_raw = |name| inner.iter().any(|it| it.name == name);
        let has_id = self.has_id(&it.id, plan, call::ID) && !has_raw("id");
        let values =
            [has_id.then_some(&*it.id).into(), (&it.name).into(), has_args.then_some(&args).into()];
        let object = self.objects.inner_object(at, (&inner, plan), &call::SHAPE, &values);
        let raw = self.members(&it.extra, at, Some(CALL));
        let values = [Value::Json(&object), Value::Absent, it.signature.as_deref().into()];
        self.objects.object(at, (&raw, self.plan(&it.extra)), &part::CALL, &values, out);
    }

    /// Whether an id is written; an empty one only if the source had it.
    fn has_id(&self, id: &str, plan: SlotPlan<'_>, code: u8) -> bool {
        self.options.ids == Ids::Keep && (!id.is_empty() || plan.has(code))
    }

    pub(super) fn response(&mut self, at: usize, it: &'a ToolResult, out: &mut Vec<u8>) {
        self.objects.kind_losses(at, &it.kind);
        let (inner, plan) = self.objects.inner(at, &it.extra, RESPONSE);
        let has_raw = |name| inner.iter().any(|it| it.name == name);
        let name = match has_raw("name") || (it.name.is_none() && !plan.may_have(response::NAME)) {
            true => None,
            false => Some(self.name(at, it)),
        };
        let (said, media) = self.sorted(at, it);
        let has_output = !said.is_empty() || plan.may_have(response::RESPONSE);
        let output = self.output(at, it, &said, plan.variant(response::RESPONSE));
        let has_parts = !media.is_empty() || plan.has(response::PARTS) && !has_raw("parts");
        let has_id = self.has_id(&it.call_id, plan, response::ID) && !has_raw("id");
        let mut parts = Vec::new();
        msg_json::Writer::new(&mut parts).array(&media, |out, one| {
            out.value(|out| self.part(at, one, out));
        });
        let values = [
            has_id.then_some(&*it.call_id).into(),
            name.into(),
            has_output.then_some(&output).into(),
            has_parts.then_some(&parts).into(),
        ];
        let object = self.objects.inner_object(at, (&inner, plan), &response::SHAPE, &values);
        let raw = self.members(&it.extra, at, Some(RESPONSE));
        self.objects.object(
            at,
            (&raw, self.plan(&it.extra)),
            &part::RESPONSE,
            &[Value::Json(&object)],
            out,
        );
    }

    /// The tool name of a result: its own, or else that of its call. A result without an id answers the first
    /// unanswered call.
    fn name(&mut self, at: usize, it: &'a ToolResult) -> &'a str {
        let of_call = match it.call_id.is_empty() {
            true => self.first_waiting(it.name.as_deref()),
            false => self.names.call(it).map(|it| it.name.as_str()),
        };
        self.answered.insert(&it.call_id);
        let name = it.name.as_deref().or(of_call);
        if name.is_none() {
            let text = "the result of no call has no name, which the format demands";
            self.objects.losses.warn("convert::orphan-result", Some(at), text);
        }
        name.unwrap_or("unknown_tool")
    }

    /// Takes the call answered by a result without an id, if it is of the same tool.
    fn first_waiting(&mut self, tool: Option<&str>) -> Option<&'a str> {
        while self
            .waiting
            .front()
            .is_some_and(|it| !it.0.is_empty() && self.answered.contains(it.0))
        {
            self.waiting.pop_front();
        }
        let (_, name) = *self.waiting.front().filter(|it| tool.is_none_or(|tool| tool == it.1))?;
        self.waiting.pop_front();
        Some(name)
    }

    /// The parts of a result for `response`, and the media beside it; reports other parts as lost.
    fn sorted(&mut self, at: usize, it: &'a ToolResult) -> (Vec<&'a Part>, Vec<&'a Part>) {
        let (mut said, mut media) = (Vec::new(), Vec::new());
        for part in it.content.parts() {
            let is_ours = matches!(part, Part::Other(it) if it.format == GEMINI);
            if text_of_part(part).is_some() {
                if !media.is_empty() {
                    let text = "text after media of a result is moved before it";
                    self.objects.losses.warn("convert::order-lost", Some(at), text);
                }
                said.push(part);
            } else if part.is_media() || is_ours {
                if self.fits(at, part) {
                    media.push(part);
                }
            } else {
                self.objects.losses.part(at, &part.kind_of_source());
            }
        }
        (said, media)
    }

    /// The value of `response`; `variant` is that of the source.
    fn output(&mut self, at: usize, it: &ToolResult, said: &[&Part], variant: u8) -> Vec<u8> {
        let mut out = Vec::new();
        said.iter().for_each(|it| self.objects.losses.foreign(it.extra(), None, Some(at)));
        match said {
            [] if variant == response::RESPONSE_NULL => out.extend_from_slice(b"null"),
            [Part::Other(json)]
                if json.format == Origin::Json && is_whole(&json.value, variant) =>
            {
                if it.is_error {
                    self.objects.losses.member(Some(at), "is_error");
                }
                out.extend_from_slice(json.value.text().as_bytes());
            }
            all => {
                all.iter().for_each(|it| self.objects.text_losses(at, it));
                if all.len() > 1 {
                    let text = "the texts of a result are joined by line breaks";
                    self.objects.losses.warn("convert::merged-parts", Some(at), text);
                }
                let texts: Vec<_> = all.iter().filter_map(|it| text_of_part(it)).collect();
                let member = if it.is_error { "error" } else { "output" };
                msg_json::Writer::new(&mut out).object(|it| it.key(member).str(&texts.join("\n")));
            }
        }
        out
    }
}

/// Whether a JSON value is written as the response itself and read back as such.
fn is_whole(value: &RawJson, variant: u8) -> bool {
    let is_object = value.text().starts_with('{') && text_in(value).is_none();
    is_object || (variant == response::RESPONSE_VALUE && !value.text().starts_with('{'))
}
