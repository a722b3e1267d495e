//! What goes into `system` (AN-4).

use msg_core::{Message, Part, Role, json};
use msg_wire::codec::members_of;

use super::{LaterSystem, Purpose, Writer, is_listed};
use crate::shape::{ANTHROPIC, message};

/// How many messages at the beginning belong to `system`: all system and developer messages, and of a
/// document that is written back those that did not stand among its messages.
pub(crate) fn leading(messages: &[Message], purpose: Purpose) -> usize {
    let is_system = |it: &&Message| matches!(it.role, Role::System | Role::Developer);
    let is_ours = |it: &&Message| purpose == Purpose::Convert || !is_listed(it);
    messages.iter().take_while(is_system).take_while(is_ours).count()
}

/// A part of `system`, and the message that it is of.
struct Instruction<'m> {
    message: usize,
    part: usize,
    it: &'m Part,
}

impl Writer<'_> {
    /// The value of `system`: the leading messages, and later ones that are hoisted; none if there is no
    /// text in them.
    pub(crate) fn system(&mut self, messages: &[Message], leading: usize) -> Option<Vec<u8>> {
        let mut parts = Vec::new();
        for (at, it) in messages.iter().enumerate() {
            let is_hoisted = at >= leading && self.is_hoisted(it);
            if at < leading || is_hoisted {
                self.losses.at_message(at);
                self.instructions(at, it, &mut parts);
                if is_hoisted {
                    let text = "a later system message is moved to the front";
                    self.losses.warn("convert::order-lost", None, text);
                }
            }
        }
        if parts.is_empty() {
            return None;
        }
        let array = messages.first().is_some_and(|it| {
            leading > 0 && self.plan(&it.extra).variant(message::CONTENT) == message::CONTENT_ARRAY
        });
        let mut out = Vec::new();
        match parts.as_slice() {
            [one] if !array && self.is_plain(one.it) => self.instruction(one, &mut out, true),
            all => json::Writer::new(&mut out).array(all, |out, one| {
                out.value(|out| self.instruction(one, out, false));
            }),
        }
        Some(out)
    }

    /// Whether this message goes to the end of `system`.
    pub(super) fn is_hoisted(&self, it: &Message) -> bool {
        self.later_system() == LaterSystem::Hoist
            && matches!(it.role, Role::System | Role::Developer)
    }

    /// Finds the texts of a message, and notes what is lost of it.
    fn instructions<'m>(&mut self, at: usize, it: &'m Message, parts: &mut Vec<Instruction<'m>>) {
        if it.role == Role::Developer {
            self.role_changed("developer", "system");
        }
        if it.name.is_some() {
            self.losses.member(None, "name");
        }
        self.losses.foreign(&it.extra, Some(&ANTHROPIC), None);
        members_of(&it.extra, &ANTHROPIC, &[])
            .iter()
            .for_each(|it| self.losses.raw(None, &it.name));
        let before = parts.len();
        for (part, it) in it.parts.iter().enumerate() {
            if self.fits_system(part, it) {
                parts.push(Instruction { message: at, part, it });
            }
        }
        let is_blank = |it: &Instruction<'_>| self.text_of(it.it) == Some("");
        if self.purpose == Purpose::Convert && parts[before..].iter().all(is_blank) {
            parts.truncate(before);
            let text = "a system message without text is left out";
            self.losses.warn("convert::lost-message", None, text);
        }
    }

    /// Only text has a place in `system`; what stood there goes back.
    fn fits_system(&mut self, at: usize, it: &Part) -> bool {
        if self.purpose == Purpose::Return {
            return self.fits(at, it);
        }
        let is_text = self.text_of(it).is_some();
        if !is_text {
            self.losses.part(at, it.kind());
        }
        is_text
    }

    fn instruction(&mut self, one: &Instruction<'_>, out: &mut Vec<u8>, is_string: bool) {
        self.losses.at_message(one.message);
        if is_string {
            self.string(one.part, one.it, out);
        } else {
            self.block(one.part, one.it, out);
        }
    }
}
