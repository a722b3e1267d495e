//! Converse messages: from [`Message`]s into bytes. An unedited message that was read here goes out as it came in; what
//! the format cannot hold is reported, never dropped in silence.
//!
//! ```text
//! system, developer ..        -> "system"                           BR-2
//! tool, tool, user            -> one user message, results first    message.rs   BR-4
//!                                each part a block                  block.rs     BR-6 to BR-11
//! ```

mod block;
mod message;

use msg_codec::codec::{PartWriter, Placed, Purpose, text_of_part};
use msg_core::{Extra, Message, Origin, Part, RawJson, Report, Role};

pub(crate) use self::block::canonical_block;
use crate::shape::{BEDROCK, CACHE_POINT};
use crate::{Cache, LaterSystem, WriteOptions};

/// Writes messages, one call for each list.
pub(crate) struct Writer<'a> {
    options: &'a WriteOptions,
    purpose: Purpose,
    objects: PartWriter<'a>,
    /// How many documents were written, by which those without a name are called.
    n_documents: usize,
}

/// Writes through a writer, and gives what was lost.
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

impl Writer<'_> {
    pub(crate) fn keeps_layout(&self) -> bool {
        self.objects.keeps_layout()
    }

    fn later_system(&self) -> LaterSystem {
        let default = match self.purpose {
            Purpose::Convert => LaterSystem::User,
            Purpose::Return => LaterSystem::Keep,
        };
        self.options.later_system.unwrap_or(default)
    }

    /// Whether this message goes to the end of `system`.
    fn is_hoisted(&self, it: &Message) -> bool {
        self.later_system() == LaterSystem::Hoist && it.role.is_system()
    }

    fn role_changed(&mut self, from: &str, to: &str) {
        let text = format!("role {from} has no place here, the message is written as {to}");
        self.objects.losses.warn("convert::role-changed", None, text);
    }

    /// The value of `system`: the leading messages, and later ones that are hoisted; none if there is no block in them.
    pub(crate) fn system(&mut self, messages: &[Message], leading: usize) -> Option<Vec<u8>> {
        let mut parts = Vec::new();
        for (at, it) in messages.iter().enumerate() {
            let is_hoisted = at >= leading && self.is_hoisted(it);
            if at >= leading && !is_hoisted {
                continue;
            }
            self.objects.losses.at_message(at);
            if it.role == Role::Developer {
                self.role_changed("developer", "system");
            }
            if is_hoisted {
                self.objects.losses.system_moved();
            }
            self.objects.lose_envelope(at, it);
            parts.extend(Placed::all(at, it).filter(|it| self.fits_system(it.part, it.it)));
        }
        if parts.is_empty() {
            return None;
        }
        let was_text = messages.first().filter(|_| leading > 0).is_some_and(|it| {
            let plan = self.objects.plan(&it.extra, 0);
            plan.variant(crate::shape::CONTENT) == crate::shape::CONTENT_TEXT
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

    /// Only text, guarded content and cache points have a place in `system`; what was there goes back.
    fn fits_system(&mut self, at: usize, it: &Part) -> bool {
        if self.purpose == Purpose::Return {
            return self.fits(at, it);
        }
        let is_guarded = it.extra().get(&BEDROCK, crate::shape::GUARD).is_some();
        let has_place = text_of_part(it).is_some() || is_guarded || block::is_cache_point(it);
        if !has_place {
            self.objects.losses.part(at, it.kind());
        }
        has_place && self.fits(at, it)
    }

    /// The cache point after a part: its own, or what Anthropic and chat messages have for it (BR-9).
    fn cache_point(&mut self, at: usize, extra: &Extra) -> Option<RawJson> {
        let own = extra.get(&BEDROCK, CACHE_POINT).cloned();
        let control = [Origin::Anthropic, Origin::OpenAi];
        let control = control.iter().find_map(|it| extra.get(it, "cache_control"));
        let point = own.or_else(|| control.and_then(of_cache_control))?;
        if self.options.cache == Cache::Drop {
            self.objects.losses.raw(Some(at), CACHE_POINT);
            return None;
        }
        Some(point)
    }
}

/// The cache point that says what a `cache_control` says.
pub(crate) fn of_cache_control(control: &RawJson) -> Option<RawJson> {
    let members = control.members()?;
    let find = |name: &str| members.iter().find(|it| it.0 == name).map(|it| &it.1);
    (find("type")?.parse::<String>().ok()? == "ephemeral").then_some(())?;
    Some(RawJson::written(|it| {
        it.object(|it| {
            it.key("type").str("default");
            it.optional("ttl", find("ttl"), |it, raw| it.raw(raw.text()));
        });
    }))
}
