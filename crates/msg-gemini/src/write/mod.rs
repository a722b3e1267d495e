//! Gemini contents: from [`Message`]s straight into bytes. Unedited messages that were read here go out
//! as they came in; what the format cannot hold is reported, never dropped in silence.
//!
//! ```text
//! system, developer ..        -> "systemInstruction"               system.rs     GE-3
//! tool, tool                  -> one content of responses, alone   group.rs      GE-8
//! user, assistant             -> a content each                    content.rs
//!                                a part each                       part.rs, call.rs, media.rs
//! ```

mod call;
mod content;
mod group;
mod media;
mod part;
mod system;

use std::collections::HashMap;

use msg_core::{Extra, Message, Report};
use msg_wire::Layout;
use msg_wire::codec::{Losses, Plan, RawMember, object_members, section};

pub(crate) use system::leading;

use crate::{
    LaterSystem, WriteOptions,
    shape::{self, GEMINI, place},
};

/// Whether the messages came from a Gemini document that is written back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// They are to be sent to Gemini, wherever they are from.
    Convert,
    /// They go back to where they stood: roles are written as they are.
    Return,
}

/// Writes messages, one call for each list.
pub(crate) struct Writer<'a> {
    options: &'a WriteOptions,
    purpose: Purpose,
    losses: Losses<'a>,
    /// The tools of the calls that were written, by their ids.
    names: HashMap<&'a str, &'a str>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(options: &'a WriteOptions, purpose: Purpose, report: &'a mut Report) -> Self {
        Self { options, purpose, losses: Losses::new(report), names: HashMap::new() }
    }

    /// Reports what was lost.
    pub(crate) fn finish(mut self) {
        self.losses.flush();
    }

    /// Whether documents go back as they were, roles and odd shapes included.
    fn is_verbatim(&self) -> bool {
        self.purpose == Purpose::Return && self.options.layout == Layout::Keep
    }

    /// Whether this is the layout that was asked for.
    pub(crate) fn layout_is(&self, layout: Layout) -> bool {
        self.options.layout == layout
    }

    fn hoists(&self) -> bool {
        !self.is_verbatim() && self.options.later_system == LaterSystem::Hoist
    }

    /// The layout that the reader left, if it shall be kept.
    fn layout<'b>(&self, extra: &'b Extra) -> Option<&'b [u8]> {
        self.options.kept_layout(extra)
    }

    fn plan<'b>(&self, extra: &'b Extra) -> Plan<'b> {
        Plan::new(section(self.layout(extra), 0))
    }

    /// The plan for the object in a part.
    fn inner_plan<'b>(&self, extra: &'b Extra) -> Plan<'b> {
        Plan::new(section(self.layout(extra), 1))
    }

    /// What is kept about the place of a message: bits of [`place`].
    fn place(&self, message: &Message) -> u8 {
        place_in(self.layout(&message.extra))
    }

    /// The unknown members of a part but that one which holds those of its object; those that are left
    /// out are reported, as are those that would make another part of it.
    fn members<'b>(&mut self, extra: &'b Extra, at: usize, inner: &str) -> Vec<RawMember<'b>> {
        let mut res = Vec::new();
        for (origin, name, value) in extra.all() {
            let is_own = *origin == GEMINI;
            if is_own && name == inner {
                continue;
            } else if is_own && !(is_kind(name) && value.text() != "null") {
                res.push(RawMember { name: name.into(), value: value.text() });
            } else {
                self.losses.raw(Some(at), &format!("{origin}.{name}"));
            }
        }
        res
    }

    /// The unknown members of the object in a part.
    fn inner_members<'b>(&mut self, extra: &'b Extra, at: usize, name: &str) -> Vec<RawMember<'b>> {
        let Some(raw) = extra.get(&GEMINI, name) else { return Vec::new() };
        let members = object_members(raw);
        if members.is_none() {
            self.losses.raw(Some(at), name);
        }
        members.unwrap_or_default()
    }
}

/// Whether a member says what a part is (GE-4).
fn is_kind(name: &str) -> bool {
    shape::part::KINDS.iter().any(|it| it.0 == name || it.1 == name)
}

/// What a layout says about the place of its message.
fn place_in(layout: Option<&[u8]>) -> u8 {
    match section(layout, 1) {
        Some([it]) if it & !place::ALL == place::BASE => it & !place::BASE,
        _ => 0,
    }
}
