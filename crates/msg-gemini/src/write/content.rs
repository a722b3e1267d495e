//! The contents of a list: role, parts, and what the source had beside.

use msg_codec::codec::{Placed, Plan, Purpose, mask};
use msg_core::{Message, Part, Role};

use super::Writer;
use crate::write::Group;
use crate::{
    read::{says, says_alone},
    shape::content,
};

/// Where a content is, which says what its role is when it has no word for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// In a list.
    List,
    /// In a candidate, or as the system instruction: the role need not be said.
    Alone,
}

impl<'a> Writer<'a, '_> {
    /// Writes the messages as an array; `first` is the index that findings give to the first of them.
    pub(crate) fn contents(&mut self, messages: &'a [Message], first: usize, out: &mut Vec<u8>) {
        let mut groups = self.groups(messages, first);
        groups.retain(|it| !self.is_lost(it));
        msg_json::Writer::new(out).array(groups, |out, group| {
            out.value(|out| self.group(&group, Stand::List, out));
        });
    }

    /// Whether no part of a content has a place where it is converted, which is noted.
    fn is_lost(&mut self, group: &Group<'a>) -> bool {
        let is_lost = self.is_converting()
            && !group.parts.is_empty()
            && !group.parts.iter().any(|it| self.has_place(it.it));
        if is_lost {
            for (at, it) in group.messages.iter().filter(|_| !group.is_rest) {
                self.objects.lose_envelope(*at, it);
            }
            for it in &group.parts {
                self.objects.losses.at_message(it.message);
                self.fits(it.part, it.it);
            }
            self.objects.losses.nothing_left();
        }
        is_lost
    }

    /// Writes the messages in the place of a single content or of a string; as an array if they are no
    /// longer one.
    pub(crate) fn single(&mut self, messages: &'a [Message], first: usize, out: &mut Vec<u8>) {
        let mut groups = self.groups(messages, first);
        let bare = match messages {
            [one] => self.bare(one),
            _ => None,
        };
        match (bare, groups.as_mut_slice()) {
            (Some(text), _) => msg_json::write_str(out, text),
            (None, [one]) => self.group(one, Stand::List, out),
            _ => self.contents(messages, first, out),
        }
    }

    /// The text of a message that was a bare string and still can be one.
    pub(super) fn bare<'m>(&self, message: &'m Message) -> Option<&'m str> {
        let was_bare = self.plan(&message.extra).variant(content::PARTS) == content::PARTS_BARE;
        match message.parts.as_slice() {
            _ if !was_bare || !message.extra.is_empty() => None,
            [] => Some(""),
            [Part::Text(it)] if it.extra.is_empty() => Some(&it.text),
            _ => None,
        }
    }

    /// Writes the content of a candidate.
    pub(crate) fn candidate(&mut self, message: &'a Message, at: usize, out: &mut Vec<u8>) {
        if let Some(source) = self.whole(message, |source| says_alone(source, message)) {
            return out.extend_from_slice(source.as_bytes());
        }
        let parts = Placed::all(at, message).collect();
        self.content(&[(at, message)], parts, (Stand::Alone, Some("model")), out);
    }

    fn group(&mut self, group: &Group<'a>, stand: Stand, out: &mut Vec<u8>) {
        let messages = if group.is_rest { &group.messages[1..] } else { &group.messages[..] };
        let Some((at, head)) = group.messages.first() else { return };
        let all = || group.messages.iter().map(|it| it.1).collect::<Vec<_>>();
        if let Some(source) = self.whole(head, |source| says(source, &all())) {
            group.messages.iter().for_each(|it| self.note_calls(it.1));
            return out.extend_from_slice(source.as_bytes());
        }
        self.objects.losses.at_message(*at);
        let role = self.role(head);
        if head.role == Role::Assistant {
            self.waiting.clear();
        }
        self.content(messages, group.parts.clone(), (stand, Some(role)), out);
    }

    /// Writes a content; `role` is the canonical word for its role.
    pub(super) fn content(
        &mut self,
        messages: &[(usize, &'a Message)],
        mut parts: Vec<Placed<'a>>,
        (stand, role): (Stand, Option<&'a str>),
        out: &mut Vec<u8>,
    ) {
        let head = messages.first().map(|it| it.1);
        let raw = self.objects.envelope(messages.iter().copied());
        parts.retain(|it| {
            self.objects.losses.at_message(it.message);
            self.fits(it.part, it.it)
        });
        let plan = head.map_or_else(Plan::default, |it| self.content_plan(it));
        let has_raw = stand == Stand::Alone && raw.iter().any(|it| it.name == "role");
        let word = match head.filter(|_| !has_raw) {
            Some(it) => self.spelled(it, plan, stand, role),
            None => Spelled::Word(role.filter(|_| !has_raw)),
        };
        let has_parts = !parts.is_empty() || plan.may_have(content::PARTS);
        let want = mask(!matches!(word, Spelled::Word(None)), content::ROLE)
            | mask(has_parts, content::PARTS);
        let variant = plan.variant(content::PARTS);
        let lost = content::SHAPE.write(out, plan, want, &raw, |out, code| match (code, &word) {
            (content::ROLE, Spelled::Word(word)) => {
                msg_json::write_str(out, word.unwrap_or_default());
            }
            (content::ROLE, Spelled::Null) => out.extend_from_slice(b"null"),
            _ => self.parts(&parts, variant, out),
        });
        self.objects.losses.taken(None, lost);
    }

    /// The plan for a content; none for one that was a bare string.
    fn content_plan<'b>(&self, message: &'b Message) -> Plan<'b> {
        let plan = self.plan(&message.extra);
        let is_bare = plan.variant(content::PARTS) == content::PARTS_BARE;
        if is_bare || !self.is_verbatim() { Plan::default() } else { plan }
    }

    /// The role as the source spelled it, if that is still the role.
    fn spelled<'m>(
        &self,
        message: &'m Message,
        plan: Plan<'_>,
        stand: Stand,
        role: Option<&'m str>,
    ) -> Spelled<'m> {
        let is_user = matches!(message.role, Role::User | Role::Tool);
        let may_lack = is_user || stand == Stand::Alone;
        let had = match role {
            Some(_) => plan.may_have(content::ROLE),
            None => plan.has(content::ROLE),
        };
        if !had {
            return Spelled::Word(if may_lack { None } else { role });
        }
        let word = match plan.variant(content::ROLE) {
            content::ROLE_EMPTY if may_lack => "",
            content::ROLE_NULL if may_lack => return Spelled::Null,
            content::ROLE_USER if may_lack => "user",
            content::ROLE_MODEL if stand == Stand::Alone => "model",
            content::ROLE_FUNCTION if message.role == Role::Tool || stand == Stand::Alone => {
                "function"
            }
            content::ROLE_SPELLED if is_user => "human",
            content::ROLE_SPELLED if message.role == Role::Assistant => "ai",
            content::ROLE_OWN => message.role.as_str(),
            _ => return Spelled::Word(role),
        };
        Spelled::Word(Some(word))
    }

    /// The word that the API has for the role of a message; a change is reported unless the source's own
    /// word goes out.
    fn role(&mut self, it: &Message) -> &'static str {
        match &it.role {
            Role::Assistant => "model",
            Role::User | Role::Tool => "user",
            role => {
                let plan = self.content_plan(it);
                if plan.variant(content::ROLE) == 0 {
                    self.role_changed(role.as_str());
                }
                "user"
            }
        }
    }

    pub(super) fn role_changed(&mut self, from: &str) {
        let text = format!("the format has no role {from} here: the message goes to the user");
        self.objects.losses.warn("convert::role-changed", None, text);
    }

    /// Writes the value of `parts`; the variant is the one that the source had.
    fn parts(&mut self, parts: &[Placed<'a>], variant: u8, out: &mut Vec<u8>) {
        match parts {
            [] if variant == content::PARTS_NULL => out.extend_from_slice(b"null"),
            [one] if variant == content::PARTS_ONE => self.placed(one, out),
            all => msg_json::Writer::new(out).array(all, |out, one| {
                out.value(|out| self.placed(one, out));
            }),
        }
    }

    fn placed(&mut self, one: &Placed<'a>, out: &mut Vec<u8>) {
        self.objects.losses.at_message(one.message);
        self.part(one.part, one.it, out);
    }

    /// Whether the messages are to be sent to Gemini, wherever they are from.
    pub(super) fn is_converting(&self) -> bool {
        self.purpose == Purpose::Convert
    }
}

/// How a role is written.
enum Spelled<'m> {
    /// As this word, or not at all.
    Word(Option<&'m str>),
    Null,
}
