//! Anthropic messages: from [`Message`]s straight into bytes. An unedited message that was read here goes
//! out as it came in; what the format cannot hold is reported, never dropped in silence.
//!
//! ```text
//! system, developer ..        -> "system"                      system.rs     AN-4
//! tool, tool, user            -> one user message, results     group.rs      AN-8
//!                                first, each part a block      message.rs, block.rs, media.rs
//! ```

mod block;
mod group;
mod media;
mod message;
mod system;

use msg_core::{Extra, Message, Report};
use msg_wire::codec::{Losses, Plan, RawMember, object_members, section};

pub(crate) use system::leading;

use crate::{
    CacheControl, LaterSystem, WriteOptions,
    shape::{ANTHROPIC, place},
};

/// Whether the messages came from an Anthropic document that is written back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// They are to be sent to Anthropic, wherever they are from.
    Convert,
    /// They go back to where they stood: roles are written as they are.
    Return,
}

/// Writes messages, one call for each list.
pub(crate) struct Writer<'a> {
    options: &'a WriteOptions,
    purpose: Purpose,
    losses: Losses<'a>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(options: &'a WriteOptions, purpose: Purpose, report: &'a mut Report) -> Self {
        Self { options, purpose, losses: Losses::new(report) }
    }

    /// Reports what was lost.
    pub(crate) fn finish(mut self) {
        self.losses.flush();
    }

    fn later_system(&self) -> LaterSystem {
        match self.purpose {
            Purpose::Convert => self.options.later_system,
            Purpose::Return => LaterSystem::Keep,
        }
    }

    /// The layout that the reader left, if it shall be kept.
    fn layout<'b>(&self, extra: &'b Extra) -> Option<&'b [u8]> {
        self.options.kept_layout(extra, &ANTHROPIC)
    }

    fn plan<'b>(&self, extra: &'b Extra) -> Plan<'b> {
        Plan::new(section(self.layout(extra), 0))
    }

    /// What is kept about the place of a message: bits of [`place`].
    fn place(&self, message: &Message) -> u8 {
        place_in(self.layout(&message.extra))
    }

    /// The unknown members of a part and its `cache_control`, wherever that is from (AN-9); those that
    /// are left out are reported.
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
            let is_carried = is_cache && *origin == msg_core::Origin::OpenAi;
            let is_taken = is_carried && extra.get(&ANTHROPIC, name).is_some();
            if is_own && Some(name) == skip {
                continue;
            } else if (is_own || is_carried) && !(is_cache && drops) && !is_taken {
                res.push(RawMember { name: name.into(), value: value.text() });
            } else {
                self.losses.raw(Some(at), &format!("{origin}.{name}"));
            }
        }
        res
    }

    /// The unknown members of the source of a part, and the plan for it.
    fn source<'b>(&mut self, extra: &'b Extra, at: usize) -> (Vec<RawMember<'b>>, Plan<'b>) {
        let raw = extra.get(&ANTHROPIC, SOURCE).and_then(|it| {
            let members = object_members(it);
            if members.is_none() {
                self.losses.raw(Some(at), SOURCE);
            }
            members
        });
        (raw.unwrap_or_default(), Plan::new(section(self.layout(extra), 1)))
    }
}

const CACHE_CONTROL: &str = "cache_control";

/// The member of a part's extra that holds the unknown members of its source.
const SOURCE: &str = "source";

/// What a layout says about the place of its message.
fn place_in(layout: Option<&[u8]>) -> u8 {
    match section(layout, 1) {
        Some([it]) if it & !(place::APART | place::MIXED | place::LISTED) == place::BASE => {
            it & !place::BASE
        }
        _ => 0,
    }
}

/// Whether a system message stood among the messages of its document.
fn is_listed(message: &Message) -> bool {
    place_in(message.extra.layout(&ANTHROPIC)) & place::LISTED != 0
}
