//! Writes Anthropic messages from [`Message`]s directly into bytes. An unedited message that was read
//! here is written unchanged. What the format cannot hold is reported.
//!
//! ```text
//! system, developer ..        -> "system"                      system.rs     AN-4
//! tool, tool, user            -> one user message, results     group.rs      AN-8
//!                                first, each part a block      message.rs, block.rs, media.rs
//! ```

mod block;

use msg_codec::codec::{
    ListWriter, PartWriter, Placed, Placement, Purpose, RawMember, RoleContent, SlotPlan,
    text_of_part,
};
use msg_core::{Extra, Message, Origin, Part, RawJson, Report, Role};

use crate::messages::ANTHROPIC;
use crate::read::{content_says, says, system_says};
use crate::{CacheControl, LaterSystem, WriteOptions};

/// Writes messages; used once per list.
pub(crate) struct Writer<'a> {
    options: &'a WriteOptions,
    purpose: Purpose,
    objects: PartWriter<'a>,
}

/// Writes with a writer, and returns the losses.
pub(crate) fn written(
    options: &WriteOptions,
    purpose: Purpose,
    write: impl FnOnce(&mut Writer<'_>),
) -> Report {
    let mut report = Report::new();
    let objects = PartWriter::new(ANTHROPIC, options.layout, &mut report);
    let mut writer = Writer { options, purpose, objects };
    write(&mut writer);
    writer.objects.losses.flush();
    report
}

impl<'m> ListWriter<'m> for Writer<'_> {
    fn system(&mut self, messages: &'m [Message], leading: usize) -> Option<Vec<u8>> {
        if let [one, ..] = messages
            && leading == 1
            && let Some(source) = self.whole(one, |source| system_says(source, one))
        {
            return Some(source.as_bytes().to_vec());
        }
        let mut parts = Vec::new();
        let later_system = self.later_system();
        for (at, it) in later_system.instructions(messages, leading) {
            self.objects.instruct(at, it, leading);
            self.instructions(at, it, &mut parts);
        }
        if parts.is_empty() {
            return None;
        }
        let array = messages.first().is_some_and(|it| {
            leading > 0
                && self.plan(&it.extra).variant(RoleContent::CONTENT) == RoleContent::CONTENT_OTHER
        });
        let mut out = Vec::new();
        match parts.as_slice() {
            [one] if !array && self.is_plain(one.it) => self.instruction(one, &mut out, true),
            all => msg_json::Writer::new(&mut out).array(all, |out, one| {
                out.value(|out| self.instruction(one, out, false));
            }),
        }
        Some(out)
    }

    fn list(&mut self, messages: &'m [Message], first: usize, out: &mut Vec<u8>) {
        let mut at = first;
        let mut groups = Vec::new();
        for group in self.groups(messages).collect::<Vec<_>>() {
            if self.has_something(group, at) {
                groups.push((at, group));
            }
            at += group.len();
        }
        msg_json::Writer::new(out).array(groups, |out, (at, group)| {
            out.value(|out| self.group(group, at, out));
        });
    }

    fn keeps(&self, _: &RawJson) -> bool {
        true
    }
}

impl Writer<'_> {
    fn later_system(&self) -> LaterSystem {
        match self.purpose {
            Purpose::Convert => self.options.later_system,
            Purpose::Return => LaterSystem::Keep,
        }
    }

    /// The source kept for the message that begins here, if its meaning is unchanged.
    fn whole<'m>(&self, head: &'m Message, says: impl FnOnce(&str) -> bool) -> Option<&'m str> {
        let is_asked = || *self.options == WriteOptions::default();
        self.objects.whole(&head.extra, |source| is_asked() && says(source))
    }

    fn plan<'b>(&self, extra: &'b Extra) -> SlotPlan<'b> {
        self.objects.plan(extra, 0)
    }

    /// The unknown members of a part except `skip`, and its `cache_control` from any format (AN-9); those that are left
    /// out are reported.
    fn members<'b>(
        &mut self,
        extra: &'b Extra,
        at: usize,
        skip: Option<&str>,
    ) -> Vec<RawMember<'b>> {
        let drops = self.options.cache_control == CacheControl::Drop;
        let mut res = Vec::new();
        for (origin, name, value) in extra.all() {
            let is_cache = name == CACHE_CONTROL;
            let is_own = *origin == ANTHROPIC;
            let is_carried = is_cache && *origin == Origin::OpenAi;
            let is_taken = is_carried && extra.get(&ANTHROPIC, name).is_some();
            let mut has_control = [ANTHROPIC, Origin::OpenAi].iter();
            let has_control = has_control.any(|it| extra.get(it, CACHE_CONTROL).is_some());
            let point = cache_control_of(origin, name, value).filter(|_| !drops && !has_control);
            if is_own && Some(name) == skip {
                continue;
            } else if let Some(value) = point {
                res.push(RawMember { name: CACHE_CONTROL.into(), value });
            } else if (is_own || is_carried) && !(is_cache && drops) && !is_taken {
                res.push(RawMember { name: name.into(), value: value.text() });
            } else {
                self.objects.losses.raw(Some(at), format_args!("{origin}.{name}"));
            }
        }
        res
    }
}

/// The `cache_control` for a cache point of Bedrock, or a breakpoint of OpenAI; other lifetimes of these cannot be
/// requested for a block (BR-9).
fn cache_control_of(origin: &Origin, name: &str, value: &RawJson) -> Option<&'static str> {
    let is_breakpoint = match (origin, name) {
        (Origin::Bedrock, CACHE_POINT) => false,
        (Origin::OpenAi | Origin::Responses, BREAKPOINT) => true,
        _ => return None,
    };
    let members = value.members().unwrap_or_default();
    let ttl = members.iter().find(|it| it.0 == "ttl").map(|it| it.1.text());
    Some(match ttl {
        Some("\"5m\"") => r#"{"type":"ephemeral","ttl":"5m"}"#,
        Some("\"1h\"") => r#"{"type":"ephemeral","ttl":"1h"}"#,
        Some(_) if !is_breakpoint => return None,
        _ => r#"{"type":"ephemeral"}"#,
    })
}

/// The member of OpenAI's parts that marks the end of a cached prefix.
const BREAKPOINT: &str = "prompt_cache_breakpoint";

/// The member in which a part read from Bedrock keeps the cache point after it.
const CACHE_POINT: &str = "cachePoint";

const CACHE_CONTROL: &str = "cache_control";

/// The member of a part's extra that holds the unknown members of its source.
const SOURCE: &str = "source";

// The messages of a list: role, content, and other members of the source.

impl Writer<'_> {
    /// Writes the content of the messages that form a response (AN-13: always an array).
    pub(crate) fn response(&mut self, messages: &[Message], out: &mut Vec<u8>) {
        let head = messages.first();
        if let Some(source) = head.and_then(|it| self.whole(it, |it| content_says(it, messages))) {
            return out.extend_from_slice(source.as_bytes());
        }
        messages.iter().enumerate().for_each(|(at, it)| self.objects.envelope_losses(at, it));
        let parts = self.parts(messages, 0);
        self.array(&parts, out);
    }

    /// Whether a group becomes a message: not one that belongs to `system`, and not tool messages without a part.
    fn has_something(&mut self, group: &[Message], at: usize) -> bool {
        let is_empty = |it: &Message| self.is_results(it) && it.parts.is_empty();
        if let [one] = group
            && self.is_hoisted(one)
        {
            return false;
        }
        let is_lost = |it: &Message| !it.parts.is_empty() && self.is_silent(it);
        if self.purpose == Purpose::Convert && group.iter().all(is_lost) {
            (at..).zip(group).for_each(|(at, it)| self.lose(at, it));
            return false;
        }
        let empty: Vec<_> = (at..).zip(group).filter(|it| is_empty(it.1)).map(|it| it.0).collect();
        let is_left_out = empty.len() == group.len();
        for at in empty {
            self.objects.losses.at_message(at);
            self.objects.losses.no_result();
        }
        !is_left_out
    }

    /// Reports a message of which nothing is left.
    fn lose(&mut self, at: usize, it: &Message) {
        self.objects.lose_envelope(at, it);
        for (at, it) in it.parts.iter().enumerate() {
            self.fits(at, it);
        }
        self.objects.losses.nothing_left();
    }

    fn group(&mut self, group: &[Message], at: usize, out: &mut Vec<u8>) {
        let Some(head) = group.first() else { return };
        let before = self.objects.placement(head).has(Placement::APART).then_some(&Role::Tool);
        if let Some(source) = self.whole(head, |source| says(source, group, before)) {
            return out.extend_from_slice(source.as_bytes());
        }
        let plan = self.plan(&head.extra);
        let raw = self.objects.envelope((at..).zip(group));
        let parts = self.parts(group, at);
        let want = RoleContent::wanted(plan, &raw, &parts);
        let variant = plan.variant(RoleContent::CONTENT);
        let role = self.role(head, plan.variant(RoleContent::ROLE));
        let lost = RoleContent::SHAPE.write(out, plan, want, &raw, |out, code| match code {
            RoleContent::ROLE => msg_json::write_str(out, role),
            _ => self.content(&parts, variant, out),
        });
        self.objects.losses.at_message(at);
        self.objects.losses.taken(None, lost);
    }

    /// The written role; reports changes.
    fn role<'m>(&mut self, it: &'m Message, variant: u8) -> &'m str {
        let system = self.later_system() == LaterSystem::Keep;
        let keeps = RoleContent {
            results: self.is_results(it),
            system,
            all: self.purpose == Purpose::Return,
        };
        let (word, is_changed) = keeps.role_word(&it.role, variant);
        if is_changed {
            self.objects.losses.role_changed(it.role.as_str(), word);
        }
        word
    }

    /// The parts of a group that can be written; a user's results come first.
    fn parts<'m>(&mut self, group: &'m [Message], first: usize) -> Vec<Placed<'m>> {
        let mut res = Vec::new();
        for (message, it) in (first..).zip(group) {
            self.objects.losses.at_message(message);
            if self.is_results(it) && it.tool_results().count() < it.parts.len() {
                self.objects.losses.role_changed("tool", "user");
            }
            if it.role == Role::User && group.len() > 1 && self.is_silent(it) {
                let text = "nothing is left of the message after the results";
                self.objects.losses.warn("convert::lost-message", None, text);
            }
            res.extend(Placed::all(message, it).filter(|it| self.fits(it.part, it.it)));
        }
        if self.purpose == Purpose::Convert {
            Placed::drop_blanks_beside_calls(&mut res);
        }
        let is_user = |it: &Message| it.role == Role::User || self.is_results(it);
        let is_mixed = |it: &Message| self.objects.placement(it).has(Placement::MIXED);
        if group.iter().all(is_user) && !group.iter().any(is_mixed) {
            self.objects.results_first(&mut res);
        }
        res
    }

    /// Writes the value of `content`; `variant` is that of the source.
    fn content(&mut self, parts: &[Placed<'_>], variant: u8, out: &mut Vec<u8>) {
        match parts {
            [] if variant == RoleContent::CONTENT_NULL => out.extend_from_slice(b"null"),
            [one] if variant != RoleContent::CONTENT_OTHER && self.is_plain(one.it) => {
                self.objects.losses.at_message(one.message);
                self.string(one.part, one.it, out);
            }
            all => self.array(all, out),
        }
    }

    fn array(&mut self, parts: &[Placed<'_>], out: &mut Vec<u8>) {
        msg_json::Writer::new(out).array(parts, |out, one| {
            self.objects.losses.at_message(one.message);
            out.value(|out| self.block(one.part, one.it, out));
        });
    }
}

// Groups messages that are written as one: tool messages of a run and the user message after them (AN-8).

impl Writer<'_> {
    /// Splits a list into runs, each of which is written as one message.
    fn groups<'m>(
        &self,
        messages: &'m [Message],
    ) -> impl Iterator<Item = &'m [Message]> + use<'m, '_> {
        let mut rest = messages;
        std::iter::from_fn(move || {
            let first = rest.first()?;
            let len = if self.has_only_results(first) { self.run(rest) } else { 1 };
            let (run, following) = rest.split_at(len);
            rest = following;
            Some(run)
        })
    }

    /// How many messages of a list that begins with results form one: all results, skipping user messages without
    /// remaining parts, and the next user message.
    fn run(&self, messages: &[Message]) -> usize {
        let joins = |it: &&Message| !self.objects.placement(it).has(Placement::APART);
        let is_silent = |it: &Message| it.role == Role::User && self.is_silent(it);
        let following = messages.get(1..).unwrap_or_default();
        let results = following.iter().take_while(joins);
        let results = results.take_while(|it| self.has_only_results(it) || is_silent(it)).count();
        let user = following.get(results).filter(joins).is_some_and(|it| it.role == Role::User);
        1 + results + usize::from(user)
    }

    /// Whether this would be read as a tool message after writing.
    fn has_only_results(&self, it: &Message) -> bool {
        let is_result = |it: &Part| !self.has_place(it) || matches!(it, Part::ToolResult(_));
        let is_user = it.role == Role::User && !self.is_silent(it);
        self.is_results(it) || (is_user && it.parts.iter().all(is_result))
    }

    /// Whether nothing of a message can be written.
    fn is_silent(&self, it: &Message) -> bool {
        !it.parts.iter().any(|it| self.has_place(it))
    }

    /// Whether this is a tool message that is not kept as one because of its source.
    fn is_results(&self, it: &Message) -> bool {
        let is_spelled =
            || self.plan(&it.extra).variant(RoleContent::ROLE) == RoleContent::ROLE_TOOL;
        it.role == Role::Tool && !(self.purpose == Purpose::Return && is_spelled())
    }
}

// The content of `system` (AN-4).

impl Writer<'_> {
    /// Whether this message is appended to `system`.
    fn is_hoisted(&self, it: &Message) -> bool {
        self.later_system() == LaterSystem::Hoist
            && matches!(it.role, Role::System | Role::Developer)
    }

    /// Collects the texts of a message, and reports its losses.
    fn instructions<'m>(&mut self, at: usize, it: &'m Message, parts: &mut Vec<Placed<'m>>) {
        let before = parts.len();
        parts.extend(Placed::all(at, it).filter(|it| self.fits_system(it.part, it.it)));
        let is_blank = |it: &Placed<'_>| text_of_part(it.it) == Some("");
        if self.purpose == Purpose::Convert && parts[before..].iter().all(is_blank) {
            parts.truncate(before);
            let text = "a system message without text is left out";
            self.objects.losses.warn("convert::lost-message", None, text);
        }
    }

    /// Whether a part can be in `system`: only text, except for unedited content.
    fn fits_system(&mut self, at: usize, it: &Part) -> bool {
        if self.purpose == Purpose::Return {
            return self.fits(at, it);
        }
        let is_text = text_of_part(it).is_some();
        if !is_text {
            self.objects.losses.part(at, &it.kind_of_source());
        }
        is_text
    }

    fn instruction(&mut self, one: &Placed<'_>, out: &mut Vec<u8>, is_string: bool) {
        self.objects.losses.at_message(one.message);
        if is_string {
            self.string(one.part, one.it, out);
        } else {
            self.block(one.part, one.it, out);
        }
    }
}
