//! Steps of an interaction: from [`Message`]s straight into bytes. Unedited messages that were read here go out as
//! they came in; what the format cannot hold is reported, never dropped in silence.
//!
//! ```text
//! system, developer ..    -> "system_instruction"                          GI-2
//! user                    -> user_input                       step.rs      GI-4, GI-9
//! assistant               -> thought, model_output, function_call, in order
//! tool                    -> function_result, a step each     item.rs      GI-8
//! ```

mod item;
mod media;
mod step;

use std::collections::HashMap;

use msg_codec::codec::{PartWriter, Plan, Purpose, RawMember, text_of_part};
use msg_core::{Extra, Message, RawJson, Report, Role};

pub(crate) use self::item::write_summary;
use super::shape::INTERACTIONS;
use crate::{LaterSystem, WriteOptions};

/// Writes messages, one call for each list.
pub(crate) struct Writer<'a, 'r> {
    options: &'a WriteOptions,
    purpose: Purpose,
    objects: PartWriter<'r>,
    /// The tools of the calls that were written, by their ids.
    names: HashMap<&'a str, &'a str>,
}

/// Writes through a writer, and gives what was lost.
pub(crate) fn written<'a>(
    options: &'a WriteOptions,
    purpose: Purpose,
    write: impl FnOnce(&mut Writer<'a, '_>),
) -> Report {
    let mut report = Report::new();
    let objects = PartWriter::new(INTERACTIONS, options.layout, &mut report);
    let mut writer = Writer { options, purpose, objects, names: HashMap::new() };
    write(&mut writer);
    writer.objects.losses.flush();
    report
}

/// Writes messages that are to be sent, `{"system_instruction"?,"input"}`.
pub(super) fn write_input(
    messages: &[Message],
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Report {
    written(options, Purpose::Convert, |writer| {
        let n_leading = Purpose::Convert.leading(messages, &INTERACTIONS);
        let system = writer.system(messages, n_leading);
        msg_json::Writer::new(out).object(|it| {
            it.optional("system_instruction", system, |it, text| it.str(&text));
            let rest = &messages[n_leading..];
            it.key("input").value(|out| writer.steps(rest, n_leading, out));
        });
    })
}

impl<'a> Writer<'a, '_> {
    /// Whether documents go back as they were, odd shapes included.
    pub(super) fn is_verbatim(&self) -> bool {
        self.purpose == Purpose::Return && self.objects.keeps_layout()
    }

    /// Whether a member that says nothing goes back to where it was.
    pub(super) fn keeps_raw(&self, raw: &RawJson) -> bool {
        self.objects.keeps_layout() || !matches!(raw.text(), "\"\"" | "null")
    }

    fn hoists(&self) -> bool {
        !self.is_verbatim() && self.options.later_system == LaterSystem::Hoist
    }

    fn plan<'b>(&self, extra: &'b Extra) -> Plan<'b> {
        self.objects.plan(extra, 0)
    }

    /// The text of `system_instruction`: the leading messages, and later ones that are hoisted; none if there is no
    /// text in them.
    pub(super) fn system(&mut self, messages: &'a [Message], leading: usize) -> Option<String> {
        let mut texts = Vec::new();
        for (at, it) in messages.iter().enumerate() {
            let is_hoisted = at >= leading && self.hoists() && it.role.is_system();
            if at >= leading && !is_hoisted {
                continue;
            }
            self.objects.losses.at_message(at);
            if is_hoisted {
                self.objects.losses.system_moved();
            }
            if it.role == Role::Developer {
                self.role_changed("developer", "system");
            }
            self.objects.lose_envelope(at, it);
            for (at, part) in it.parts.iter().enumerate() {
                match text_of_part(part) {
                    Some(text) => {
                        self.objects.text_losses(at, part);
                        self.objects.losses.foreign(part.extra(), None, Some(at));
                        texts.push(text);
                    }
                    None => self.objects.losses.part(at, part.kind()),
                }
            }
        }
        if texts.len() > 1 {
            let text = "the texts of the instructions are joined by blank lines";
            self.objects.losses.warn("convert::merged-parts", None, text);
        }
        Some(texts.join("\n\n")).filter(|it| !it.is_empty())
    }

    fn role_changed(&mut self, from: &str, to: &str) {
        let text = format!("the format has no role {from} here: the message goes to the {to}");
        self.objects.losses.warn("convert::role-changed", None, text);
    }

    /// The unknown members of a part but those that `skip` names; those of other formats are reported.
    fn members<'b>(&mut self, extra: &'b Extra, at: usize, skip: &[&str]) -> Vec<RawMember<'b>> {
        self.objects.losses.foreign(extra, Some(&INTERACTIONS), Some(at));
        let own = extra.iter(&INTERACTIONS).filter(|it| !skip.contains(&it.0));
        own.map(|(name, value)| RawMember { name: name.into(), value: value.text() }).collect()
    }
}
