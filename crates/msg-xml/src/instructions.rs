//! The prompt text that teaches a model this format (XT-46). Fixed but for the tools, so that it can be cached.

use crate::definition::ToolDefinition;
use crate::json::Json;
use crate::lex::trim;
use crate::options::Thinking;
use crate::schema::Node;

const HEAD: &str = "\
# Tools

You act by calling tools. To call one, write exactly this block in your reply:

<tool>
<server_name>local</server_name>
<tool_name>NAME</tool_name>
<arguments>
  <PARAMETER>value</PARAMETER>
</arguments>
</tool>

Rules:
";

const THINK: &str = "- Think before you act, on a line of its own in square brackets: [I will read the file first]\n";

const RULES: &str = "\
- Write one element per parameter, named exactly as listed below, and close every element.
- Give a list by repeating the element, an object by nesting elements.
- Put code, diffs, markup and text of several lines into CDATA: <content><![CDATA[...]]></content>. Nothing inside CDATA is escaped; write ]]> inside it as ]]]]><![CDATA[>.
- Outside CDATA write &amp; for & and &lt; for <.
- Several blocks in one reply are run in order.
- Never put a call into a code fence or backticks, and never write a result yourself: it arrives in the next message as \"Tool: NAME\", a line break and the result, or \"Error: \" and the reason.

Available tools:
";

/// Nesting of parameters that is listed.
const MAX_LEVEL: usize = 16;

/// The instructions for a list of tools. With [`Thinking::Off`] the line about thinking is left out.
///
/// ```
/// use msg_xml::{Thinking, ToolDefinition, instructions};
/// let text = instructions(&[ToolDefinition::new("ls")], Thinking::Extract);
/// assert!(text.ends_with("\n## ls\nParameters: none\n"));
/// ```
pub fn instructions(tools: &[ToolDefinition], thinking: Thinking) -> String {
    let mut out = String::from(HEAD);
    if thinking != Thinking::Off {
        out.push_str(THINK);
    }
    out.push_str(RULES);
    for tool in tools {
        describe(tool, &mut out);
    }
    out
}

fn describe(tool: &ToolDefinition, out: &mut String) {
    out.push_str(&format!("\n## {}\n", tool.name));
    if let Some(server) = tool.server_name.as_deref().filter(|s| *s != "local") {
        out.push_str(&format!("Server: {server}\n"));
    }
    if let Some(text) = tool.description.as_deref().map(trim).filter(|t| !t.is_empty()) {
        out.push_str(&format!("{text}\n"));
    }
    let schema = tool.schema();
    let mut lines = String::new();
    members(Node { root: &schema, schema: &schema }, 0, &mut lines);
    out.push_str(if lines.is_empty() { "Parameters: none\n" } else { "Parameters:\n" });
    out.push_str(&lines);
}

/// A line for each property, with what is below it.
fn members(node: Node<'_>, level: usize, out: &mut String) {
    let node = node.resolved();
    let properties = node.member("properties").and_then(Json::as_object);
    let Some(properties) = properties.filter(|_| level < MAX_LEVEL) else { return };
    let required = node.member("required").and_then(Json::as_array).unwrap_or_default();
    for (key, schema) in properties.iter() {
        let place = node.at(schema);
        let resolved = place.resolved();
        let description = |node: Node<'_>| {
            let text = node.member("description")?.as_str()?;
            let words = text.split([' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
            Some(words.collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
        };
        let text = description(place).or_else(|| description(resolved));
        let text = text.map(|text| format!(": {text}")).unwrap_or_default();
        let is_required = required.iter().any(|it| it.as_str() == Some(key));
        let needed = if is_required { ", required" } else { "" };
        let (indent, kind) = ("  ".repeat(level), type_name(resolved, 0));
        out.push_str(&format!("{indent}- {key} ({kind}{needed}){text}\n"));
        below(resolved, level + 1, out);
    }
}

/// Members of an object, or of the items of a list.
fn below(node: Node<'_>, level: usize, out: &mut String) {
    match node.member("items") {
        Some(items) => members(node.at(items), level, out),
        None => members(node, level, out),
    }
}

fn type_name(node: Node<'_>, level: usize) -> String {
    let node = node.resolved();
    let list = |key: &str| node.member(key).and_then(Json::as_array);
    if let Some(values) = list("enum") {
        let values: Vec<String> = values.iter().map(Json::text).collect();
        return format!("one of {}", values.join(", "));
    }
    if level >= MAX_LEVEL {
        return "any".to_owned();
    }
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(list).find(|it| !it.is_empty());
    let names: Vec<String> = match (alternatives, node.member("type")) {
        (Some(items), _) => items.iter().map(|it| type_name(node.at(it), level + 1)).collect(),
        (None, Some(Json::Array(names))) if !names.is_empty() => {
            names.iter().map(|name| one_type(node, name, level)).collect()
        }
        (None, name) => return one_type(node, name.unwrap_or(&Json::Null), level),
    };
    names.join(" or ")
}

fn one_type(node: Node<'_>, name: &Json, level: usize) -> String {
    match (name.as_str(), node.member("items")) {
        (Some("array"), Some(items)) => format!("list of {}", type_name(node.at(items), level + 1)),
        (Some("array"), None) => "list of any".to_owned(),
        (name, _) => name.unwrap_or("any").to_owned(),
    }
}
