//! Calls in the agent form: `{"id","name","arguments"}`, and the names that other versions gave
//! these members (MS-12).

use msg_core::{Arguments, Error, Extra, Origin, ToolCall, reading::Source};
use msg_json::{Kind, Writer, tokens, validate};

use super::write::write_unknown;

/// The members of a call that the model knows.
pub(super) const MEMBERS: [&str; 3] = ["id", "name", "arguments"];

/// Reads the object of a call. Arguments that are a string are that text, any other value is its
/// compact source text (MS-13).
pub(super) fn read(source: &mut Source<'_, '_>) -> Result<ToolCall, Error> {
    let start = source.begin_object()?;
    let (mut id, mut name) = (None, None);
    let mut arguments: Option<String> = None;
    let mut extra = Extra::default();
    while let Some(key) = source.next_key()? {
        match &*key {
            "id" | "tool_call_id" => source.text_into(&mut id, &key)?,
            "name" | "tool_name" => source.text_into(&mut name, &key)?,
            "arguments" | "args" => {
                source.note_duplicate(&arguments, &key);
                arguments = Some(read_arguments(source)?);
            }
            _ => source.unknown(&key, Origin::Agent, &mut extra)?,
        }
    }
    let name = name.ok_or(Error::missing(source.message, start, "a call with a `name`"))?;
    let arguments = Arguments::from(arguments.unwrap_or_default());
    Ok(ToolCall { extra, ..ToolCall::new(id.unwrap_or_default(), name, arguments) })
}

fn read_arguments(source: &mut Source<'_, '_>) -> Result<String, Error> {
    if source.peek()? == Kind::String {
        return Ok(source.string()?.into_owned());
    }
    Ok(tokens(source.raw_text()?).collect())
}

/// Writes the object of a call in the documented form.
pub(super) fn write(call: &ToolCall, out: &mut Writer<'_>) {
    out.object(|it| {
        it.key("id").str(&call.id);
        it.key("name").str(&call.name);
        write_arguments(call.arguments.text(), it.key("arguments"));
        write_unknown(&call.extra, &MEMBERS, it);
    });
}

/// Writes arguments as their value; text that is no JSON, or is a JSON string, as a string.
pub(super) fn write_arguments(text: &str, out: &mut Writer<'_>) {
    if is_value(text) { out.compact(text) } else { out.str(text) }
}

/// Whether the text is JSON and no string.
pub(super) fn is_value(text: &str) -> bool {
    !text.trim_start().starts_with('"') && validate(text).is_ok()
}
