//! Tool results: a message each.

use msg_core::{Message, Part, ToolResult};

use super::{OPENAI, Writer, content::fits};
use crate::chat::shape::message;
use msg_codec::codec::{Plan, RawMember, bit, mask, members_of};

/// A message of which a tool message takes name, unknown members and layout.
#[derive(Clone, Copy)]
struct Envelope<'m> {
    role: &'m str,
    name: Option<&'m str>,
    message: Option<&'m Message>,
}

impl Writer<'_> {
    /// A tool message: one for each of its results.
    pub(super) fn tool_message(&mut self, it: &Message, list: &mut msg_json::Writer<'_>) {
        let count = it.tool_results().count();
        if count == 0 {
            return self.objects.losses.no_result();
        }
        if count > 1 {
            self.split();
        }
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), None);
        let name = it.name.as_deref();
        if name.is_some() && it.tool_results().all(|it| it.name.is_some()) {
            self.objects.losses.member(None, "name");
        }
        let mut envelope = Envelope { role: it.role.as_str(), name, message: Some(it) };
        for (at, part) in it.parts.iter().enumerate() {
            match part {
                Part::ToolResult(result) => {
                    self.result(at, result, envelope, list);
                    envelope.message = None;
                }
                _ => self.objects.losses.part(at, part.kind()),
            }
        }
    }

    /// The results of a message that is not a tool message.
    pub(super) fn results(&mut self, it: &Message, list: &mut msg_json::Writer<'_>) {
        self.split();
        let envelope = Envelope { role: "tool", name: None, message: None };
        for (at, part) in it.parts.iter().enumerate() {
            if let Part::ToolResult(result) = part {
                self.result(at, result, envelope, list);
            }
        }
    }

    fn split(&mut self) {
        let text = "each tool result becomes a message of its own";
        self.objects.losses.warn("convert::split-message", None, text);
    }

    fn result(
        &mut self,
        at: usize,
        it: &ToolResult,
        envelope: Envelope<'_>,
        list: &mut msg_json::Writer<'_>,
    ) {
        self.objects.losses.foreign(&it.extra, Some(&OPENAI), Some(at));
        self.objects.losses.members(Some(at), &[("is_error", it.is_error)]);
        let mut raw = Vec::new();
        let mut plan = Plan::default();
        if let Some(message) = envelope.message {
            raw = members_of(&message.extra, &OPENAI, &[]);
            plan = self.plan(&message.extra);
        }
        raw.extend(members_of(&it.extra, &OPENAI, &[]));
        let contents = self.result_contents(at, it);
        // Without a word, a result leaves the place to a content that is carried raw.
        let is_empty = contents.iter().all(|it| it.1.as_text() == Some(""))
            && (contents.is_empty() || raw.iter().any(|it| it.name == "content"));
        let name = it.name.as_deref().or(envelope.name).filter(|it| !it.is_empty());
        let want = bit(message::ROLE)
            | mask(wants(&raw, plan, message::CALL_ID, it.call_id.is_empty()), message::CALL_ID)
            | mask(name.is_some(), message::NAME)
            | mask(wants(&raw, plan, message::CONTENT, is_empty), message::CONTENT);
        let lost = list.value(|out| {
            message::SHAPE.write(out, plan, want, &raw, |out, code| match code {
                message::ROLE => msg_json::write_str(out, role(plan, envelope)),
                message::CALL_ID => plan.write_id(out, code, &it.call_id),
                message::NAME => msg_json::write_str(out, name.unwrap_or_default()),
                _ => self.content(&contents, plan.variant(code), out),
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }

    fn result_contents<'m>(&mut self, at: usize, it: &'m ToolResult) -> Vec<(usize, &'m Part)> {
        let mut parts = Vec::with_capacity(it.content.parts().len());
        for part in it.content.parts() {
            let is_thought = matches!(part, Part::Reasoning(it) if self.is_in_content(it));
            if fits(part) || is_thought {
                parts.push((at, part));
            } else {
                self.objects.losses.part(at, part.kind());
            }
        }
        parts
    }
}

/// Whether a member goes out though the model has nothing for it: unless the source had none, or
/// had one that is carried raw.
fn wants(raw: &[RawMember<'_>], plan: Plan<'_>, code: u8, is_empty: bool) -> bool {
    let name = message::SHAPE.name(code);
    !is_empty || (plan.may_have(code) && raw.iter().all(|it| it.name != name))
}

fn role<'m>(plan: Plan<'_>, envelope: Envelope<'m>) -> &'m str {
    if plan.variant(message::ROLE) == message::ROLE_FUNCTION { "function" } else { envelope.role }
}
