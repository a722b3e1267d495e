//! What goes into `systemInstruction` (GE-3).

use msg_codec::codec::{Placed, text_of_part};
use msg_core::{Message, Role};

use super::{Writer, content::Stand};
use crate::read::says_alone;

impl<'a> Writer<'a, '_> {
    /// The value of `systemInstruction`: the leading messages, and later ones that are hoisted; none if
    /// there is no part in them.
    pub(crate) fn system(&mut self, messages: &'a [Message], leading: usize) -> Option<Vec<u8>> {
        if let [one, ..] = messages
            && leading == 1
            && let Some(source) = self.whole(one, |source| says_alone(source, one))
        {
            return Some(source.as_bytes().to_vec());
        }
        let (mut parts, mut sources) = (Vec::new(), Vec::new());
        for (at, it) in messages.iter().enumerate() {
            let is_hoisted = at >= leading && self.hoists() && it.role.is_system();
            if at < leading || is_hoisted {
                self.objects.losses.at_message(at);
                self.instructions(at, it, &mut parts);
                sources.push((at, it));
                if is_hoisted {
                    self.objects.losses.system_moved();
                }
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
            all => self.content(all, parts, (Stand::Alone, None), &mut out),
        }
        Some(out)
    }

    /// Finds the texts of a message; only text has a place, but what was there goes back.
    fn instructions(&mut self, at: usize, it: &'a Message, parts: &mut Vec<Placed<'a>>) {
        if it.role == Role::Developer {
            let text = "developer instructions go with those of the system";
            self.objects.losses.warn("convert::role-changed", None, text);
        }
        for one in Placed::all(at, it) {
            if !self.is_converting() || text_of_part(one.it).is_some() {
                parts.push(one);
            } else {
                self.objects.losses.part(one.part, one.it.kind());
            }
        }
    }

    /// Notes what was beside instructions that have no text.
    fn unsaid(&mut self, messages: &[(usize, &Message)]) {
        for (at, it) in messages {
            self.objects.lose_envelope(*at, it);
        }
    }
}
