//! Which values count as the same at another place or in another spelling, and what a report explains: the one
//! table of the ledger.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use msg_codec::DataUrl;
use msg_core::Diagnostic;

use super::Told;
use super::words::{is_of_formats, is_word, may_be_empty};
use crate::ledger::leaves::{Frame, Leaf, walk};
use crate::text_calls::{self, SaidInText};

/// Settings of a request, which each format spells differently. The reader and writer of its head account for them.
const SETTINGS: &[&str] = &[
    "budget_tokens",
    "disable_parallel_tool_use",
    "effort",
    "function_call",
    "logprobs",
    "modalities",
    "parallel_tool_calls",
    "reasoning_effort",
    "responseLogprobs",
    "responseMimeType",
    "responseModalities",
    "response_mime_type",
    "serviceTier",
    "service_tier",
    "strict",
    "thinkingBudget",
    "thinkingLevel",
    "thinking_budget",
    "thinking_level",
    "top_logprobs",
];

/// Members whose words a provider may capitalise, besides format words and settings.
const IN_CASE: &[&str] = &[
    "detail",
    "finishReason",
    "finish_reason",
    "format",
    "language",
    "level",
    "outcome",
    "reason",
    "stopReason",
    "stop_reason",
];

/// The maximum depth of a request inside its envelope: `{"request":{"contents":[…]}}`.
const BODY: usize = 2;

/// Members of a body that contain the conversation.
const CONVERSATION: &[&str] =
    &["messages", "input", "contents", "steps", "output", "outputs", "choices", "candidates"];

/// Members of a body that contain system text.
const SYSTEMS: &[&str] = &["system", "systemInstruction", "system_instruction", "instructions"];

/// Members with schemas in OpenAPI spelling, and the OpenAPI spellings that differ from JSON Schema (RQ-3).
const OPENAPI: [&[&str]; 2] = [
    &["functionDeclarations", "function_declarations", "responseSchema", "response_schema"],
    &["type", "nullable", "format", "enum", "propertyOrdering", "property_ordering"],
];

/// The types of contents that a result may contain.
const CONTENTS: &[&str] = &["\"text\"", "\"image\"", "\"audio\"", "\"document\"", "\"video\""];

/// Data that applications or providers keep outside the conversation, by format or member name, and the members there
/// that do belong to the conversation; for `turns`, those that do not.
const BESIDE: &[(&str, &[&str])] = &[("choices", &["message"]), ("candidates", &["content"])];

/// The bookkeeping of turns, which messages do not have (OA-6).
const OF_TURNS: &[&str] =
    &["id", "timestamp", "finished", "finish_reason", "metadata", "start_time", "end_time"];

/// Members of an agent's records whose texts belong to the conversation; all others are bookkeeping.
const OF_RECORDS: &[&str] = &[
    "text",
    "thinking",
    "content",
    "output",
    "result",
    "value",
    "message",
    "summary",
    "reasoning",
    "tool",
    "tool_name",
    "data",
    "url",
    "signature",
    "system",
    "parts",
];

/// Whether the names below a member are data. The first levels of a document are its body.
pub(super) fn is_free(name: &str, depth: usize) -> bool {
    depth > 2 && is_of_application(name)
}

/// Members whose values, names included, belong to the application: the arguments of a call.
fn is_of_application(name: &str) -> bool {
    holds_arguments(name)
        || matches!(
            name,
            "response"
                | "result"
                | "parameters"
                | "input_schema"
                | "inputSchema"
                | "parametersJsonSchema"
                | "responseJsonSchema"
                | "schema"
        )
}

/// Whether a member contains the arguments of a call.
pub(super) fn holds_arguments(name: &str) -> bool {
    matches!(name, "arguments" | "input" | "args" | "tool_kwargs")
}

/// Whether a string in this member contains an object.
pub(super) fn holds_json(name: &str) -> bool {
    matches!(name, "arguments" | "input" | "value" | "stringValue")
}

/// Whether a member of a body contains the conversation.
pub(super) fn holds_conversation(name: &str) -> bool {
    name == "turns" || name == "conversations" || CONVERSATION.contains(&name)
}

/// The hash of a name, the same for all spellings: `is_error`, `isError`; the arguments of a call have one name. The
/// `const` of a schema may become an `enum` of one value (RQ-3).
pub(super) fn name_hash(name: &str) -> u64 {
    let name = match name {
        "const" => "enum",
        name if holds_arguments(name) => "arguments",
        name => name,
    };
    let letters = name.bytes().filter(|it| *it != b'_').map(|it| it.to_ascii_lowercase());
    letters.fold(0xcbf2_9ce4_8422_2325, |hash, it| {
        (hash ^ u64::from(it)).wrapping_mul(0x100_0000_01b3)
    })
}

/// What a finding in a report accounts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The named member.
    Named,
    /// Everything at its place.
    Place,
    /// Nothing: a value only moved.
    Nothing,
}

/// The role was replaced by one that the target has.
const ROLE_CHANGED: &str = "convert::role-changed";

/// Findings about values that moved or are spelled differently.
const MOVES: &[&str] = &[
    "convert::order-lost",
    "convert::media-place",
    "convert::merged-parts",
    "convert::split-message",
    "convert::refusal-as-text",
    "convert::json-as-text",
    "convert::invalid-arguments",
    "convert::text-as-call",
    "convert::id-synthesised",
    "chain::consecutive-user",
    "chain::late-tool-result",
    "chain::early-tool-result",
    "chain::misplaced-part",
    "chain::misplaced-system",
    "profile::consecutive-assistant",
    "profile::later-system",
    "profile::split-results",
    "session::written-anew",
    // An insertion removes nothing.
    "chain::unexpected-first-role",
    "chain::missing-tool-result",
    "profile::user-message",
    "profile::user-after-tool",
    "profile::last-message",
    "profile::empty-message",
    "profile::thinking-missing",
    "profile::reasoning-missing",
    "profile::thought-signature-missing",
];

/// Findings of readers about values that were kept.
const KEPT: &[&str] = &[
    "message::duplicate-member",
    "message::role-spelling",
    "message::shape",
    "message::wrong-type",
];

/// The first words of fixes that remove no value.
const KEEPS: &[&str] = &[
    "insert", "merge", "move", "add", "answer", "name", "correct", "read as", "join", "split",
    "made a",
];

/// The first words of fixes that remove a message or a part.
const GONE: &[&str] = &["drop", "remove", "left out", "leave out", "cut", "trim"];

/// Whether a fix removes a value.
fn removes(it: &Diagnostic) -> bool {
    let keeps = |fix: &str| KEEPS.iter().any(|it| fix.starts_with(it));
    it.fix.as_deref().is_none_or(|fix| !keeps(fix))
}

/// What this finding accounts for.
pub(super) fn scope(it: &Diagnostic) -> Scope {
    let code = it.code.as_str();
    let moves = MOVES.contains(&code) && !takes_away(it);
    if moves || KEPT.contains(&code) {
        Scope::Nothing
    } else if matches!(code, "convert::lost-member" | "profile::empty-text" | ROLE_CHANGED)
        || !removes(it)
    {
        Scope::Named
    } else {
        Scope::Place
    }
}

/// Whether a finding accounts for a whole message: it was left out, or an edit replaced it.
pub(super) fn is_of_all(it: &Diagnostic) -> bool {
    it.code == "convert::lost-message" || takes_away(it)
}

/// Whether a fix removes a message or a part.
fn takes_away(it: &Diagnostic) -> bool {
    let is_gone = |fix: &str| GONE.iter().any(|it| fix.starts_with(it));
    it.fix.as_deref().is_some_and(is_gone)
}

/// Whether a fix removes the value at the place of a finding and names it: `removed `tools.1``.
pub(super) fn takes_place_away(it: &Diagnostic) -> bool {
    let names = |pointer: &str| {
        let path = pointer.trim_start_matches('/').replace('/', ".");
        it.fix.as_deref() == Some(&*format!("removed `{path}`"))
    };
    it.at.pointer.as_deref().is_some_and(names)
}

/// Whether a fix writes another value of the member that a finding names.
pub(super) fn writes_value(it: &Diagnostic) -> bool {
    it.fix.as_deref().is_some_and(|fix| fix.starts_with("set to "))
}

/// Whether a finding says that a message is left out.
pub(super) fn is_of_message(it: &Diagnostic) -> bool {
    let names = |fix: &str| fix.contains("message") || fix.contains("result");
    let is_gone = |fix: &str| matches!(fix, "dropped" | "cut") || names(fix);
    it.code == "convert::lost-message" || it.fix.as_deref().is_some_and(is_gone)
}

/// Whether a finding says that this value of a setting was changed: `… minimal became low`.
pub(super) fn says_change(it: &Diagnostic, said: &str) -> bool {
    let message = it.message();
    it.code == "convert::value-changed"
        && message.split(' ').any(|word| word.trim_matches('`') == said)
}

/// Whether a finding or its fix names a member on this path: `…, without the member `x``. A finding about a role
/// accounts for the role.
pub(super) fn tells(it: &Diagnostic, way: &[String]) -> bool {
    if matches!(it.code.as_str(), ROLE_CHANGED | "chain::unknown-role") {
        return way.last().is_some_and(|it| matches!(it.as_str(), "role" | "from" | "type"));
    }
    let left_out = it.fix.as_deref().and_then(|it| it.split_once(", without the member"));
    let mut left_out = left_out.into_iter().flat_map(|it| it.1.split('`').skip(1).step_by(2));
    // The finding of a check ends with a word that may be a name: `a tool result without content`.
    let message = it.message();
    // The id of a call is not a member name.
    let is_id = it.at.tool_call_id.as_deref().is_some_and(|id| named(&message) == Some(id));
    let may_name =
        !is_id && (it.code.as_str().starts_with("convert::") || message.contains(['`', '.']));
    may_name && names(&message, way) || left_out.any(|name| way.iter().any(|step| step == name))
}

/// The last name of the path in a finding, if [`tells`] depends only on that path: the finding accounts for no value on
/// other paths.
pub(super) fn only_name(it: &Diagnostic) -> Option<String> {
    let is_of_role = matches!(it.code.as_str(), ROLE_CHANGED | "chain::unknown-role");
    let has_more = it.fix.as_deref().is_some_and(|it| it.contains(", without the member"));
    let message = it.message();
    let path = named(&message).filter(|_| !is_of_role && !has_more)?;
    path.split(['.', '[', ']']).rfind(|it| !it.is_empty()).map(str::to_owned)
}

/// Whether a sentence names a member on this path.
fn names(sentence: &str, way: &[String]) -> bool {
    named(sentence).is_some_and(|path| {
        let mut steps = way.iter();
        let mut named = path.split(['.', '[', ']']).filter(|it| !it.is_empty());
        // An API may spell the names in its answers differently.
        let is = |step: &str, name: &str| {
            step == name || name.contains('_') && name_hash(step) == name_hash(name)
        };
        named.all(|name| steps.any(|step| is(step, name)))
    })
}

/// The path in a sentence: `` `tools[0].strict` ``, `openai.refusal`, or a name at its end.
fn named(sentence: &str) -> Option<&str> {
    let mut words = sentence.split(' ');
    let quoted = sentence.split('`').nth(1);
    let mut dotted = || words.find_map(|it| it.split_once('.'));
    quoted.or_else(|| dotted().map(|it| it.1)).or_else(|| sentence.rsplit(' ').next())
}

/// Whether a value is an id.
pub(super) fn is_id(leaf: &Leaf<'_>) -> bool {
    let name = leaf.name.as_bytes();
    leaf.is_text() && matches!(name, b"id" | [.., b'_', b'i', b'd'] | [.., b'I', b'd'])
}

/// Whether a value may be written once for several occurrences: an id, and the tool name of a call and its result.
pub(super) fn is_shared(leaf: &Leaf<'_>) -> bool {
    // Called for each value, so cheap tests come first.
    leaf.name.ends_with(['d', 'e']) && is_any_shared(leaf)
}

fn is_any_shared(leaf: &Leaf<'_>) -> bool {
    is_id(leaf) || leaf.is_text() && matches!(leaf.name, "name" | "tool_name" | "toolName")
}

/// Whether a value is a setting in the head of a body. A Gemini tool without settings, `{"codeExecution":{}}`, is one
/// too.
pub(super) fn is_setting(leaf: &Leaf<'_>, way: &[Frame<'_>]) -> bool {
    let is_tool = leaf.text == "{}"
        && matches!(way, [_, body, list, _] if body.name == "tools" && list.is_list);
    let is_of_body = || {
        let mut around = way.iter().skip(1).take(BODY);
        way.get(1).is_some_and(|it| !it.is_list) && !around.any(|it| holds_conversation(it.name))
    };
    (is_tool || SETTINGS.contains(&leaf.name)) && is_of_body()
}

/// Whether a format word is a value: inside a list or an object under its name, if no format uses it there, or as the
/// kind of a marker, which has no other member (`"cache_control":{"type":"ephemeral"}`).
fn is_alone(leaf: &Leaf<'_>, way: &[Frame<'_>]) -> bool {
    let outer = |n: usize| way.len().checked_sub(n).map(|at| way[at]);
    let is_in_list = outer(1).is_some_and(|it| it.is_list);
    let is_in_message = || way.iter().skip(1).any(|it| it.is_list);
    // A role means nothing without a message, and the head accounts for Bedrock's tools.
    let is_of_form = || leaf.name == "role" || way.iter().any(|it| it.name == "toolConfig");
    let is_marker =
        leaf.is_only && outer(2).is_some_and(|it| !it.is_list) && is_in_message() && !is_of_form();
    let may_be_word = match leaf.text.strip_prefix('"') {
        // A number or a sentence in a text is not a word.
        Some(text) => {
            !text.starts_with(|it: char| it.is_ascii_digit())
                && !text.contains([' ', '\\'])
                && is_of_formats(leaf.text)
        }
        None => leaf.name == "index" || matches!(leaf.text, "true" | "false" | "null"),
    };
    !is_in_list && !is_marker && may_be_word
}

/// Whether a value only describes the form of the document.
pub(super) fn is_form(leaf: &Leaf<'_>, way: &[Frame<'_>]) -> bool {
    if leaf.is_free {
        // The contents of a result have types even inside application data.
        let is_content = leaf.name == "type" && CONTENTS.contains(&leaf.text);
        let is_openapi =
            OPENAPI[1].contains(&leaf.name) && way.iter().any(|it| OPENAPI[0].contains(&it.name));
        return is_content || is_openapi || leaf.text == "{}" && is_of_application(leaf.name);
    }
    if is_word(leaf.name) && is_alone(leaf, way) || is_setting(leaf, way) {
        return true;
    }
    if matches!(leaf.text, "\"\"" | "null" | "[]" | "{}" | "false") {
        // A setting of the body that is off or null does not count; a conversation that is an object is not a setting.
        let around = way.get(1..way.len().saturating_sub(1)).unwrap_or_default();
        let is_of_body = !way.iter().skip(1).any(|it| it.is_list)
            && !around.iter().any(|it| holds_conversation(it.name) || SYSTEMS.contains(&it.name));
        return is_of_body || leaf.text == "\"\"" || may_be_empty(leaf.name);
    }
    match leaf.name {
        // The format of a document is implied by its media type or text.
        "format" if FORMATS.contains(&leaf.text.trim_matches('"')) => true,
        "mime_type" if leaf.text == "\"application/json\"" => true,
        // The role of Semantic Kernel.
        "Label" if way.last().is_some_and(|it| it.name == "Role") => true,
        _ => leaf.is_text() && leaf.text.trim_matches('"').trim_start().is_empty(),
    }
}

/// Media formats that are format words if they are in a member of their own.
const FORMATS: [&str; 3] = ["json", "txt", "jpeg"];

/// The media format of this type, if it is one of those.
pub(super) fn format_of_form(media_type: &str) -> Option<&'static str> {
    msg_bedrock::media_format(media_type).filter(|it| FORMATS.contains(it))
}

/// Whether a value is an empty list or object beside the messages of a store, under an application's own name, or a
/// flag that is off in a store of one text.
pub(super) fn is_own_empty(leaf: &Leaf<'_>, way: &[Frame<'_>], is_one: bool) -> bool {
    (matches!(leaf.text, "[]" | "{}") || is_one && leaf.text == "false")
        && !may_be_empty(leaf.name)
        && !way.iter().skip(1).any(|it| it.is_list)
}

/// The member where LangChain keeps the signatures of Gemini's calls, by id.
const SIGNATURES: &str = "__gemini_function_call_thought_signatures__";

/// Formats in which a tool result may be any JSON value.
const WITH_VALUES: [&str; 4] = ["ai-sdk", "vercel-ui", "agent-framework", "semantic-kernel"];

/// Whether a value counts as empty.
fn may_be_nothing(text: &str) -> bool {
    matches!(text, "null" | "[]" | "{}" | "false" | "\"\"")
}

/// The member name under which a value is left out, if it is outside the conversation.
pub(super) fn beside<'t>(told: &Told<'_>, leaf: &Leaf<'t>, way: &[Frame<'t>]) -> Option<&'t str> {
    let of_answer = way.windows(2).find_map(|it| {
        let said = BESIDE.iter().find(|row| it[0].is_list && row.0 == it[0].name)?.1;
        Some(it[1].name).filter(|name| !said.contains(name))
    });
    // A list element that is not a record is not bookkeeping. Values inside a JSON text have its name on their path.
    let is_of_result = |name: &str| matches!(name, "output" | "result" | "value");
    let is_result = (is_of_result(leaf.name) || way.last().is_some_and(|it| is_of_result(it.name)))
        && WITH_VALUES.contains(&told.from)
        && way.iter().skip(1).any(|it| it.is_list)
        && way.iter().any(|it| !it.is_list && matches!(it.name, "output" | "result"));
    let is_said = leaf.is_free
        || leaf.name.is_empty()
        || is_result
        || way.iter().any(|it| it.name == SIGNATURES)
        || leaf.is_text() && OF_RECORDS.contains(&leaf.name)
        || matches!(leaf.name, "text" | "content") && !may_be_nothing(leaf.text);
    // A member of the body beside the messages is left out whole.
    let list = told.bookkeeping.as_deref().filter(|it| !it.is_empty());
    let top = way.get(1).filter(|it| !it.is_list).map(|it| it.name);
    let of_body = top.filter(|top| !is_said && list.is_some_and(|list| list != *top));
    let of_records = (told.bookkeeping.is_some() && !is_said).then_some(leaf.name);
    let mut names = way.iter().filter(|it| !it.is_list).map(|it| it.name);
    let of_turns =
        names.find(|name| told.from == "turns" && !told.keeps_format && OF_TURNS.contains(name));
    of_answer.filter(|_| !told.keeps_format).or(of_body).or(of_records).or(of_turns)
}

/// Whether a member with this name contains a media type.
pub(super) fn is_media_type(name: &str) -> bool {
    matches!(name, "mime_type" | "mimeType" | "media_type" | "mediaType" | "format")
}

/// The possible spellings of a value: a data URL as type and data, a text file as its text, a media type as a
/// provider's word, JSON text as its values, a seal with or without base64, a tool result without its heading.
pub(super) fn spellings<'s>(name: &str, said: &'s str) -> Vec<Cow<'s, str>> {
    let text = |data: &str| STANDARD.decode(data).ok().and_then(|it| String::from_utf8(it).ok());
    if let Some(DataUrl { media_type, data }) = DataUrl::parse(said) {
        return of_data_url(media_type, data).map(Cow::Owned).collect();
    }
    let mut res = vec![Cow::Borrowed(said.strip_prefix("Tool: ").unwrap_or(said))];
    if said.starts_with(['{', '[']) && msg_json::validate(said).is_ok() {
        let mut inner = String::new();
        walk(said, |leaf, _| inner.extend([leaf.name, " ", &*leaf.said(), " "]));
        res.push(Cow::Owned(inner));
    }
    if is_media_type(name) && name != "format" {
        let formats = [
            said.strip_prefix("audio/"),
            msg_bedrock::media_format(said),
            DataUrl::type_of_extension(said),
        ];
        res.extend(formats.into_iter().flatten().map(Cow::Borrowed));
        res.push(Cow::Owned(said.to_ascii_lowercase()));
    }
    if name == "format" {
        res.extend(msg_codec::MediaKind::audio_format(said).map(Cow::Borrowed));
        for media_type in msg_bedrock::media_types(said) {
            let word = msg_codec::MediaKind::audio_format(&media_type);
            res.extend(word.map(|it| Cow::Owned(it.to_owned())));
            res.push(media_type);
        }
    }
    if matches!(name, "bytes" | "file_data") {
        res.extend(text(said).map(Cow::Owned));
    }
    if said.contains("<tool_call>") || said.contains("<tool_response>") {
        res.push(Cow::Owned(without_markup(said)));
    }
    // Words of a setting or schema that another provider writes in another case.
    let has_words = is_word(name) || SETTINGS.contains(&name) || IN_CASE.contains(&name);
    if has_words
        && said.len() <= LONGEST_WORD
        && said.bytes().all(|it| it.is_ascii_alphabetic() || it == b'_')
    {
        match said.bytes().any(|it| it.is_ascii_lowercase()) {
            true => res.push(Cow::Owned(said.to_ascii_uppercase())),
            false => res.push(Cow::Owned(said.to_ascii_lowercase())),
        }
    }
    if matches!(name, "effort" | "reasoning_effort") && said == "none" {
        res.push(Cow::Borrowed("disabled"));
    }
    if matches!(name, "signature" | "redacted" | "redactedContent" | "data") {
        res.push(Cow::Owned(STANDARD.encode(said)));
        res.extend(DataUrl::standard_base64(said).map(Cow::Owned));
        res.extend(text(said).map(Cow::Owned));
    }
    res
}

/// A text with calls in markup, as their values; a result as its content, if the call that it answers names its tool.
pub(super) fn said_in_text(
    said: &str,
    with_servers: bool,
    is_tool: impl Fn(&str) -> bool,
) -> Vec<String> {
    if let Some(it) = msg_xml::ParsedResult::parse(said) {
        return if is_tool(&it.name) { vec![it.content] } else { Vec::new() };
    }
    let said = text_calls::said_in_text(said, with_servers).into_iter();
    let joined = said.map(|SaidInText { mut words, arguments }| {
        for it in arguments {
            walk(&it, |leaf, _| words.extend([" ", leaf.name, " ", &*leaf.said()]));
        }
        words
    });
    joined.collect()
}

/// Whether a finding says that the server of a call is left out.
pub(super) fn tells_of_server(it: &Diagnostic) -> bool {
    it.code == "convert::lost-member" && it.message().contains(text_calls::SERVER)
}

/// A data URL as its type, in providers' words, and its data in either base64 alphabet.
fn of_data_url(media_type: &str, data: &str) -> impl Iterator<Item = String> {
    let essence = media_type.to_ascii_lowercase();
    let is_text = essence.starts_with("text/");
    let text = STANDARD.decode(data).ok().filter(|_| is_text);
    let text = text.and_then(|it| String::from_utf8(it).ok());
    let standard = DataUrl::standard_base64(data).unwrap_or_else(|| data.to_owned());
    let format = essence.strip_prefix("audio/").or_else(|| msg_bedrock::media_format(&essence));
    let words = [format, DataUrl::type_of_extension(&essence)].into_iter().flatten();
    let words: Vec<_> = words.map(|it| format!("{it} {standard}")).collect();
    let all = [format!("{media_type} {data}"), format!("{essence} {standard}")];
    all.into_iter().chain(words).chain(text)
}

/// The longest word whose case does not matter.
const LONGEST_WORD: usize = 32;

/// A text with tagged calls and results, as their values: a call is its name and arguments.
fn without_markup(said: &str) -> String {
    let mut res = String::new();
    for piece in said.split(['<', '>']) {
        let is_tag = matches!(piece.trim_start_matches('/'), "tool_call" | "tool_response");
        match piece.trim() {
            _ if is_tag => res.push(' '),
            json if json.starts_with('{') && msg_json::validate(json).is_ok() => {
                walk(json, |leaf, _| {
                    let is_head = matches!(leaf.name, "name" | "arguments");
                    res.extend([if is_head { "" } else { leaf.name }, " ", &*leaf.said(), " "]);
                });
            }
            _ => res.push_str(piece),
        }
    }
    res
}

/// Whether a value is an option that was applied.
pub(super) fn is_option(from: &str, way: &[Frame<'_>]) -> bool {
    from == "turns" && way.get(1).is_some_and(|it| !it.is_list && it.name == "options")
}

/// Members with the same reasoning, for programs of different ages.
const TWINS: &[&str] = &["reasoning_content", "thinking_blocks", "reasoning", "reasoning_details"];

/// The member of [`TWINS`] on a path.
pub(super) fn twin(way: &[Frame<'_>]) -> Option<&'static str> {
    way.iter().find_map(|it| TWINS.iter().copied().find(|name| !it.is_list && *name == it.name))
}

/// Whether a path leads into one of [`TWINS`].
pub(super) fn is_of_thoughts(steps: &[String]) -> bool {
    steps.iter().any(|it| TWINS.contains(&&**it))
}

/// Whether a value in one of them is the reasoning itself.
pub(super) fn is_thought(leaf: &Leaf<'_>) -> bool {
    leaf.is_text()
        && matches!(leaf.name, "reasoning_content" | "thinking" | "reasoning" | "text" | "summary")
}

/// Whether the mere presence of a member with this name marks a failed result.
pub(super) fn marks_failure(name: &str) -> bool {
    matches!(name, "error" | "errorText" | "exception")
}

/// Other words for a value, in formats without a member for it.
pub(super) fn synonyms(leaf: &Leaf<'_>, way: &[Frame<'_>]) -> &'static [&'static str] {
    let is_breakpoint =
        || way.iter().rev().nth(1).is_some_and(|it| it.name == "prompt_cache_breakpoint");
    match leaf.text {
        "true" if matches!(leaf.name, "is_error" | "isError") => &["Error", "error", "retry"],
        // Cache points of Anthropic, of Bedrock, and of OpenAI, which have a single possible kind.
        "\"ephemeral\"" => &["default"],
        "\"default\"" => &["ephemeral"],
        "\"explicit\"" if leaf.name == "mode" && is_breakpoint() => &["default", "ephemeral"],
        _ => &[],
    }
}
