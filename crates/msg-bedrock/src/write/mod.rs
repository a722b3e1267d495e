//! Writes Converse messages from [`Message`]s into bytes. An unedited message that was read here is written unchanged.
//! What the format cannot hold is reported.
//!
//! ```text
//! system, developer ..        -> "system"                           BR-2
//! tool, tool, user            -> one user message, results first    message.rs   BR-4
//!                                each part a block                  block.rs     BR-6 to BR-11
//! ```

mod block;

use msg_codec::codec::{
    ListWriter, PartWriter, Placed, Placement, Purpose, RoleContent, text_of_part,
};
use msg_core::{Extra, Message, Origin, Part, RawJson, Report, Role};

use crate::converse::{BEDROCK, CACHE_POINT};
use crate::read::says;
use crate::{Cache, LaterSystem, WriteOptions};

pub(crate) use self::block::canonical_block;

/// Writes messages; used once per list.
pub(crate) struct Writer<'a> {
    options: &'a WriteOptions,
    purpose: Purpose,
    objects: PartWriter<'a>,
    /// The number of documents written, used to name those without a name.
    n_documents: usize,
}

/// Writes with a writer, and returns the losses.
pub(crate) fn written(
    options: &WriteOptions,
    purpose: Purpose,
    write: impl FnOnce(&mut Writer<'_>),
) -> Report {
    let mut report = Report::new();
    let objects = PartWriter::new(BEDROCK, options.layout, &mut report);
    let mut writer = Writer { options, purpose, objects, n_documents: 0 };
    write(&mut writer);
    writer.objects.losses.flush();
    report
}

impl<'m> ListWriter<'m> for Writer<'_> {
    fn system(&mut self, messages: &'m [Message], leading: usize) -> Option<Vec<u8>> {
        let mut parts = Vec::new();
        let later_system = self.later_system();
        for (at, it) in later_system.instructions(messages, leading) {
            self.objects.instruct(at, it, leading);
            parts.extend(Placed::all(at, it).filter(|it| self.fits_system(it.part, it.it)));
        }
        if parts.is_empty() {
            return None;
        }
        let was_text = messages.first().filter(|_| leading > 0).is_some_and(|it| {
            let plan = self.objects.plan(&it.extra, 0);
            plan.variant(RoleContent::CONTENT) == RoleContent::CONTENT_OTHER
        });
        let mut out = Vec::new();
        match parts.as_slice() {
            [Placed { it: Part::Text(it), .. }] if was_text && it.extra.is_empty() => {
                msg_json::write_str(&mut out, &it.text);
            }
            all => self.array(all, &mut out),
        }
        Some(out)
    }

    fn list(&mut self, messages: &'m [Message], first: usize, out: &mut Vec<u8>) {
        let groups = self.groups(messages, first);
        msg_json::Writer::new(out).array(groups, |out, (at, group)| {
            out.value(|out| self.group(group, at, out));
        });
    }

    fn keeps(&self, _: &RawJson) -> bool {
        self.objects.keeps_layout()
    }
}

impl Writer<'_> {
    fn later_system(&self) -> LaterSystem {
        let default = match self.purpose {
            Purpose::Convert => LaterSystem::User,
            Purpose::Return => LaterSystem::Keep,
        };
        self.options.later_system.unwrap_or(default)
    }

    /// Whether this message is appended to `system`.
    fn is_hoisted(&self, it: &Message) -> bool {
        self.later_system() == LaterSystem::Hoist && it.role.is_system()
    }

    /// Whether a part can be in `system`: text, guarded content and cache points, and unedited content.
    fn fits_system(&mut self, at: usize, it: &Part) -> bool {
        if self.purpose == Purpose::Return {
            return self.fits(at, it);
        }
        let is_guarded = it.extra().get(&BEDROCK, crate::converse::GUARD).is_some();
        let has_place = text_of_part(it).is_some() || is_guarded || block::is_cache_point(it);
        if !has_place {
            self.objects.losses.part(at, &it.kind_of_source());
        }
        has_place && self.fits(at, it)
    }

    /// The cache point after a part: its own, or the equivalent of Anthropic and chat messages (BR-9).
    fn cache_point(&mut self, at: usize, extra: &Extra) -> Option<RawJson> {
        let own = extra.get(&BEDROCK, CACHE_POINT).cloned();
        let control = [Origin::Anthropic, Origin::OpenAi];
        let control = control.iter().find_map(|it| extra.get(it, "cache_control"));
        let breakpoint = || extra.all().find(|it| is_breakpoint(it.0, it.1)).map(|it| it.2);
        let point = own
            .or_else(|| control.and_then(of_cache_control))
            .or_else(|| breakpoint().map(of_breakpoint))?;
        if self.options.cache == Cache::Drop {
            self.objects.losses.raw(Some(at), CACHE_POINT);
            return None;
        }
        Some(point)
    }
}

/// Whether a member is the one by which OpenAI's parts mark the end of a cached prefix.
fn is_breakpoint(origin: &Origin, name: &str) -> bool {
    matches!(origin, Origin::OpenAi | Origin::Responses) && name == "prompt_cache_breakpoint"
}

/// The cache point for an OpenAI breakpoint; only two lifetimes can be expressed.
fn of_breakpoint(breakpoint: &RawJson) -> RawJson {
    let ttl = breakpoint.member("ttl").filter(|it| matches!(it.text(), "\"5m\"" | "\"1h\""));
    cached("default", ttl)
}

/// The cache point for a `cache_control`.
pub(crate) fn of_cache_control(control: &RawJson) -> Option<RawJson> {
    let is_kind = control.member_text("type")? == "ephemeral";
    is_kind.then(|| cached("default", control.member("ttl")))
}

/// A cache point, or Anthropic's equivalent: its type and lifetime.
pub(crate) fn cached(kind: &str, ttl: Option<RawJson>) -> RawJson {
    RawJson::written(|it| {
        it.object(|it| {
            it.key("type").str(kind);
            it.optional("ttl", ttl, |it, raw| it.raw(raw.text()));
        });
    })
}

// The messages of a list: grouping, roles, and other members of the source (BR-4).

impl Writer<'_> {
    /// Writes the messages that form a response.
    pub(crate) fn single(&mut self, messages: &[Message], out: &mut Vec<u8>) {
        match messages {
            [] => out.extend_from_slice(b"{}"),
            all => self.group(all, 0, out),
        }
    }

    /// Splits a list into runs, each of which is written as one message.
    fn groups<'m>(&mut self, messages: &'m [Message], first: usize) -> Vec<(usize, &'m [Message])> {
        let (mut res, mut at) = (Vec::new(), 0);
        while at < messages.len() {
            let it = &messages[at];
            let len = if self.is_results(it) && !it.parts.is_empty() {
                self.run(&messages[at..])
            } else {
                1
            };
            self.objects.losses.at_message(first + at);
            let group = &messages[at..at + len];
            if self.is_results(it) && it.parts.is_empty() {
                self.objects.losses.no_result();
            } else if self.is_silent(group) {
                self.leave_out(first + at, group);
            } else if !self.is_hoisted(it) {
                res.push((first + at, group));
            }
            at += len;
        }
        res
    }

    /// Whether nothing of non-empty messages can be written: an empty message is rejected.
    fn is_silent(&self, group: &[Message]) -> bool {
        let parts = || group.iter().flat_map(|it| &it.parts);
        let is_left =
            self.purpose == Purpose::Convert && !group.iter().any(|it| self.is_hoisted(it));
        is_left && parts().next().is_some() && !parts().any(|it| self.has_place(it))
    }

    fn leave_out(&mut self, first: usize, group: &[Message]) {
        for (at, it) in (first..).zip(group) {
            self.objects.lose_envelope(at, it);
            self.objects.losses.at_message(at);
            for (part, it) in it.parts.iter().enumerate() {
                self.fits(part, it);
            }
            self.objects.losses.nothing_left();
        }
    }

    /// How many messages of a list that begins with results form one: all results, and the user message after them.
    fn run(&self, messages: &[Message]) -> usize {
        let joins = |it: &&Message| !self.objects.placement(it).has(Placement::APART);
        let after = &messages[1..];
        let results = after.iter().take_while(joins).take_while(|it| self.is_results(it)).count();
        // Other tool content would merge with the user's text.
        let is_pure = messages[..=results].iter().all(|it| it.parts.iter().all(is_result));
        let is_user = |it: &Message| it.role == Role::User && !it.parts.is_empty() && is_pure;
        1 + results + usize::from(after.get(results).filter(joins).is_some_and(is_user))
    }

    /// Whether this is a tool message that is not kept as one because of its source.
    fn is_results(&self, it: &Message) -> bool {
        let is_spelled =
            || self.objects.plan(&it.extra, 0).variant(RoleContent::ROLE) == RoleContent::ROLE_TOOL;
        let is_returned = || self.purpose == Purpose::Return && is_spelled();
        match it.role {
            Role::User => !it.parts.is_empty() && it.parts.iter().all(is_result),
            Role::Tool => (it.parts.is_empty() || it.parts.iter().any(is_result)) && !is_returned(),
            _ => false,
        }
    }

    fn group(&mut self, group: &[Message], at: usize, out: &mut Vec<u8>) {
        let Some(head) = group.first() else { return };
        if let Some(source) = self.whole(head, group) {
            return out.extend_from_slice(source.as_bytes());
        }
        let plan = self.objects.plan(&head.extra, 0);
        let raw = self.objects.envelope((at..).zip(group));
        let parts = self.parts(group, at);
        let want = RoleContent::wanted(plan, &raw, &parts);
        let variant = plan.variant(RoleContent::CONTENT);
        self.objects.losses.at_message(at);
        let role = self.role(head, plan.variant(RoleContent::ROLE));
        let lost = RoleContent::SHAPE.write(out, plan, want, &raw, |out, code| match code {
            RoleContent::ROLE => msg_json::write_str(out, role),
            _ => self.content(&parts, variant, out),
        });
        self.objects.losses.at_message(at);
        self.objects.losses.taken(None, lost);
    }

    /// The source kept for a group of messages, if its meaning is unchanged.
    fn whole<'m>(&self, head: &'m Message, group: &[Message]) -> Option<&'m str> {
        let before = self.objects.placement(head).has(Placement::APART).then_some(&Role::Tool);
        let is_asked = *self.options == WriteOptions::default();
        self.objects.whole(&head.extra, |source| is_asked && says(source, group, before))
    }

    /// The written role; reports changes.
    fn role<'m>(&mut self, it: &'m Message, variant: u8) -> &'m str {
        let (word, is_changed) = self.word(it, variant);
        if is_changed {
            self.objects.losses.role_changed(it.role.as_str(), word);
        }
        word
    }

    /// The written role, and whether it differs from that of the message.
    fn word<'m>(&self, it: &'m Message, variant: u8) -> (&'m str, bool) {
        let keeps = RoleContent {
            results: self.is_results(it),
            system: self.later_system() == LaterSystem::Keep,
            all: self.purpose == Purpose::Return && self.objects.keeps_layout(),
        };
        keeps.role_word(&it.role, variant)
    }

    /// The parts of a group that can be written; a user's results come first.
    fn parts<'m>(&mut self, group: &'m [Message], first: usize) -> Vec<Placed<'m>> {
        let mut res = Vec::new();
        for (message, it) in (first..).zip(group) {
            self.objects.losses.at_message(message);
            res.extend(Placed::all(message, it).filter(|it| self.fits(it.part, it.it)));
        }
        if self.purpose == Purpose::Convert {
            Placed::drop_blanks_beside_calls(&mut res);
        }
        let variant = |it: &Message| self.objects.plan(&it.extra, 0).variant(RoleContent::ROLE);
        let is_user = |it: &Message| matches!(self.word(it, variant(it)).0, "user" | "human");
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
            [Placed { it: Part::Text(it), .. }]
                if variant == RoleContent::CONTENT_OTHER && it.extra.is_empty() =>
            {
                msg_json::write_str(out, &it.text);
            }
            all => self.array(all, out),
        }
    }

    /// Writes one part, if it can be written.
    pub(crate) fn placed(&mut self, one: &Placed<'_>, out: &mut Vec<u8>) {
        if self.fits(one.part, one.it) {
            self.block(one.part, one.it, out);
        }
    }

    /// Writes blocks, each cache point after its block.
    fn array(&mut self, parts: &[Placed<'_>], out: &mut Vec<u8>) {
        msg_json::Writer::new(out).list(|out| {
            for one in parts {
                self.objects.losses.at_message(one.message);
                let point = self.cache_point(one.part, one.it.extra());
                out.value(|out| self.block(one.part, one.it, out));
                if let Some(point) = point {
                    out.object(|it| it.key(CACHE_POINT).raw(point.text()));
                }
            }
        });
    }
}

fn is_result(it: &Part) -> bool {
    matches!(it, Part::ToolResult(_))
}
