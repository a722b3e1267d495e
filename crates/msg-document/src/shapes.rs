//! Shapes that a reader understands and the API of the format does not take (MS-2): words for roles, argument
//! texts that are not texts, empty lists.
//!
//! ```json
//! [{"role":"human","content":["hi"]}]
//! ```
//!
//! is read as a user's message and goes back as it came; an API of chat messages refuses both. Says nothing of
//! a document that has to be converted for the provider that is asked: a conversion writes the API's shapes.

use msg_chainast::Profile;
use msg_codec::codec::{Placement, forget_whole};
use msg_core::{Code, Diagnostic, Message, Origin, Part, RawJson, Role};

use crate::document::Document;

/// Who defines a format, and refuses what it does not have; of those who imitate one it is not known, and recorded
/// requests with an empty `tool_calls` were answered (Mistral).
pub(crate) const STRICT: [&str; 7] =
    ["openai", "azure", "openai-responses", "anthropic", "gemini", "vertex", "generic"];

/// What is to be said of each such shape, in order, with its mending. Linear in the notes of the reader.
pub(crate) fn refused_shapes<'a>(
    document: &'a Document,
    profile: Option<&Profile>,
) -> impl Iterator<Item = Diagnostic> + use<'a> {
    let is_asked = profile.is_some_and(|it| is_asked(it, document));
    let is_strict = profile.is_some_and(|it| is_strict(it, document));
    // A value of a wrong type no API takes.
    let is_refused = |it: &Diagnostic| it.code == "message::role-spelling" || is_wrong_type(it);
    let roles = document.notes().iter().filter(move |it| is_asked && is_refused(it));
    let shapes = document.content.shapes.iter().filter(move |_| is_strict);
    roles.chain(shapes).map(refused)
}

/// What of the notes of the reader is not said of a refused shape.
pub(crate) fn other_notes<'a>(
    document: &'a Document,
    profile: Option<&Profile>,
) -> impl Iterator<Item = &'a Diagnostic> + use<'a> {
    let is_asked = profile.is_some_and(|it| is_asked(it, document));
    document.notes().iter().filter(move |it| !(is_asked && is_wrong_type(it)))
}

fn is_wrong_type(it: &Diagnostic) -> bool {
    it.code == "message::wrong-type"
}

/// Whether a document is in a format that the provider takes.
pub(crate) fn is_asked(profile: &Profile, document: &Document) -> bool {
    let format = document.format().name();
    profile.in_format(format).format == format
}

/// Whether it is, and the provider is one that defines the format.
pub(crate) fn is_strict(profile: &Profile, document: &Document) -> bool {
    is_asked(profile, document) && STRICT.contains(&&*profile.name)
}

fn refused(note: &Diagnostic) -> Diagnostic {
    let text = format!("{}, which the API refuses", note.message());
    let mut res = Diagnostic::error(Code::new("profile::shape"), text);
    res.at = note.at.clone();
    res.with_fix("written as the API has it")
}

/// Forgets in what shapes a message came, so that it is written in those of the API: with what follows results in the
/// same message of the source.
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
    message.extra.clear_layout();
    let calls = message.extra.get(&Origin::OpenAi, "tool_calls").map(RawJson::text);
    // An empty list is not a member of the API; anything else that is not a list of calls is carried as it is.
    if calls.is_some_and(|it| {
        it.split_ascii_whitespace().eq(["[]"]) || it.split_ascii_whitespace().eq(["[", "]"])
    }) {
        message.extra.remove(&Origin::OpenAi, "tool_calls");
    }
    message.parts.iter_mut().for_each(forget_shape);
}

fn forget_shape(part: &mut Part) {
    match part {
        Part::Text(_) | Part::Image(_) | Part::ToolCall(_) => part.extra_mut().clear_layout(),
        Part::ToolResult(it) => {
            it.extra.clear_layout();
            it.content.parts_mut().iter_mut().for_each(forget_shape);
        }
        // An item that begins with something else may be kept whole.
        other => forget_whole(other.extra_mut(), &Origin::Responses),
    }
}
