//! The tools of a request, both ways.

use msg_core::RawJson;
use msg_core::request::{Function, Tool, ToolChoice};
use msg_json::Writer;

use super::Spelling;

/// A list of tools, functions in either spelling.
pub(super) fn read(raw: &RawJson) -> Option<Vec<Tool>> {
    let tools: Vec<RawJson> = raw.parse().ok()?;
    Some(tools.into_iter().map(|it| Tool::of(it, read_tool)).collect())
}

/// The older list of functions.
pub(super) fn read_functions(raw: &RawJson) -> Option<Vec<Tool>> {
    let tools: Vec<RawJson> = raw.parse().ok()?;
    tools.iter().map(|it| function(it.members()?).map(Tool::Function)).collect()
}

/// `{"type":"function","function":{…}}`, or the members of the function beside the type.
fn read_tool(raw: &RawJson) -> Option<Function> {
    let mut members = raw.members()?;
    let kind = members.iter().position(|it| it.0 == "type")?;
    (members.remove(kind).1.parse::<String>().ok()? == "function").then_some(())?;
    let Some(inner) = members.iter().position(|it| it.0 == "function") else {
        return function(members);
    };
    let mut res = function(members.remove(inner).1.members()?)?;
    res.rest.extend(members);
    Some(res)
}

fn function(mut members: Vec<(String, RawJson)>) -> Option<Function> {
    members.retain(|it| it.1.text() != "null");
    Function::of_members(members, "parameters")
}

/// The value of `tools`.
pub(crate) fn write_tools<'t>(
    functions: impl IntoIterator<Item = &'t Function>,
    spelling: Spelling,
    it: &mut Writer<'_>,
) {
    it.array(functions, |it, tool| element(tool, spelling, it));
}

fn element(tool: &Function, spelling: Spelling, it: &mut Writer<'_>) {
    it.object(|it| {
        it.key("type").str("function");
        match spelling {
            Spelling::Chat => it.key("function").object(|it| members(tool, it)),
            Spelling::Responses => members(tool, it),
        }
    });
}

fn members(tool: &Function, it: &mut Writer<'_>) {
    it.key("name").str(&tool.name);
    it.optional("description", tool.description.as_ref(), |it, text| it.str(text));
    it.optional("parameters", tool.parameters.as_ref(), |it, raw| it.raw(raw.text()));
    it.optional("strict", tool.strict, |it, is| it.bool(is));
}

/// The value of `tool_choice`.
pub(crate) fn write_choice(choice: &ToolChoice, spelling: Spelling, it: &mut Writer<'_>) {
    match (choice, spelling) {
        (ToolChoice::Auto, _) => it.str("auto"),
        (ToolChoice::None, _) => it.str("none"),
        (ToolChoice::Required, _) => it.str("required"),
        (ToolChoice::Tool(name), Spelling::Chat) => it.object(|it| {
            it.key("type").str("function");
            it.key("function").object(|it| it.key("name").str(name));
        }),
        (ToolChoice::Tool(name), Spelling::Responses) => it.object(|it| {
            it.key("type").str("function");
            it.key("name").str(name);
        }),
    }
}
