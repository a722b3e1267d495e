//! Shapes that a reader understands and the API of the format refuses (MS-2): alternative words for roles, arguments
//! that are not text, empty lists. Also words that a request lacks and that follow from the rest; it is read again with
//! them.
//!
//! ```json
//! [{"role":"human","content":["hi"]}]
//! ```
//!
//! is read as a user message and written back unchanged, but an API of chat messages refuses both shapes. Does
//! not apply to a document that must be converted for the provider: a conversion writes the shapes of the API.

use msg_chainast::Profile;
use msg_codec::codec::{Context, Placement, forget_whole};
use msg_core::request::{RequestHead, Tool};
use msg_core::{Code, Diagnostic, Message, Origin, Part, RawJson, Role, Severity};
use msg_formats::{ReadOptions, Side};
use msg_openai::chat::forget_spellings;

use crate::api_shapes::{Completed, Judged};
use crate::document::Document;

/// The providers that define a format and refuse other shapes. Providers that imitate a format may accept more:
/// recorded requests with an empty `tool_calls` were answered (Mistral).
pub(crate) const STRICT: [&str; 7] =
    ["openai", "azure", "openai-responses", "anthropic", "gemini", "vertex", "generic"];

/// Moves the API's answer to a missing id to the finding of the chain about the same id.
pub(crate) fn give_answers(missing: &mut Vec<Diagnostic>, found: &mut [Diagnostic]) {
    missing.retain_mut(|it| {
        let is_same = |other: &&mut Diagnostic| {
            matches!(other.code.as_str(), "chain::empty-call-id" | "chain::empty-result-id")
                && (other.at.message, other.at.part) == (it.at.message, it.at.part)
        };
        if it.fix.is_none()
            && let Some(same) = found.iter_mut().find(is_same)
        {
            same.answer = it.answer.take().or(same.answer.take());
        }
        it.fix.is_some()
    });
}

/// A finding with its repair for each refused shape, in order. Linear in the notes of the reader.
pub(crate) fn refused_shapes<'a>(
    document: &'a Document,
    profile: Option<&Profile>,
) -> impl Iterator<Item = Diagnostic> + use<'a> {
    let is_asked = profile.is_some_and(|it| is_asked(it, document));
    let is_strict = profile.is_some_and(|it| is_strict(it, document));
    // Every API refuses a value of the wrong type.
    let is_refused = |it: &Diagnostic| it.code == "message::role-spelling" || is_wrong_type(it);
    let roles = document.notes().iter().filter(move |it| is_asked && is_refused(it));
    let shapes = document.shapes().iter().filter(move |_| is_strict);
    roles.chain(shapes).map(refused)
}

/// Whether a note says that a session was only partly read. Such a note is kept, even if it is information.
pub(crate) fn says_unread(it: &Diagnostic) -> bool {
    matches!(it.code.as_str(), "session::off-path" | "session::unknown-record")
}

/// The notes of the reader that are not about a refused shape.
pub(crate) fn other_notes<'a>(
    document: &'a Document,
    profile: Option<&Profile>,
) -> impl Iterator<Item = &'a Diagnostic> + use<'a> {
    let is_asked = profile.is_some_and(|it| is_asked(it, document));
    document.notes().iter().filter(move |it| !(is_asked && is_wrong_type(it)))
}

pub(crate) fn is_wrong_type(it: &Diagnostic) -> bool {
    it.code == "message::wrong-type"
}

/// Whether a document is in a format that the provider takes.
pub(crate) fn is_asked(profile: &Profile, document: &Document) -> bool {
    let format = document.format().name();
    profile.in_format(format).format == format
}

/// Whether a document is in a format that the provider takes and also defines.
pub(crate) fn is_strict(profile: &Profile, document: &Document) -> bool {
    let own = matches!(
        (&*profile.name, document.format().name()),
        ("bedrock", "bedrock") | ("gemini-interactions", "interactions")
    );
    is_asked(profile, document) && (own || STRICT.contains(&&*profile.name))
}

pub(crate) fn refused(note: &Diagnostic) -> Diagnostic {
    let text = format!("{}, which the API refuses", note.message());
    let mut res = Diagnostic::error(Code::new("profile::shape"), text);
    res.at = note.at.clone();
    match Context::is_carried(note) {
        true => res,
        false => res.with_fix("written as the API has it"),
    }
}

/// The names of tools that the provider does not accept.
pub(crate) fn tool_names(head: &RequestHead, profile: &Profile) -> Vec<Diagnostic> {
    let functions = head.tools.iter().filter_map(Tool::function);
    let bad = functions.filter(|it| !it.name.is_empty() && !profile.accepts_tool_name(&it.name));
    let found = bad.map(|it| {
        let text = profile.refused_tool_name(&it.name);
        Diagnostic::error(Code::new("profile::tool-name"), text).at_pointer(&*it.pointer)
    });
    found.collect()
}

/// Drops the layout of a message, so it is written in the shapes of the API; also the layout of what follows results in
/// the same message of the source.
pub(crate) fn forget_shapes_at(messages: &mut [Message], at: usize) {
    messages.get_mut(at).into_iter().for_each(forget_shapes);
    if let Some([results, rest]) = messages.get_mut(at..at + 2)
        && (&results.role, &rest.role) == (&Role::Tool, &Role::User)
    {
        let is_apart = [Origin::Anthropic, Origin::Gemini]
            .iter()
            .any(|it| Placement::in_layout(rest.extra.layout(it)).has(Placement::APART));
        if !is_apart {
            forget_shapes(rest);
        }
    }
}

fn forget_shapes(message: &mut Message) {
    forget_spellings(message);
    let calls = message.extra.get(&Origin::OpenAi, "tool_calls").map(RawJson::text);
    // The API refuses an empty list, so it is dropped. Other unread values stay.
    if calls.is_some_and(|it| {
        it.split_ascii_whitespace().eq(["[]"]) || it.split_ascii_whitespace().eq(["[", "]"])
    }) {
        message.extra.remove(&Origin::OpenAi, "tool_calls");
    }
    message.parts.iter_mut().for_each(forget_shape);
}

fn forget_shape(part: &mut Part) {
    match part {
        Part::ToolCall(_) => {}
        Part::Text(_) | Part::Image(_) => part.extra_mut().clear_layout(),
        Part::ToolResult(it) => {
            it.extra.clear_layout();
            it.content.parts_mut().iter_mut().for_each(forget_shape);
        }
        // Other parts may carry their whole item.
        other => [Origin::Responses, Origin::Interactions]
            .iter()
            .for_each(|it| forget_whole(other.extra_mut(), it)),
    }
}

impl Document {
    /// Fills in missing words so that all parts are understood, and returns them as information. If all parts are
    /// understood already, this is one pass over them.
    pub(crate) fn complete(&mut self, text: &[u8], read: &ReadOptions) -> Vec<Diagnostic> {
        let is_known = |it: &Part| match it {
            Part::Other(_) => false,
            Part::ToolResult(it) => {
                !it.content.parts().iter().any(|it| matches!(it, Part::Other(_)))
            }
            _ => true,
        };
        let is_odd = self.notes().iter().any(is_wrong_type);
        if !is_odd && self.messages().iter().flat_map(|it| &it.parts).all(is_known) {
            return Vec::new();
        }
        let profile = Profile::named("generic");
        let is_of_an_api = self.format().is_of_an_api() && !self.is_edited();
        let judged = profile.filter(|_| is_of_an_api).map(|it| (it, Judged::Request));
        let Some((again, found)) = judged.and_then(|it| self.completed_as(text, read, it)) else {
            return Vec::new();
        };
        self.replace_with(again);
        let found = found.into_iter().filter(|it| it.fix.is_some());
        let inform = |mut it: Diagnostic| {
            (it.severity, it.answer) = (Severity::Info, None);
            it
        };
        found.map(inform).collect()
    }

    /// The document with the missing words filled in that the API requires and that have only one possible value, with
    /// its new text as the source; and the findings (CA-72a).
    pub(crate) fn completed(
        &self,
        text: &[u8],
        read: &ReadOptions,
        judged: (Option<&Profile>, bool),
    ) -> Option<(Document, Vec<Diagnostic>)> {
        let (profile, judged) = self.judged_by(judged)?;
        self.completed_as(text, read, (&profile, judged))
    }

    fn completed_as(
        &self,
        text: &[u8],
        read: &ReadOptions,
        (profile, judged): (&Profile, Judged),
    ) -> Option<(Document, Vec<Diagnostic>)> {
        let completed = Completed::of(text, self.format(), (profile, judged))?;
        let options = self.read_options().with_from(Some(self.format()));
        let mut again = Document::read(completed.text.as_bytes(), &options).ok()?;
        again.say_who_made_it(read.made_by.as_ref());
        let found = completed.found(again.messages(), profile, self.format());
        again.set_source(completed.text.into_bytes());
        Some((again, found))
    }
}

// A system prompt among the messages of an Anthropic request, although the API has a member for it (PM-244):
//
// ```text
// {"messages":[{"role":"system","content":"Be brief."},{"role":"user",…}]}
// {"system":"Be brief.","messages":[{"role":"user",…}]}                      repaired
// ```

/// Reports a system prompt that is among the messages.
pub(crate) fn check_prompt(document: &Document, profile: Option<&Profile>) -> Vec<Diagnostic> {
    let profile = profile.filter(|it| has_prompt_member(document, it));
    let found = profile.into_iter().flat_map(|profile| {
        listed_prompts(document.messages()).map(|at| {
            let mut it = misplaced_prompt(at).with_fix("move it to `system`");
            it.answer = profile.answer(&it).cloned();
            it
        })
    });
    found.collect()
}

/// Takes the system prompt out of the list of messages, and returns the edits.
pub(crate) fn mend_prompt(messages: &mut [Message]) -> Vec<Diagnostic> {
    let places: Vec<usize> = listed_prompts(messages).collect();
    places.iter().for_each(|at| messages[*at].clear_layout());
    places.into_iter().map(|at| misplaced_prompt(at).with_fix("moved to `system`")).collect()
}

/// Whether a document is a request that is sent to Anthropic unchanged.
pub(crate) fn has_prompt_member(document: &Document, profile: &Profile) -> bool {
    &*profile.name == "anthropic"
        && document.format().name() == "anthropic"
        && document.side() == Side::Conversation
        && document.head().is_some()
}

fn misplaced_prompt(at: usize) -> Diagnostic {
    let text = "the system prompt is among the messages, and not in `system`";
    Diagnostic::error(Code::new("profile::setting"), text).at_message(at)
}

/// The system messages at the beginning that were read from the list of messages.
fn listed_prompts(messages: &[Message]) -> impl Iterator<Item = usize> {
    let is_listed = |it: &Message| {
        Placement::in_layout(it.extra.layout(&Origin::Anthropic)).has(Placement::LISTED)
    };
    let leading = messages.iter().enumerate().take_while(|it| it.1.role.is_system());
    leading.filter(move |it| is_listed(it.1)).map(|it| it.0)
}
