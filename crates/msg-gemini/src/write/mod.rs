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

use std::collections::{HashMap, HashSet, VecDeque};

use msg_codec::codec::{PartWriter, Plan, Purpose, RawMember};
use msg_core::{Extra, Message, Report};

use crate::{
    LaterSystem, WriteOptions,
    shape::{self, GEMINI},
};

/// Writes messages, one call for each list.
pub(crate) struct Writer<'a, 'r> {
    options: &'a WriteOptions,
    purpose: Purpose,
    objects: PartWriter<'r>,
    /// The tools of the calls that were written, by their ids.
    names: HashMap<&'a str, &'a str>,
    /// The ids and tools of the calls of the last answer, in order, until a result takes them.
    waiting: VecDeque<(&'a str, &'a str)>,
    /// The ids that were answered.
    answered: HashSet<&'a str>,
}

/// Writes through a writer, and gives what was lost.
pub(crate) fn written<'a>(
    options: &'a WriteOptions,
    purpose: Purpose,
    write: impl FnOnce(&mut Writer<'a, '_>),
) -> Report {
    let mut report = Report::new();
    let objects = PartWriter::new(GEMINI, options.layout, &mut report);
    let mut writer = Writer {
        options,
        purpose,
        objects,
        names: HashMap::new(),
        waiting: VecDeque::new(),
        answered: HashSet::new(),
    };
    write(&mut writer);
    writer.objects.losses.flush();
    report
}

impl Writer<'_, '_> {
    /// Whether documents go back as they were, roles and odd shapes included.
    fn is_verbatim(&self) -> bool {
        self.purpose == Purpose::Return && self.keeps_layout()
    }

    /// Whether the shape that a source had comes back.
    pub(crate) fn keeps_layout(&self) -> bool {
        self.objects.keeps_layout()
    }

    /// The source of what begins with this message, if it is kept whole and still says what is written.
    fn whole<'m>(&self, head: &'m Message, says: impl FnOnce(&str) -> bool) -> Option<&'m str> {
        let is_asked = || *self.options == WriteOptions::default();
        self.objects.whole(&head.extra, |source| is_asked() && says(source))
    }

    fn hoists(&self) -> bool {
        !self.is_verbatim() && self.options.later_system == LaterSystem::Hoist
    }

    fn plan<'b>(&self, extra: &'b Extra) -> Plan<'b> {
        self.objects.plan(extra, 0)
    }

    /// The unknown members of a part but that one which holds those of its object; those that are left
    /// out are reported, as are those that would make another part of it.
    fn members<'b>(
        &mut self,
        extra: &'b Extra,
        at: usize,
        inner: Option<&str>,
    ) -> Vec<RawMember<'b>> {
        let mut res = Vec::new();
        for (origin, name, value) in extra.all() {
            let is_own = *origin == GEMINI;
            if is_own && Some(name) == inner {
                continue;
            } else if is_own && !(is_kind(name) && value.text() != "null") {
                res.push(RawMember { name: name.into(), value: value.text() });
            } else {
                self.objects.losses.raw(Some(at), &format!("{origin}.{name}"));
            }
        }
        res
    }
}

/// Whether a member says what a part is (GE-4).
fn is_kind(name: &str) -> bool {
    shape::part::KINDS.iter().any(|it| it.0 == name || it.1 == name)
}
