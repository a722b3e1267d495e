//! Parts of another provider: types that the format of a document does not have, and that belong to another
//! one of which msg knows it (MS-9).
//!
//! Judges by the name of the type (of Gemini's parts, which have none, by their member) alone, and only parts that
//! the reader of the format did not understand, in messages and in the results of tools. A type that nobody is
//! known to own says nothing: providers add types.
//!
//! ```json
//! [{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]
//! ```
//!
//! read as `openai` holds a `tool_result` part, which is Anthropic's.

use std::borrow::Cow;

use msg_codec::codec::{owner_of_member, owner_of_type};
use msg_core::{Code, Diagnostic, Message, Origin, Other, Part};
use msg_json::Reader;

/// Members of a message in which only other formats keep what it says.
const LISTS: [(&str, &str); 3] =
    [("parts", "gemini"), ("content", "openai"), ("tool_calls", "openai")];

/// What is of another provider in messages of one format, in order. Linear in the parts that the reader did
/// not understand.
pub(crate) fn foreign_parts(messages: &[Message]) -> impl Iterator<Item = Diagnostic> + '_ {
    messages.iter().enumerate().flat_map(|(at, message)| {
        let list = foreign_list(message).map(move |it| it.at_message(at));
        let parts = message.parts.iter().enumerate();
        list.into_iter()
            .chain(parts.filter_map(move |(n, part)| Some(foreign_part(part)?.at_part(at, n))))
    })
}

/// A part, or one in the content of a result, that is of another provider.
fn foreign_part(part: &Part) -> Option<Diagnostic> {
    match part {
        Part::Other(it) => foreign_other(it),
        // Results do not nest in any format that is read.
        Part::ToolResult(it) => it.content.parts().iter().find_map(|it| match it {
            Part::Other(it) => foreign_other(it),
            _ => None,
        }),
        _ => None,
    }
}

fn foreign_other(it: &Other) -> Option<Diagnostic> {
    if !is_judged(&it.format) {
        return None;
    }
    let members = Members::of(it.value.text())?;
    let (what, name, owner) = match members.kind {
        // Interactions have calls of this name too, in lists of their own.
        Some(kind) if it.format == Origin::Interactions && kind == "function_call" => return None,
        Some(kind) => ("type", kind.clone(), owner_of_type(&kind)?),
        None => ("member", members.tag?.0.into(), members.tag?.1),
    };
    (owner != it.format.as_str()).then(|| foreign(what, &name, owner))
}

/// A member that another format keeps the parts of a message in. Beside parts that were read only calls count:
/// interfaces of chats keep `parts` beside the `content` that they say again.
fn foreign_list(message: &Message) -> Option<Diagnostic> {
    message.extra.all().find_map(|(format, member, value)| {
        let (_, owner) = LISTS.into_iter().find(|it| it.0 == member)?;
        let is_all = message.parts.is_empty() || member == "tool_calls";
        let is_full = !matches!(value.text(), "null" | "[]" | "\"\"");
        (is_judged(format) && format.as_str() != owner && is_all && is_full)
            .then(|| foreign("member", member, owner))
    })
}

/// Whether a format is one of those whose parts are told apart.
fn is_judged(format: &Origin) -> bool {
    matches!(
        format,
        Origin::OpenAi
            | Origin::Anthropic
            | Origin::Responses
            | Origin::Gemini
            | Origin::Interactions
            | Origin::Bedrock
    )
}

fn foreign(what: &str, name: &str, owner: &str) -> Diagnostic {
    let text = format!("the {what} {name} is of {owner}, which --from {owner} reads");
    Diagnostic::error(Code::new("message::foreign-part"), text)
}

/// What a part says it is.
#[derive(Default)]
struct Members<'a> {
    /// The last member `type` (MS-8), if it is a string.
    kind: Option<Cow<'a, str>>,
    /// The first member by which a part without a type is known, and whose it is.
    tag: Option<(&'static str, &'static str)>,
}

impl<'a> Members<'a> {
    /// Of a JSON object; nothing for another value.
    fn of(json: &'a str) -> Option<Self> {
        let mut reader = Reader::from_text(json);
        reader.begin_object().ok()?;
        let mut found = Members::default();
        while let Some(key) = reader.next_key().ok()? {
            let value = reader.raw().ok()?;
            if key.text == "type" {
                found.kind = Reader::from_text(value).string().ok().map(|it| it.text);
            }
            found.tag = found.tag.or_else(|| owner_of_member(&key.text));
        }
        Some(found)
    }
}
