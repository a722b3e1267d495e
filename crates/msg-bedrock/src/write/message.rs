//! The messages of a list: which go out as one, their roles, and what the source had beside (BR-4).

use msg_codec::codec::{Placed, Placement, Purpose, bit, mask};
use msg_core::{Message, Part, Role};

use super::Writer;
use crate::LaterSystem;
use crate::shape::{CONTENT, CONTENT_NULL, CONTENT_TEXT, MESSAGE, ROLE, ROLE_SPELLED, ROLE_TOOL};

impl Writer<'_> {
    /// Writes the messages as an array; `first` is the index that findings give to the first of them.
    pub(crate) fn messages(&mut self, messages: &[Message], first: usize, out: &mut Vec<u8>) {
        let groups = self.groups(messages, first);
        msg_json::Writer::new(out).array(groups, |out, (at, group)| {
            out.value(|out| self.group(group, at, out));
        });
    }

    /// Writes messages that are the one of a response.
    pub(crate) fn single(&mut self, messages: &[Message], out: &mut Vec<u8>) {
        match messages {
            [] => out.extend_from_slice(b"{}"),
            all => self.group(all, 0, out),
        }
    }

    /// Cuts a list into runs, each of which goes out as one message.
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

    /// Whether nothing of messages that said something has a place: an empty message is refused (RG-12).
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

    /// How many messages of a list that begins with results are one: all results, and the user message after them.
    fn run(&self, messages: &[Message]) -> usize {
        let joins = |it: &&Message| !self.objects.placement(it).has(Placement::APART);
        let behind = &messages[1..];
        let results = behind.iter().take_while(joins).take_while(|it| self.is_results(it)).count();
        // What a tool said besides results would run into what the user says.
        let is_pure = messages[..=results].iter().all(|it| it.parts.iter().all(is_result));
        let is_user = |it: &Message| it.role == Role::User && !it.parts.is_empty() && is_pure;
        1 + results + usize::from(behind.get(results).filter(joins).is_some_and(is_user))
    }

    /// Whether this is a tool message, unless it had that role in the source, where it stays.
    fn is_results(&self, it: &Message) -> bool {
        let is_spelled = || self.objects.plan(&it.extra, 0).variant(ROLE) == ROLE_TOOL;
        let is_returned = || self.purpose == Purpose::Return && is_spelled();
        match it.role {
            Role::User => !it.parts.is_empty() && it.parts.iter().all(is_result),
            Role::Tool => (it.parts.is_empty() || it.parts.iter().any(is_result)) && !is_returned(),
            _ => false,
        }
    }

    fn group(&mut self, group: &[Message], at: usize, out: &mut Vec<u8>) {
        let Some(head) = group.first() else { return };
        let plan = self.objects.plan(&head.extra, 0);
        let raw = self.objects.envelope((at..).zip(group));
        let parts = self.parts(group, at);
        let has_content = !raw.iter().any(|it| it.name == "content" && parts.is_empty())
            && (plan.may_have(CONTENT) || !parts.is_empty());
        let want = bit(ROLE) | mask(has_content, CONTENT);
        let variant = plan.variant(CONTENT);
        self.objects.losses.at_message(at);
        let role = self.role(head, plan.variant(ROLE));
        let lost = MESSAGE.write(out, plan, want, &raw, |out, code| match code {
            ROLE => msg_json::write_str(out, role),
            _ => self.content(&parts, variant, out),
        });
        self.objects.losses.at_message(at);
        self.objects.losses.taken(None, lost);
    }

    /// The role that goes out, changes of it reported.
    fn role<'m>(&mut self, it: &'m Message, variant: u8) -> &'m str {
        let (word, is_changed) = self.word(it, variant);
        if is_changed {
            self.role_changed(it.role.as_str(), word);
        }
        word
    }

    /// The role that goes out, and whether it is another one than that of the message.
    fn word<'m>(&self, it: &'m Message, variant: u8) -> (&'m str, bool) {
        let keeps = self.later_system() == LaterSystem::Keep;
        let is_verbatim = self.purpose == Purpose::Return && self.keeps_layout();
        match (&it.role, variant) {
            (Role::User | Role::Tool, ROLE_SPELLED) => ("human", false),
            (Role::Assistant, ROLE_SPELLED) => ("ai", false),
            (Role::User | Role::Assistant, _) => (it.role.as_str(), false),
            (Role::Tool, _) if self.is_results(it) => ("user", false),
            (Role::System, _) if keeps => ("system", false),
            _ if is_verbatim => (it.role.as_str(), false),
            (Role::Developer, _) if keeps => ("system", true),
            _ => ("user", true),
        }
    }

    /// The parts of a group that the format has a place for, the results of a user first.
    fn parts<'m>(&mut self, group: &'m [Message], first: usize) -> Vec<Placed<'m>> {
        let mut res = Vec::new();
        for (message, it) in (first..).zip(group) {
            self.objects.losses.at_message(message);
            res.extend(Placed::all(message, it).filter(|it| self.fits(it.part, it.it)));
        }
        let variant = |it: &Message| self.objects.plan(&it.extra, 0).variant(ROLE);
        let is_user = |it: &Message| matches!(self.word(it, variant(it)).0, "user" | "human");
        let is_mixed = |it: &Message| self.objects.placement(it).has(Placement::MIXED);
        if group.iter().all(is_user) && !group.iter().any(is_mixed) {
            let behind = res.iter().skip_while(|it| it.is_result()).find(|it| it.is_result());
            if let Some(moved) = behind {
                let (message, part) = (moved.message, moved.part);
                self.objects.losses.at_message(message);
                self.objects.losses.result_moved(part);
                res.sort_by_key(|it| !it.is_result());
            }
        }
        res
    }

    /// Writes the value of `content`; the variant is the one that the source had.
    fn content(&mut self, parts: &[Placed<'_>], variant: u8, out: &mut Vec<u8>) {
        match parts {
            [] if variant == CONTENT_NULL => out.extend_from_slice(b"null"),
            [Placed { it: Part::Text(it), .. }]
                if variant == CONTENT_TEXT && it.extra.is_empty() =>
            {
                msg_json::write_str(out, &it.text);
            }
            all => self.array(all, out),
        }
    }

    /// Writes one part, if the format has a place for it.
    pub(crate) fn placed(&mut self, one: &Placed<'_>, out: &mut Vec<u8>) {
        if self.fits(one.part, one.it) {
            self.block(one.part, one.it, out);
        }
    }

    /// Writes blocks, each cache point after its own.
    pub(super) fn array(&mut self, parts: &[Placed<'_>], out: &mut Vec<u8>) {
        msg_json::Writer::new(out).list(|out| {
            for one in parts {
                self.objects.losses.at_message(one.message);
                let point = self.cache_point(one.part, one.it.extra());
                out.value(|out| self.block(one.part, one.it, out));
                if let Some(point) = point {
                    out.object(|it| it.key("cachePoint").raw(point.text()));
                }
            }
        });
    }
}

fn is_result(it: &Part) -> bool {
    matches!(it, Part::ToolResult(_))
}
