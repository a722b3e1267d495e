//! Combinations of settings, or of a setting and a model, that a provider refuses (RQ-47).
//!
//! Settings that are removed because of these rules would have had no effect.

use std::collections::{HashMap, HashSet};

use msg_chainast::{EffortBesideTools, ThinkingRule};
use msg_codec::codec::Settings;
use msg_core::request::{Function, ResponseFormat, Thinking, Tool, ToolChoice};
use msg_core::{Message, Part, RawJson};
use msg_formats::HeadEdit;

use super::{Asked, Refused};

/// Refused combinations in a request in the provider's own format.
pub(super) fn refused(asked: &Asked<'_>) -> Vec<Refused> {
    if !asked.is_own() {
        return Vec::new();
    }
    let mut res: Vec<Refused> = both_of_sampling(asked).into_iter().collect();
    res.extend(defaults_only(asked));
    res.extend(completion_tokens(asked));
    match &*asked.profile.name {
        "anthropic" => {
            res.extend(thinking(asked));
            res.extend(repeated_tools(asked));
            res.extend(choice_without_tool(asked));
        }
        "openai" | "azure" => {
            res.extend(without_tools(asked));
            res.extend(effort_beside_tools(asked));
            res.extend(without_stream(asked));
            res.extend(without_the_word(asked, "/response_format"));
        }
        "openai-responses" => res.extend(without_the_word(asked, "/text/format")),
        "bedrock" => res.extend(without_tool_config(asked)),
        "gemini" => res.extend(config_without_functions(asked)),
        "deepseek" => res.extend(forced_while_thinking(asked)),
        _ => {}
    }
    res
}

/// Whether a setting is a number other than 1, the default of these settings.
fn differs(number: Option<&RawJson>) -> bool {
    number.and_then(|it| it.parse::<f64>().ok()).is_some_and(|it| it != 1.0)
}

/// Settings that the model accepts only with their default values (PM-197, PM-204, PM-209 to PM-211).
fn defaults_only(asked: &Asked<'_>) -> impl Iterator<Item = Refused> {
    let refused = |word: &&String| {
        let value = Settings::value(asked.head, word);
        value.is_some_and(|it| !is_default(word, &it))
    };
    let left_out = |word: &String| {
        let pointer = asked.head.pointer(word);
        let name = pointer[1..].replace('/', ".");
        let text = format!("`{name}` must be left out for this model");
        Refused::of(&text, &pointer).removed(&pointer)
    };
    // OpenAI models accept them if thinking is turned off.
    let is_off = asked.head.reasoning.thinking == Some(Thinking::Off);
    let is_taken =
        is_off && matches!(&*asked.profile.name, "openai" | "azure" | "openai-responses");
    let settings = if is_taken { &[][..] } else { &asked.profile.refused_settings[..] };
    settings.iter().filter(refused).map(left_out)
}

/// Whether a setting has its default: 1 for `temperature` and `top_p`, zero or nothing for all others.
fn is_default(word: &str, value: &RawJson) -> bool {
    match word {
        "temperature" | "top_p" => !differs(Some(value)),
        _ => {
            matches!(value.text(), "null" | "false" | "[]" | "{}" | "\"\"")
                || value.parse::<f64>().is_ok_and(|it| it == 0.0)
        }
    }
}

/// Two sampling settings of which the model accepts only one (PM-196).
fn both_of_sampling(asked: &Asked<'_>) -> Option<Refused> {
    let of = &asked.head.sampling;
    let both = of.temperature.is_some() && of.top_p.is_some();
    let text = "`top_p` must not be beside `temperature` for this model";
    (asked.profile.one_of_sampling && both).then(|| Refused::of(text, "/top_p").removed("/top_p"))
}

/// `max_tokens`, which newer models refuse in favour of `max_completion_tokens` (PM-85, PM-161).
fn completion_tokens(asked: &Asked<'_>) -> Option<Refused> {
    let has = |name: &str| asked.head.members.iter().any(|it| it == name);
    if !asked.profile.completion_tokens_only || !has("max_tokens") {
        return None;
    }
    let text = "`max_tokens` must be named `max_completion_tokens` for this model";
    let refused = Refused::of(text, "/max_tokens");
    if has("max_completion_tokens") {
        return Some(refused.removed("/max_tokens"));
    }
    let fix = ("rename `max_tokens`".to_owned(), "renamed `max_tokens`".to_owned());
    let edit = HeadEdit::Rename("max_completion_tokens", None);
    Some(refused.mended(fix, [("/max_tokens", edit)]))
}

/// Claude's minimum thinking budget.
const LEAST_BUDGET: u64 = 1024;

/// Settings that Claude refuses together with thinking (PM-21 to PM-23, PM-194 to PM-197).
fn thinking(asked: &Asked<'_>) -> Vec<Refused> {
    let head = asked.head;
    let budget = match head.reasoning.thinking {
        Some(Thinking::Budget(tokens)) => Some(tokens),
        Some(Thinking::Adaptive) => None,
        Some(Thinking::Off) if asked.profile.thinking == ThinkingRule::Always => {
            let text = "`thinking` must not be switched off for this model";
            return vec![Refused::of(text, "/thinking").removed("/thinking")];
        }
        Some(Thinking::Off) | None => return Vec::new(),
    };
    let mut res = Vec::new();
    // If the model refuses all sampling settings, `defaults_only` reports that.
    if asked.profile.refused_settings.is_empty() {
        res.extend(sampling_beside_thinking(asked));
    }
    let Some(budget) = budget else { return res };
    if asked.profile.thinking != ThinkingRule::Any {
        let text = format!(
            "`thinking` must be adaptive for this model, found a budget of {budget} tokens"
        );
        let edits = [
            ("/thinking/type", HeadEdit::Set(RawJson::string("adaptive"))),
            ("/thinking/budget_tokens", HeadEdit::Remove),
        ];
        let fix = ("make it adaptive".to_owned(), "made it adaptive".to_owned());
        res.push(Refused::of(&text, "/thinking").mended(fix, edits));
        return res;
    }
    // With adaptive thinking a call may be forced: recorded requests were answered.
    if matches!(head.tool_choice, Some(ToolChoice::Required | ToolChoice::Tool(_))) {
        let text = "`tool_choice` must not force a call while thinking is on";
        let fix = ("leave the choice to the model", "left the choice to the model");
        let edits = [
            ("/tool_choice/type", HeadEdit::Set(RawJson::string("auto"))),
            ("/tool_choice/name", HeadEdit::Remove),
        ];
        let fix = (fix.0.to_owned(), fix.1.to_owned());
        res.push(Refused::of(text, "/tool_choice").mended(fix, edits));
    }
    if let Some(most) = head.max_tokens.filter(|it| *it <= budget && head.tools.is_empty()) {
        // With interleaved thinking the budget may be greater.
        let text = format!(
            "`thinking.budget_tokens` must be less than `max_tokens`, found {budget} and {most}"
        );
        let refused = Refused::of(&text, "/thinking/budget_tokens");
        res.push(match most > LEAST_BUDGET {
            // Half of the tokens are left for the answer.
            true => {
                let budget = LEAST_BUDGET.max(most / 2);
                let fix = (format!("lower it to {budget}"), format!("lowered it to {budget}"));
                let value = RawJson::written(|it| it.u64(budget));
                refused.mended(fix, [("/thinking/budget_tokens", HeadEdit::Set(value))])
            }
            false => refused.removed("/thinking"),
        });
    }
    res
}

fn sampling_beside_thinking(asked: &Asked<'_>) -> Vec<Refused> {
    let of = &asked.head.sampling;
    let mut res = Vec::new();
    if let Some(it) = of.temperature.as_ref().filter(|it| differs(Some(it))) {
        let text = format!("`temperature` must be 1 while thinking is on, found {}", it.text());
        res.push(Refused::of(&text, "/temperature").removed("/temperature"));
    }
    let is_low = |it: &&RawJson| it.parse::<f64>().is_ok_and(|it| it < 0.95);
    if let Some(it) = of.top_p.as_ref().filter(is_low) {
        let text =
            format!("`top_p` must be at least 0.95 while thinking is on, found {}", it.text());
        res.push(Refused::of(&text, "/top_p").removed("/top_p"));
    }
    if of.top_k.is_some() {
        let text = "`top_k` must be left out while thinking is on";
        res.push(Refused::of(text, "/top_k").removed("/top_k"));
    }
    res
}

/// Functions in Chat Completions for a model that accepts them only with thinking off (PM-241, PM-242).
fn effort_beside_tools(asked: &Asked<'_>) -> Option<Refused> {
    const EFFORT: &str = "/reasoning_effort";
    let head = asked.head;
    let is_off = head.reasoning.thinking == Some(Thinking::Off);
    let is_said = head.members.iter().any(|it| *it == EFFORT[1..]);
    if !head.tools.iter().any(|it| it.function().is_some()) {
        return None;
    }
    let text = "`reasoning_effort` must be `none` while there are functions";
    match asked.profile.effort_beside_tools {
        EffortBesideTools::Unsaid | EffortBesideTools::None if is_off => None,
        EffortBesideTools::Unsaid if !is_said => None,
        EffortBesideTools::Unsaid => Some(Refused::of(text, EFFORT).removed(EFFORT)),
        EffortBesideTools::None if is_said => {
            Some(Refused::of(text, EFFORT).set(EFFORT, RawJson::string("none")))
        }
        EffortBesideTools::None => {
            let fix = ("set it to `none`".to_owned(), "set it to `none`".to_owned());
            let edit = HeadEdit::Add(&EFFORT[1..], RawJson::string("none"));
            Some(Refused::of(text, "").mended(fix, [(EFFORT, edit)]))
        }
        EffortBesideTools::Never => {
            let text = "the model takes no functions in Chat Completions; in Responses it does";
            Some(Refused::of(text, "/tools"))
        }
        _ => None,
    }
}

/// A forced call while DeepSeek thinks. V4 thinks unless the request turns it off (PM-212).
fn forced_while_thinking(asked: &Asked<'_>) -> Option<Refused> {
    let head = asked.head;
    let is_forced = matches!(head.tool_choice, Some(ToolChoice::Required | ToolChoice::Tool(_)));
    let model = head.model.as_deref().unwrap_or(&asked.profile.model);
    let told = Settings::value(head, "thinking").and_then(|it| it.present_members());
    let kind = told.iter().flatten().find(|it| it.0 == "type").map(|it| it.1.text());
    let thinks = match kind {
        Some(kind) => kind == r#""enabled""#,
        None => head.reasoning.thinking != Some(Thinking::Off) && model.contains("deepseek-v4"),
    };
    let text = "`tool_choice` must not force a call while the model thinks";
    let fix = ("leave the choice to the model", "left the choice to the model");
    let edits = [("/tool_choice", HeadEdit::Set(RawJson::string("auto")))];
    (is_forced && thinks).then(|| {
        Refused::of(text, "/tool_choice").mended((fix.0.to_owned(), fix.1.to_owned()), edits)
    })
}

/// Several tools with the same name (PM-27). An exact duplicate is removed.
fn repeated_tools(asked: &Asked<'_>) -> Vec<Refused> {
    let (mut seen, mut res) = (HashMap::new(), Vec::new());
    for it in asked.head.tools.iter().filter_map(Tool::function) {
        let Some(first) = seen.get(it.name.as_str()) else {
            seen.insert(it.name.as_str(), it);
            continue;
        };
        let refused = Refused::of(&format!("a second tool is called `{}`", it.name), &it.pointer);
        res.push(if is_same(first, it) { refused.removed(&it.pointer) } else { refused });
    }
    res
}

/// Whether two tools differ in nothing but their places.
fn is_same(a: &Function, b: &Function) -> bool {
    let placed = |it: &Function| Function {
        pointer: String::new(),
        origin: Default::default(),
        rest: Vec::new(),
        ..it.clone()
    };
    // Compares the schema first, to avoid a copy of the tool for each comparison.
    let may_be = a.rest.is_empty() && b.rest.is_empty() && a.parameters == b.parameters;
    may_be && placed(a) == placed(b)
}

/// Settings that chat requests accept only with tools (PM-198 to PM-200).
fn without_tools(asked: &Asked<'_>) -> Vec<Refused> {
    let has = |name: &str| asked.head.members.iter().any(|it| it == name);
    // The shape rules report a value that is not a list of tools.
    let is_unread = asked.head.rest.iter().any(|it| matches!(&*it.0, "tools" | "functions"));
    if !asked.head.tools.is_empty() || is_unread {
        return Vec::new();
    }
    let mut res = Vec::new();
    if has("tools") {
        res.push(Refused::of("`tools` must not be an empty list", "/tools").removed("/tools"));
    }
    for name in ["tool_choice", "parallel_tool_calls"].into_iter().filter(|it| has(it)) {
        let pointer = format!("/{name}");
        let text = format!("`{name}` is only taken beside tools");
        res.push(Refused::of(&text, &pointer).removed(&pointer));
    }
    res
}

/// A setting that chat requests accept only for streams (PM-201).
fn without_stream(asked: &Asked<'_>) -> Option<Refused> {
    let has_options = asked.head.members.iter().any(|it| it == "stream_options");
    let text = "`stream_options` is only taken where `stream` is true";
    let refused = || Refused::of(text, "/stream_options").removed("/stream_options");
    (has_options && asked.head.stream != Some(true)).then(refused)
}

/// JSON mode, which requires the word JSON in the messages (PM-146, PM-202).
fn without_the_word(asked: &Asked<'_>, pointer: &str) -> Option<Refused> {
    if asked.head.response_format != Some(ResponseFormat::Json) {
        return None;
    }
    let says_it = |text: &str| text.to_ascii_lowercase().contains("json");
    let is_asked_for = |it: &Part| match it {
        Part::Text(it) => says_it(&it.text),
        Part::Other(_) => true,
        _ => false,
    };
    let mut parts = asked.messages.iter().flat_map(|it| &it.parts);
    let text = "the messages must say the word JSON, since `type` is `json_object`";
    (!parts.any(is_asked_for)).then(|| Refused::of(text, pointer))
}

/// A forced call of a tool that an Anthropic request does not define (PM-246, PM-247).
fn choice_without_tool(asked: &Asked<'_>) -> Option<Refused> {
    const CHOICE: &str = "/tool_choice";
    let head = asked.head;
    let may_be_elsewhere = head.members.iter().any(|it| it == "mcp_servers")
        || head.rest.iter().any(|it| it.0 == "tools")
        || head.tools.iter().any(|it| it.function().is_none())
        || asked.messages.iter().flat_map(|it| &it.parts).any(|it| matches!(it, Part::Other(_)));
    let mut names = head.tools.iter().filter_map(Tool::function).map(|it| it.name.as_str());
    let text = match head.tool_choice.as_ref().filter(|_| !may_be_elsewhere)? {
        ToolChoice::Required if head.tools.is_empty() => {
            "`tool_choice` must not force a call without tools".to_owned()
        }
        ToolChoice::Tool(name) if !names.any(|it| it == name) => {
            format!("`tool_choice` is the tool `{name}`, which the request does not have")
        }
        _ => return None,
    };
    let refused = Refused::of(&text, CHOICE);
    Some(if head.tools.is_empty() { refused.removed(CHOICE) } else { refused })
}

/// Gemini's function calling settings without functions (PM-248). Tools in a cache are not visible.
fn config_without_functions(asked: &Asked<'_>) -> Option<Refused> {
    let head = asked.head;
    let is_cached = head.members.iter().any(|it| it.starts_with("cached"));
    let is_unread = head.rest.iter().any(|it| it.0 == "tools");
    let is_other = |it: &Tool| !matches!(it, Tool::Hosted(_));
    let is_set = head.tool_choice.as_ref().is_some_and(|it| *it != ToolChoice::None);
    if !is_set || is_cached || is_unread || head.tools.iter().any(is_other) {
        return None;
    }
    let pointer = head.pointer("tool_choice");
    let name = pointer.trim_start_matches('/');
    let text = format!("`{name}` must not say how to call functions without functions");
    let refused = Refused::of(&text, &pointer);
    let is_beside = |it: &str| it.starts_with(name) && !it.ends_with(".mode");
    if !head.rest.iter().any(|it| is_beside(&it.0)) {
        return Some(refused.removed(&pointer));
    }
    let spellings = ["functionCallingConfig", "function_calling_config"];
    let [camel, snake] = spellings.map(|it| format!("{pointer}/{it}"));
    let fix = ("remove `functionCallingConfig`", "removed `functionCallingConfig`");
    let edits = [(camel.as_str(), HeadEdit::Remove), (snake.as_str(), HeadEdit::Remove)];
    Some(refused.mended((fix.0.to_owned(), fix.1.to_owned()), edits))
}

/// Calls and results without tool definitions (PM-99), and an empty list of tools (PM-245).
fn without_tool_config(asked: &Asked<'_>) -> Option<Refused> {
    const CONFIG: &str = "/toolConfig";
    let head = asked.head;
    let has_config = head.members.iter().any(|it| *it == CONFIG[1..]);
    let has_choice =
        head.tool_choice.is_some() || head.rest.iter().any(|it| it.0.starts_with("toolConfig"));
    let is_of_tools = |it: &Part| matches!(it, Part::ToolCall(_) | Part::ToolResult(_));
    let has_calls = asked.messages.iter().flat_map(|it| &it.parts).any(is_of_tools);
    if !head.tools.is_empty() || !has_config && !has_calls {
        return None;
    }
    if !has_calls {
        // The shape rules report a value that is not a list of tools.
        let is_unread =
            head.rest.iter().any(|it| matches!(&*it.0, "toolConfig" | "toolConfig.tools"));
        let refused = || Refused::of("`toolConfig` must have tools", CONFIG).removed(CONFIG);
        return (!is_unread).then(refused);
    }
    let refused = Refused::of("`toolConfig` must have the tools that messages call", CONFIG);
    let fix = (
        "declare them without descriptions and parameters".to_owned(),
        "declared them without descriptions and parameters".to_owned(),
    );
    let edit = |tools| match has_config {
        true => HeadEdit::Set(tools),
        false => HeadEdit::Add(&CONFIG[1..], tools),
    };
    Some(match called_tools(asked).filter(|_| !has_choice) {
        Some(tools) => refused.mended(fix, [(CONFIG, edit(tools))]),
        None => refused,
    })
}

/// A definition of each tool that the messages call, if all names are valid tool names.
fn called_tools(asked: &Asked<'_>) -> Option<RawJson> {
    let calls = asked.messages.iter().flat_map(Message::tool_calls);
    let mut names: Vec<_> = calls.map(|it| it.name.as_str()).collect();
    let mut seen = HashSet::new();
    names.retain(|it| seen.insert(*it));
    let is_name = |it: &&str| {
        (1..=64).contains(&it.len())
            && it.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
    };
    if names.is_empty() || !names.iter().all(is_name) {
        return None;
    }
    Some(RawJson::written(|it| {
        it.object(|it| {
            it.key("tools").array(names, |it, name| {
                it.object(|it| {
                    it.key("toolSpec").object(|it| {
                        it.key("name").str(name);
                        it.key("inputSchema").object(|it| {
                            it.key("json").object(|it| it.key("type").str("object"));
                        });
                    });
                });
            });
        });
    }))
}
