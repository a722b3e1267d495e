//! The elements of a list: steps with contents, steps that are one part, and turns and bare contents if the source had
//! them (GI-3, GI-4, GI-9, GI-14); also the content for images, sounds and files, with the place of their bytes (GI-6).

use std::borrow::Cow;

use msg_codec::{
    LaterSystem,
    codec::{
        ListWriter, MediaSource, Placed, Placement, Purpose, RawMember, SlotPlan, bit, mask,
        object_members, text_of, text_of_part, type_of,
    },
};
use msg_core::{Message, Part, RawJson, Role};
use msg_json::to_text;

use super::Writer;
use crate::interactions::read::{is_item, silent_steps};
use crate::interactions::write::{INTERACTIONS, STEP, TYPE, held, media};
use crate::write::tools_of;

/// An element to write.
pub(super) enum Entry<'m> {
    /// A step with contents, or a turn.
    Held {
        /// The value of `type`; for a turn, the source of its role.
        word: &'m str,
        is_turn: bool,
        parts: Vec<Placed<'m>>,
        raw: Vec<RawMember<'m>>,
        plan: SlotPlan<'m>,
        /// Its last message.
        last: usize,
    },
    /// A step, or a bare content, that is one part.
    One(Placed<'m>, Vec<RawMember<'m>>),
    /// A part of a message that came as bare contents.
    Bare(Placed<'m>, Vec<RawMember<'m>>),
    /// A source that could not be read.
    Silent(&'m str),
}

impl<'a> ListWriter<'a> for Writer<'a, '_> {
    fn system(&mut self, messages: &'a [Message], leading: usize) -> Option<Vec<u8>> {
        let mut texts = Vec::new();
        for (at, it) in self.later_system().instructions(messages, leading) {
            self.objects.instruct(at, it, leading);
            for (at, part) in it.parts.iter().enumerate() {
                match text_of_part(part) {
                    Some(text) => {
                        self.objects.text_losses(at, part);
                        self.objects.losses.foreign(part.extra(), None, Some(at));
                        texts.push(text);
                    }
                    None => self.objects.losses.part(at, &part.kind_of_source()),
                }
            }
        }
        if texts.len() > 1 {
            let text = "the texts of the instructions are joined by blank lines";
            self.objects.losses.warn("convert::merged-parts", None, text);
        }
        let text = Some(texts.join("\n\n")).filter(|it| !it.is_empty())?;
        Some(to_text(|it| it.str(&text)).into_bytes())
    }

    fn list(&mut self, messages: &'a [Message], first: usize, out: &mut Vec<u8>) {
        let entries = self.entries(messages, first);
        self.array(&entries, out);
    }

    fn single(&mut self, messages: &'a [Message], first: usize, out: &mut Vec<u8>) {
        let entries = self.entries(messages, first);
        match entries.as_slice() {
            [one] if self.is_verbatim() => self.entry(one, out),
            all => self.array(all, out),
        }
    }

    fn keeps(&self, raw: &RawJson) -> bool {
        self.objects.keeps_layout() || !matches!(raw.text(), "\"\"" | "null")
    }
}

impl<'a> Writer<'a, '_> {
    /// Writes the parts of an answer as the list that the older schema has (GI-14).
    pub(crate) fn items(&mut self, message: &'a Message, out: &mut Vec<u8>) {
        self.objects.lose_envelope(0, message);
        let parts: Vec<_> = Placed::all(0, message).filter(|it| self.fits(it)).collect();
        let entries: Vec<_> = parts.into_iter().map(|it| Entry::One(it, Vec::new())).collect();
        self.array(&entries, out);
    }

    fn array(&mut self, entries: &[Entry<'a>], out: &mut Vec<u8>) {
        msg_json::Writer::new(out).array(entries, |out, it| out.value(|out| self.entry(it, out)));
    }

    fn entries(&mut self, messages: &'a [Message], first: usize) -> Vec<Entry<'a>> {
        self.names = tools_of(messages);
        let mut res = Vec::new();
        for (at, message) in (first..).zip(messages) {
            self.objects.losses.at_message(at);
            if self.later_system() == LaterSystem::Hoist && message.role.is_system() {
                continue;
            }
            if !self.verbatim((at, message), &mut res) {
                self.canonical((at, message), &mut res);
            }
        }
        res
    }

    /// Adds the elements that a message had in its source; returns false if it must be written in canonical form.
    fn verbatim(&mut self, (at, message): (usize, &'a Message), list: &mut Vec<Entry<'a>>) -> bool {
        if !self.is_verbatim() {
            return false;
        }
        let plan = self.plan(&message.extra);
        let is_joined = self.objects.placement(message).has(Placement::JOINED);
        if let Some(Entry::Held { parts, last, .. }) = list.last_mut().filter(|_| is_joined)
            && *last + 1 == at
        {
            parts.extend(Placed::all(at, message));
            *last = at;
            self.objects.lose_envelope(at, message);
            return true;
        }
        let is_users = matches!(message.role, Role::User | Role::Tool);
        let (word, is_turn) = match plan.variant(TYPE) {
            held::IS_BARE if is_users => {
                let mut raw = self.objects.envelope([(at, message)].into_iter());
                for it in Placed::all(at, message) {
                    if self.fits(&it) {
                        list.push(Entry::Bare(it, std::mem::take(&mut raw)));
                    }
                }
                return true;
            }
            held::IS_TURN => match self.objects.source(&message.extra, 2) {
                Some(source) if role_of(source).as_ref() == Some(&message.role) => (source, true),
                // Results in a user turn are a message of their own in the model.
                Some(source)
                    if message.role == Role::Tool && role_of(source) == Some(Role::User) =>
                {
                    (source, true)
                }
                _ => return false,
            },
            0 if is_users && plan.has(TYPE) => ("user_input", false),
            _ => return false,
        };
        let parts = Placed::all(at, message).filter(|it| self.fits(it)).collect();
        let raw = self.objects.envelope([(at, message)].into_iter());
        list.push(Entry::Held { word, is_turn, parts, raw, plan, last: at });
        true
    }

    /// Adds the steps of a message: results first, successive contents as one step.
    fn canonical(&mut self, (at, message): (usize, &'a Message), list: &mut Vec<Entry<'a>>) {
        let is_answer = message.role == Role::Assistant;
        if !matches!(message.role, Role::User | Role::Assistant | Role::Tool) {
            self.objects.losses.role_changed(message.role.as_str(), "user");
        }
        let mut raw = Vec::new();
        if is_answer {
            self.objects.lose_envelope(at, message);
        } else {
            raw = self.objects.envelope([(at, message)].into_iter());
        }
        let mut parts: Vec<_> = Placed::all(at, message).filter(|it| self.fits(it)).collect();
        self.objects.results_first(&mut parts);
        let is_elsewhere = |it: &Placed<'_>| match it.it {
            Part::ToolCall(_) | Part::Reasoning(_) => !is_answer,
            Part::ToolResult(_) => is_answer,
            _ => false,
        };
        if parts.iter().any(is_elsewhere) {
            let text = "calls and thoughts are the model's here, and results are the user's";
            self.objects.losses.warn("convert::role-changed", None, text);
        }
        let start = list.len();
        let mut silent = Vec::new();
        if is_answer && self.is_verbatim() {
            silent = silent_steps(self.objects.source(&message.extra, 2));
        }
        let word = if is_answer { "model_output" } else { "user_input" };
        for (n, one) in parts.into_iter().enumerate() {
            let before = silent.iter().filter(|it| it.0 == n);
            list.extend(before.map(|it| Entry::Silent(it.1)));
            self.place(one, word, start, list);
        }
        let n_parts = message.parts.len();
        list.extend(silent.iter().filter(|it| it.0 >= n_parts).map(|it| Entry::Silent(it.1)));
        let had_parts = !message.parts.is_empty();
        if list.len() == start && (had_parts || is_answer || message.role == Role::Tool) {
            let text = "a message of which nothing is left is left out";
            return self.objects.losses.warn("convert::lost-message", None, text);
        }
        if list.len() == start {
            let (parts, plan) = (Vec::new(), SlotPlan::default());
            list.push(Entry::Held { word, is_turn: false, parts, raw: Vec::new(), plan, last: at });
        }
        if let Some(Entry::Held { raw: own, .. } | Entry::One(_, own)) = list.get_mut(start) {
            raw.append(own);
            *own = raw;
        } else {
            raw.iter().for_each(|it| self.objects.losses.raw(None, &it.name));
        }
    }

    /// Adds a part: a step, or a content of the previous or a new step.
    fn place(&self, one: Placed<'a>, word: &'a str, start: usize, list: &mut Vec<Entry<'a>>) {
        if is_item(one.it) {
            return list.push(Entry::One(one, Vec::new()));
        }
        let extra = one.it.extra();
        let plan = self.objects.plan(extra, 1);
        let own = extra.get(&INTERACTIONS, STEP).and_then(object_members);
        let begins = own.is_some() || plan.slots().is_some() && self.is_verbatim();
        // Successive answers are read as one; with their layout each is a separate step.
        let is_one = self.purpose == Purpose::Return && !self.is_verbatim();
        let joins = list.len() > start || is_one && word == "model_output";
        if let Some(Entry::Held { parts, word: last, is_turn: false, .. }) = list.last_mut()
            && !begins
            && *last == word
            && joins
        {
            return parts.push(one);
        }
        let (raw, last) = (own.unwrap_or_default(), one.message);
        list.push(Entry::Held { word, is_turn: false, parts: vec![one], raw, plan, last });
    }

    fn entry(&mut self, entry: &Entry<'a>, out: &mut Vec<u8>) {
        match entry {
            Entry::Silent(source) => out.extend_from_slice(source.as_bytes()),
            Entry::One(one, raw) => self.part(one, raw, out),
            Entry::Bare(one, raw) => {
                let start = out.len();
                self.part(one, raw, out);
                // A value that a list does not accept is wrapped in a step.
                if !is_element(&out[start..]) {
                    out.splice(start..start, *br#"{"type":"user_input","content":["#);
                    out.extend_from_slice(b"]}");
                }
            }
            Entry::Held { word, is_turn, parts, raw, plan, last } => {
                let shape = if *is_turn { &held::TURN } else { &held::STEP };
                let is_raw = parts.is_empty() && raw.iter().any(|it| it.name == "content");
                let has_content = !is_raw && (plan.may_have(held::CONTENT) || !parts.is_empty());
                let want = bit(TYPE) | mask(has_content, held::CONTENT);
                let variant = plan.variant(held::CONTENT);
                let lost = shape.write(out, *plan, want, raw, |out, code| match code {
                    TYPE if *is_turn => out.extend_from_slice(word.as_bytes()),
                    TYPE => msg_json::write_str(out, word),
                    _ => self.contents(parts, variant, out),
                });
                self.objects.losses.at_message(*last);
                self.objects.losses.taken(None, lost);
            }
        }
    }

    /// Writes the value of `content`; `variant` is that of the source.
    fn contents(&mut self, parts: &[Placed<'a>], variant: u8, out: &mut Vec<u8>) {
        match parts {
            [] if variant == held::CONTENT_NULL => out.extend_from_slice(b"null"),
            [one] if variant == held::CONTENT_ONE => self.part(one, &[], out),
            [Placed { it: Part::Text(it), .. }]
                if variant == held::CONTENT_TEXT
                    && RawMember::all_of(&it.extra, &INTERACTIONS, &[STEP]).is_empty() =>
            {
                msg_json::write_str(out, &it.text);
            }
            [Placed { it: Part::Text(it), .. }]
                if variant == held::CONTENT_VALUE
                    && RawMember::all_of(&it.extra, &INTERACTIONS, &[STEP]).is_empty()
                    && !it.text.starts_with(['"', '{', '[', 'n'])
                    && msg_json::validate(&it.text).is_ok() =>
            {
                out.extend_from_slice(it.text.as_bytes());
            }
            all => msg_json::Writer::new(out).array(all, |out, one| {
                out.value(|out| self.part(one, &[], out));
            }),
        }
    }
}

/// Whether a list accepts a value as a content: a text, or an object with a type.
fn is_element(json: &[u8]) -> bool {
    let Ok(reader) = msg_json::Reader::new(json) else { return false };
    json.starts_with(b"\"") || type_of(reader).is_ok_and(|it| it.is_some())
}

/// The role for the source of a turn's role.
fn role_of(source: &str) -> Option<Role> {
    let (word, _) = text_of(source)?;
    Some(if word == "model" { Role::Assistant } else { Role::from(&*word) })
}

impl<'a> Writer<'a, '_> {
    /// The source of a medium, and the type of its content; `None` if the format cannot hold it.
    pub(super) fn source<'m>(&self, it: &'m Part) -> Option<(Cow<'m, str>, MediaSource<'m>)> {
        let extra = it.extra();
        let said = |name| extra.get(&INTERACTIONS, name).and_then(|it| it.parse::<String>().ok());
        let mut res = MediaSource::of(it, || said("mime_type"))?;
        let untyped = res.link.filter(|_| res.media_type.is_none());
        let guessed = untyped.and_then(msg_codec::media_type_of_url);
        let kind = match (said("type").filter(|it| media::KINDS.contains(&&**it)), it) {
            (Some(kept), _) => Cow::Owned(kept),
            (None, Part::Image(_)) => "image".into(),
            (None, Part::Audio(_)) => "audio".into(),
            _ => res.kind().as_str().into(),
        };
        if guessed.is_some() && self.plan(extra).may_have(media::MIME) {
            res.media_type = guessed.map(Cow::Borrowed);
        }
        Some((kind, res))
    }

    /// Writes a medium that has a place.
    pub(super) fn media(
        &mut self,
        at: usize,
        it: &'a Part,
        more: &[RawMember<'_>],
        out: &mut Vec<u8>,
    ) {
        let Some((kind, source)) = self.source(it) else { return };
        source.lose(at, it, &[], &mut self.objects.losses);
        let has_raw = it
            .extra()
            .get(&INTERACTIONS, "mime_type")
            .is_some_and(|it| !it.text().starts_with('"'));
        let media_type = source.media_type.as_deref().filter(|_| !has_raw);
        let values = [(&*kind).into(), media_type.into(), source.data.into(), source.link.into()];
        let skip = if has_raw { &[STEP, "type"][..] } else { &[STEP, "type", "mime_type"] };
        self.object(at, (it.extra(), skip, more), &media::SHAPE, &values, out);
    }
}
