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
mod part;

use std::collections::{HashMap, HashSet, VecDeque};

use msg_codec::codec::{PartWriter, Placed, Placement, Plan, Purpose, RawMember};
use msg_core::{Extra, Message, Part, Report, Role};

use crate::shape::GEMINI;
use crate::{LaterSystem, WriteOptions, shape};

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

// Which messages go out as which contents: the results of a run are one content, alone (GE-8).

/// A content that goes out.
pub(super) struct Group<'m> {
    /// The messages that it is made of, with their places in the list; the first gives the role.
    pub(super) messages: Vec<(usize, &'m Message)>,
    /// The parts, in order; not yet looked at whether they have a place.
    pub(super) parts: Vec<Placed<'m>>,
    /// Whether results of the next message join.
    is_open: bool,
    /// Whether this is the rest of a message whose envelope went out with another group.
    pub(super) is_rest: bool,
}

impl<'a> Writer<'a, '_> {
    /// Sorts the messages into contents; `first` is the place of the first of them.
    pub(super) fn groups(&mut self, messages: &'a [Message], first: usize) -> Vec<Group<'a>> {
        let mut res: Vec<Group<'a>> = Vec::new();
        for (at, message) in (first..).zip(messages) {
            self.objects.losses.at_message(at);
            if self.hoists() && message.role.is_system() {
                continue;
            }
            let place = self.objects.placement(message);
            let parts: Vec<_> = Placed::all(at, message).collect();
            if place.has(Placement::JOINED)
                && let Some(last) = res.last_mut().filter(|it| follows(it, at))
            {
                last.join(at, message, parts);
                last.is_open = false;
            } else if message.role == Role::Tool && self.is_own(message) {
                let is_open = parts.iter().all(|it| it.is_result());
                self.results(&mut res, (at, message), parts, place);
                if let Some(last) = res.last_mut() {
                    last.is_open &= is_open;
                }
            } else if message.role == Role::Tool || self.is_mixed(message, place) {
                self.split(&mut res, (at, message), parts, place);
            } else {
                res.push(Group::new(at, message, parts));
            }
        }
        res
    }

    /// Whether a tool message goes out as it came: nothing but results, or what a source had.
    fn is_own(&self, message: &Message) -> bool {
        let is_result = |it: &Part| matches!(it, Part::ToolResult(_));
        self.objects.layout(&message.extra).is_some() && self.is_verbatim()
            || !message.parts.is_empty() && message.parts.iter().all(is_result)
    }

    /// Whether results are among the parts of a user, and were not in the source.
    fn is_mixed(&self, message: &Message, place: Placement) -> bool {
        let is_user = !matches!(message.role, Role::Assistant) && !place.has(Placement::MIXED);
        is_user && message.tool_results().next().is_some()
    }

    /// Results join those of the run that is open.
    fn results(
        &mut self,
        groups: &mut Vec<Group<'a>>,
        (at, message): (usize, &'a Message),
        parts: Vec<Placed<'a>>,
        place: Placement,
    ) {
        match groups.last_mut().filter(|it| it.is_open && !place.has(Placement::APART)) {
            Some(last) => last.join(at, message, parts),
            None => groups.push(Group { is_open: true, ..Group::new(at, message, parts) }),
        }
    }

    /// Results go first, as a content of their own, and the rest after them.
    fn split(
        &mut self,
        groups: &mut Vec<Group<'a>>,
        (at, message): (usize, &'a Message),
        parts: Vec<Placed<'a>>,
        place: Placement,
    ) {
        if parts.is_empty() {
            return self.objects.losses.no_result();
        }
        let behind = parts.iter().skip_while(|it| it.is_result()).find(|it| it.is_result());
        if let Some(moved) = behind {
            self.objects.losses.result_moved(moved.part);
        }
        let (results, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(Placed::is_result);
        let has_results = !results.is_empty();
        if has_results {
            if !matches!(message.role, Role::User | Role::Tool) {
                self.role_changed(message.role.as_str());
            }
            self.results(groups, (at, message), results, place);
        }
        if !rest.is_empty() {
            if message.role == Role::Tool && rest.iter().any(|it| self.has_place(it.it)) {
                self.role_changed("tool");
            }
            groups.push(Group { is_rest: has_results, ..Group::new(at, message, rest) });
        }
    }
}

impl<'m> Group<'m> {
    fn new(at: usize, message: &'m Message, parts: Vec<Placed<'m>>) -> Self {
        Self { messages: vec![(at, message)], parts, is_open: false, is_rest: false }
    }

    fn join(&mut self, at: usize, message: &'m Message, parts: Vec<Placed<'m>>) {
        self.messages.push((at, message));
        self.parts.extend(parts);
    }
}

/// Whether the message at this place was directly after the results of a group.
fn follows(group: &Group<'_>, at: usize) -> bool {
    group.is_open && group.messages.last().is_some_and(|it| it.0 + 1 == at)
}
