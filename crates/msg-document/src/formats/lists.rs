//! The formats of this workspace that are a list of messages, each a row: the native form (MS-7), `AgentMessage`
//! (MS-11) and plain messages (MS-10). Reading and writing are `msg_core`'s.

use msg_core::{Message, Report, native};
use msg_forms::{agent, plain};

use super::is_of_a_turn;
use crate::codec::{Codec, Content, Likelihood, WriteOptions};
use crate::json::{Wrapper, WriteList};
use crate::outline::{List, Outline, Record, ValueKind, is_chat, is_known_chat};
use crate::refusal::Refusal;

type ReadList = fn(&[u8]) -> Result<(Vec<Message>, Report), msg_core::Error>;

/// A list of messages as a format.
pub(super) struct ListFormat {
    name: &'static str,
    about: &'static str,
    likelihood: fn(&Outline<'_>) -> Likelihood,
    /// Where the list is, and what surrounds it.
    place: fn(&[u8], WriteList) -> Wrapper,
    read: ReadList,
    write: WriteList,
    /// Whether calls and results may come without ids.
    lacks_ids: bool,
    has_text_calls: bool,
}

pub(super) static NATIVE: ListFormat = ListFormat {
    name: "native",
    about: "This program's own message JSON: an array of `{role, parts}`",
    likelihood: native_likelihood,
    place: Wrapper::none,
    read: native::read,
    write: write_native,
    lacks_ids: true,
    has_text_calls: false,
};

pub(super) static AGENT: ListFormat = ListFormat {
    name: "agent",
    about: "An array of `AgentMessage`, or a snapshot with `messages`",
    likelihood: agent_likelihood,
    place: Wrapper::around,
    read: agent::read,
    write: |messages, options, out| agent::write(messages, options.agent_form, out),
    lacks_ids: false,
    has_text_calls: false,
};

pub(super) static PLAIN: ListFormat = ListFormat {
    name: "plain",
    about: "An array of `{role, content}`",
    likelihood: plain_likelihood,
    place: Wrapper::none,
    read: plain::read,
    write: write_plain,
    lacks_ids: false,
    has_text_calls: true,
};

impl Codec for ListFormat {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
        (self.likelihood)(outline)
    }

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        let wrapper = (self.place)(bytes, self.write);
        let list = wrapper.list();
        let (messages, report) =
            (self.read)(&bytes[list.clone()]).map_err(|it| Refusal::from(it).moved(list.start))?;
        Ok(Content::new(messages, wrapper, report))
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Report {
        (self.write)(messages, options, out)
    }

    fn lacks_ids(&self) -> bool {
        self.lacks_ids
    }

    fn has_text_calls(&self) -> bool {
        self.has_text_calls
    }
}

fn write_native(messages: &mut [Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    if options.provenance {
        messages.iter_mut().for_each(Message::show_provenance);
    }
    native::write(messages, out);
    Report::new()
}

fn write_plain(messages: &mut [Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
    if let Some(max_chars) = options.preview {
        plain::write_previews(messages, max_chars, out);
        return Report::new();
    }
    if !options.encode.keeps_layout() {
        messages.iter_mut().for_each(Message::clear_layout);
    }
    plain::write(messages, out)
}

fn native_likelihood(outline: &Outline<'_>) -> Likelihood {
    // Nothing surrounds the native list.
    let Some(list) = outline.list("") else { return Likelihood::No };
    let is_ours = |it: &Record<'_>| {
        it.has("role") && it.is_list("parts") && it.parts().all(|it| it.kind.is_some())
    };
    match list.records().next() {
        None if list.is_empty() => Likelihood::Possible,
        None => Likelihood::No,
        Some(_) if list.records().any(is_of_a_turn) => Likelihood::No,
        Some(_) if list.records().all(is_ours) => Likelihood::Likely,
        Some(_) => Likelihood::No,
    }
}

fn agent_likelihood(outline: &Outline<'_>) -> Likelihood {
    let Some(list) = outline.messages() else { return Likelihood::No };
    // A request that names its model is not a snapshot.
    let is_snapshot = outline.member("model").is_none();
    // Parts beside a content are of another format.
    let is_message = |it: &Record<'_>| it.has("content") && !it.is_list("parts");
    match list.records().next() {
        None if list.is_empty() && is_snapshot => Likelihood::Possible,
        Some(_) if !list.records().all(is_message) => Likelihood::No,
        Some(_) if list.records().any(is_agent) => Likelihood::Certain,
        Some(_) if is_snapshot && list.records().any(is_known_chat) => Likelihood::Possible,
        _ => Likelihood::No,
    }
}

/// A role with a capital, or content that is tagged with its kind.
fn is_agent(record: &Record<'_>) -> bool {
    const TAGS: [&str; 5] = ["Text", "ToolCalls", "ToolResult", "MultiPart", "Json"];
    let tagged = record.content_object().is_some_and(|it| {
        it.kind.is_some_and(|it| it == "Text" || it == "Json") || TAGS.iter().any(|tag| it.has(tag))
    });
    const ROLES: [&str; 5] = ["System", "Developer", "User", "Assistant", "Tool"];
    tagged || record.role.is_some_and(|it| ROLES.contains(&it)) && record.has("content")
}

fn plain_likelihood(outline: &Outline<'_>) -> Likelihood {
    // Nothing surrounds the list of plain messages.
    match outline.list("") {
        Some(list) if has_headed_results(list) => Likelihood::Certain,
        Some(list) if list.is_empty() => Likelihood::Possible,
        Some(list) if list.records().all(is_chat) && list.records().any(is_known_chat) => {
            Likelihood::Possible
        }
        _ => Likelihood::No,
    }
}

/// Whether results say by their first line whose they are, and no message has members for calls: those are in the
/// text.
fn has_headed_results(list: &List<'_>) -> bool {
    const OF_CALLS: [&str; 3] = ["tool_calls", "tool_call_id", "function_call"];
    let is_result = |it: &Record<'_>| it.role == Some("tool") && it.is_headed();
    let is_plain = |it: &Record<'_>| {
        is_chat(it)
            && it.member("content") == Some(ValueKind::Text)
            && !OF_CALLS.iter().any(|name| it.has(name))
    };
    list.records().any(is_result) && list.records().all(is_plain)
}
