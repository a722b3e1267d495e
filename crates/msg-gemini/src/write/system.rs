//! What goes into `systemInstruction` (GE-3).

use msg_core::{Message, Part, Role, json};

use msg_wire::codec::members_of;

use super::{Purpose, Writer, content::Stand, group::Placed, place_in};
use crate::shape::{GEMINI, place};

/// How many messages at the beginning belong to `systemInstruction`: all system and developer messages,
/// and of a document that is written back those that did not stand among its contents.
pub(crate) fn leading(messages: &[Message], purpose: Purpose) -> usize {
    let is_listed = |it: &Message| place_in(it.extra.layout(&GEMINI)) & place::LISTED != 0;
    let is_ours = |it: &&Message| purpose == Purpose::Convert || !is_listed(it);
    messages.iter().take_while(|it| it.role.is_system()).take_while(is_ours).count()
}

impl<'a> Writer<'a> {
    /// The value of `systemInstruction`: the leading messages, and later ones that are hoisted; none if
    /// there is no part in them.
    pub(crate) fn system(&mut self, messages: &'a [Message], leading: usize) -> Option<Vec<u8>> {
        let (mut parts, mut sources) = (Vec::new(), Vec::new());
        for (at, it) in messages.iter().enumerate() {
            let is_hoisted = at >= leading && self.hoists() && it.role.is_system();
            if at < leading || is_hoisted {
                self.losses.at_message(at);
                self.instructions(at, it, &mut parts);
                sources.push((at, it));
                if is_hoisted {
                    let text = "a later system message is moved to the front";
                    self.losses.warn("convert::order-lost", None, text);
                }
            }
        }
        let mut out = Vec::new();
        match sources.as_slice() {
            [(_, one)] if let Some(text) = self.bare(one).filter(|it| !it.is_empty()) => {
                json::write_str(&mut out, text);
            }
            all if parts.is_empty() => {
                self.unsaid(all);
                return None;
            }
            all => self.content(all, parts, (Stand::Alone, None), &mut out),
        }
        Some(out)
    }

    /// Finds the texts of a message; only text has a place, but what stood there goes back.
    fn instructions(&mut self, at: usize, it: &'a Message, parts: &mut Vec<Placed<'a>>) {
        if it.role == Role::Developer {
            let text = "developer instructions go with those of the system";
            self.losses.warn("convert::role-changed", None, text);
        }
        for (part, it) in it.parts.iter().enumerate() {
            if !self.is_converting() || self.text_of(it).is_some() {
                parts.push(Placed { message: at, part, it });
            } else {
                self.lost_instruction(part, it);
            }
        }
    }

    /// Notes what stood beside instructions that have no text.
    fn unsaid(&mut self, messages: &[(usize, &Message)]) {
        for (at, it) in messages {
            self.losses.at_message(*at);
            self.envelope_losses(it);
            let own = members_of(&it.extra, &GEMINI, &[]);
            own.iter().for_each(|it| self.losses.raw(None, &it.name));
        }
    }

    fn lost_instruction(&mut self, at: usize, it: &Part) {
        self.losses.part(at, it.kind());
    }
}
