//! What goes into `system` (AN-4).

use msg_codec::codec::{Placed, text_of_part};
use msg_core::{Message, Part, Role};

use super::{LaterSystem, Purpose, Writer};
use crate::{read::system_says, shape::message};

impl Writer<'_> {
    /// The value of `system`: the leading messages, and later ones that are hoisted; none if there is no
    /// text in them.
    pub(crate) fn system(&mut self, messages: &[Message], leading: usize) -> Option<Vec<u8>> {
        if let [one, ..] = messages
            && leading == 1
            && let Some(source) = self.whole(one, |source| system_says(source, one))
        {
            return Some(source.as_bytes().to_vec());
        }
        let mut parts = Vec::new();
        for (at, it) in messages.iter().enumerate() {
            let is_hoisted = at >= leading && self.is_hoisted(it);
            if at < leading || is_hoisted {
                self.objects.losses.at_message(at);
                self.instructions(at, it, &mut parts);
                if is_hoisted {
                    self.objects.losses.system_moved();
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
            all => msg_json::Writer::new(&mut out).array(all, |out, one| {
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
    fn instructions<'m>(&mut self, at: usize, it: &'m Message, parts: &mut Vec<Placed<'m>>) {
        if it.role == Role::Developer {
            self.role_changed("developer", "system");
        }
        self.objects.lose_envelope(at, it);
        let before = parts.len();
        parts.extend(Placed::all(at, it).filter(|it| self.fits_system(it.part, it.it)));
        let is_blank = |it: &Placed<'_>| text_of_part(it.it) == Some("");
        if self.purpose == Purpose::Convert && parts[before..].iter().all(is_blank) {
            parts.truncate(before);
            let text = "a system message without text is left out";
            self.objects.losses.warn("convert::lost-message", None, text);
        }
    }

    /// Only text has a place in `system`; what was there goes back.
    fn fits_system(&mut self, at: usize, it: &Part) -> bool {
        if self.purpose == Purpose::Return {
            return self.fits(at, it);
        }
        let is_text = text_of_part(it).is_some();
        if !is_text {
            self.objects.losses.part(at, it.kind());
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
