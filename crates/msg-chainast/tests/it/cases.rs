//! Case files: a chain a line, with what a check finds, what a parse says and what a repair gives.

use std::collections::{HashMap, HashSet};

use msg_chainast::{
    BadArguments, ChainAst, CheckOptions, First, IdPattern, Message, Orphans, Part, PatternError,
    Profile, RepairOptions, SeededIds, UnknownRole, check, constants::FALLBACK_RESPONSE_CONTENT,
    repair,
};
use msg_core::{Diagnostic, Role};
use serde_json::{Value, json};

use crate::openai;

#[test]
fn chains() {
    testkit::rows!("chains.jsonl").check(|row| agree(chain(&row.text)));
}

fn chain(row: &str) -> Result<(), String> {
    let case: Value = serde_json::from_str(row).unwrap();
    let messages = openai::messages(&case["messages"]);
    let known = ids(&messages);
    let wanted = diagnostics(&case["diagnostics"]);
    let found = check(&messages, None, &CheckOptions::new());
    same("check", &tell(&found), &wanted)?;
    parsed(ChainAst::parse(messages.clone()), &case["strict"], &wanted, &messages)?;
    if !case["open"].is_null() {
        let wanted = diagnostics(&case["open"]["diagnostics"]);
        let found = check(&messages, None, &CheckOptions::new().open(true));
        same("open check", &tell(&found), &wanted)?;
        parsed(ChainAst::parse_open(messages.clone()), &case["open"], &wanted, &messages)?;
    }
    repaired(messages, &RepairOptions::new(), &case["repair"], &wanted, &known)
}

#[test]
fn options() {
    testkit::rows!("options.jsonl").check(|row| agree(option(&row.text)));
}

fn option(row: &str) -> Result<(), String> {
    let case: Value = serde_json::from_str(row).unwrap();
    let messages = openai::messages(&case["messages"]);
    let known = ids(&messages);
    let options = flags(&case["flags"]);
    repaired(messages, &options, &case["repair"], &diagnostics(&case["diagnostics"]), &known)
}

#[test]
fn profiles() {
    testkit::rows!("profiles.jsonl").check(|row| agree(profile(&row.text)));
}

fn profile(row: &str) -> Result<(), String> {
    let case: Value = serde_json::from_str(row).unwrap();
    let messages = openai::messages(&case["messages"]);
    let known = ids(&messages);
    let profile = Profile::named(case["profile"].as_str().unwrap()).unwrap();
    let wanted = diagnostics(&case["diagnostics"]);
    same("check", &tell(&check(&messages, Some(profile), &CheckOptions::new())), &wanted)?;
    let options = RepairOptions::new().profile(profile);
    let (mended, report) = repair(messages.clone(), &options, &mut SeededIds::new(7));
    same("repair of the list", &tell(&report), &wanted)?;
    let (chain, _) = ChainAst::repair(messages.clone(), &options, &mut SeededIds::new(7));
    same("list and tree", &mended, &chain.into_messages())?;
    repaired(messages, &options, &case["repair"], &wanted, &known)
}

/// Profiles of a user's own reach what no built-in one does.
#[cfg(feature = "toml")]
#[test]
fn own_profiles() {
    testkit::rows!("profiles_own.jsonl").check(|row| agree(own_profile(&row.text)));
}

#[cfg(feature = "toml")]
fn own_profile(row: &str) -> Result<(), String> {
    let case: Value = serde_json::from_str(row).unwrap();
    let messages = openai::messages(&case["messages"]);
    let known = ids(&messages);
    let profile = Profile::from_toml(case["profile"].as_str().unwrap()).unwrap();
    let wanted = diagnostics(&case["diagnostics"]);
    same("check", &tell(&check(&messages, Some(&profile), &CheckOptions::new())), &wanted)?;
    let options = RepairOptions::new().profile(&profile);
    crate::laws::repair_is_valid(&messages, &options, Some(&profile), false);
    repaired(messages, &options, &case["repair"], &wanted, &known)
}

#[test]
fn operations() {
    testkit::rows!("ops.jsonl").check(|row| agree(operate(&row.text)));
}

fn operate(row: &str) -> Result<(), String> {
    let case: Value = serde_json::from_str(row).unwrap();
    let messages = openai::messages(&case["messages"]);
    let known = ids(&messages);
    let mut chain = match case["mode"].as_str().unwrap() {
        "open" => ChainAst::parse_open(messages).map_err(|it| it.to_string())?,
        _ => ChainAst::repair(messages, &RepairOptions::new(), &mut SeededIds::new(7)).0,
    };
    let (ops, expected) = (case["ops"].as_array().unwrap(), &case["expect"]);
    for (at, (op, wanted)) in ops.iter().zip(expected["ops"].as_array().unwrap()).enumerate() {
        let (done, results) = apply(&mut chain, op);
        same(&format!("op {at} done"), &done.is_ok(), &wanted["error"].is_null())?;
        same(&format!("op {at} size"), &json!(chain.size()), &wanted["size"])?;
        if let Some(wanted) = wanted["results"].as_array() {
            let wanted: Vec<String> =
                wanted.iter().map(|it| openai::text(&it["content"])).collect();
            same(&format!("op {at} results"), &results, &wanted)?;
        }
    }
    compare(&chain, expected, &known)
}

fn apply(chain: &mut ChainAst, op: &Value) -> (Result<(), String>, Vec<String>) {
    let text = |it: &str| openai::text(&op[it]);
    let done = match op["op"].as_str().unwrap() {
        "append_user" => {
            chain.append_user(text("content"));
            Ok(())
        }
        "add_tool_result" => {
            let added = chain.add_tool_result(&text("id"), &text("name"), text("content"));
            added.map(drop).map_err(|it| it.to_string())
        }
        "normalize_ids" => text("pattern").parse().map_err(|it: PatternError| it.to_string()).map(
            |pattern: IdPattern| {
                drop(chain.normalize_tool_call_ids(&pattern, &mut SeededIds::new(9)));
            },
        ),
        "clear_reasoning" => {
            chain.clear_reasoning();
            Ok(())
        }
        "sanitize_arguments" => {
            chain.sanitize_arguments();
            Ok(())
        }
        "find" => {
            let found = chain.find_tool_results(op["id"].as_str().unwrap());
            return (Ok(()), found.map(|it| it.content.text().into_owned()).collect());
        }
        other => panic!("operation {other}"),
    };
    (done, Vec::new())
}

fn agree(result: Result<(), String>) {
    if let Err(difference) = result {
        panic!("{difference}");
    }
}

fn flags(json: &Value) -> RepairOptions {
    let mut options = RepairOptions::new();
    let mut words = json.as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    while let Some(flag) = words.next() {
        if flag == "--open" {
            options = options.open(true);
            continue;
        }
        options = match (flag, words.next().unwrap()) {
            ("--orphans", "drop") => options.orphans(Orphans::Drop),
            ("--orphans", "keep") => options.orphans(Orphans::Keep),
            ("--first", "drop") => options.first(First::Drop),
            ("--unknown-role", "user") => options.unknown_role(UnknownRole::AsUser),
            ("--arguments", "sanitize") => options.arguments(BadArguments::Sanitize),
            ("--id-pattern", it) => options.id_pattern(it.parse().unwrap()),
            other => panic!("flag {other:?}"),
        };
    }
    options
}

/// Position, call, code, severity, whether there is an edit. Findings on one part come in any order.
type Told = (Option<usize>, Option<usize>, String, String, String, bool);

fn tell(all: &[Diagnostic]) -> Vec<Told> {
    let place = |it: &Diagnostic| (it.at.message, it.at.part);
    assert!(all.is_sorted_by_key(place), "not in the order of the input");
    let mut all: Vec<Told> = all.iter().map(told).collect();
    all.sort();
    all
}

fn told(it: &Diagnostic) -> Told {
    let id = it.at.tool_call_id.clone().unwrap_or_default();
    let code = it.code.as_str().to_owned();
    (it.at.message, it.at.part, id, code, it.severity.to_string(), it.fix.is_some())
}

fn diagnostics(json: &Value) -> Vec<Told> {
    let index = |it: &Value| it.as_u64().map(|it| it as usize);
    let told = |it: &Value| {
        let at = &it["at"];
        let id = openai::text(&at["tool_call_id"]);
        let code = openai::text(&it["code"]);
        let severity = openai::text(&it["severity"]);
        (index(&at["message"]), index(&at["part"]), id, code, severity, !it["fix"].is_null())
    };
    let mut all: Vec<Told> = json.as_array().unwrap().iter().map(told).collect();
    all.sort();
    all
}

fn parsed(
    result: Result<ChainAst, msg_chainast::ParseError>,
    wanted: &Value,
    diagnostics: &Vec<Told>,
    messages: &[Message],
) -> Result<(), String> {
    match result {
        Ok(_) if wanted["ok"] == false => Err("parse: accepted".to_owned()),
        Err(it) if wanted["ok"] == true => Err(format!("parse: refused, {it}")),
        Err(it) => {
            same("parse", &tell(it.diagnostics()), diagnostics)?;
            same("given back", &it.into_messages(), &messages.to_vec())
        }
        Ok(it) => {
            tree("parse", &it, wanted, &HashMap::new())?;
            same("messages", &it.into_messages(), &messages.to_vec())
        }
    }
}

fn tree(
    what: &str,
    chain: &ChainAst,
    wanted: &Value,
    names: &HashMap<String, String>,
) -> Result<(), String> {
    let mut view = serde_json::to_value(chain.view()).unwrap();
    rename(&mut view, names);
    same(what, &view, &json!({"size": wanted["size"], "sections": wanted["sections"]}))
}

fn rename(json: &mut Value, names: &HashMap<String, String>) {
    match json {
        Value::String(it) => {
            if let Some(name) = names.get(it) {
                it.clone_from(name);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|it| rename(it, names)),
        Value::Object(all) => all.values_mut().for_each(|it| rename(it, names)),
        _ => {}
    }
}

pub(crate) fn repaired(
    messages: Vec<Message>,
    options: &RepairOptions,
    wanted: &Value,
    diagnostics: &Vec<Told>,
    known: &HashSet<String>,
) -> Result<(), String> {
    let (chain, report) = ChainAst::repair(messages, options, &mut SeededIds::new(7));
    same("repair", &tell(&report), diagnostics)?;
    compare(&chain, wanted, known)
}

fn compare(chain: &ChainAst, wanted: &Value, known: &HashSet<String>) -> Result<(), String> {
    let expected = openai::messages(&wanted["messages"]);
    let (mine, theirs) = (fresh(chain.messages(), known), fresh(&expected, known));
    let names = mine.iter().cloned().zip(theirs.iter().cloned()).collect();
    let flat: Vec<Message> = chain.messages().map(|it| canonical(it.clone(), &mine)).collect();
    let expected: Vec<Message> = expected.into_iter().map(|it| canonical(it, &theirs)).collect();
    same("mended", &flat, &expected)?;
    if wanted["sections"].is_null() {
        return Ok(());
    }
    tree("mended tree", chain, wanted, &names)
}

fn ids<'m>(messages: impl IntoIterator<Item = &'m Message>) -> HashSet<String> {
    in_order(messages).into_iter().collect()
}

/// The ids that the input does not have, in order of appearance.
fn fresh<'m>(
    messages: impl IntoIterator<Item = &'m Message>,
    known: &HashSet<String>,
) -> Vec<String> {
    let mut seen = HashSet::new();
    let new = |it: &String| !it.is_empty() && !known.contains(it) && seen.insert(it.clone());
    in_order(messages).into_iter().filter(new).collect()
}

fn in_order<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<String> {
    let parts = messages.into_iter().flat_map(|it| &it.parts);
    let id = |it: &Part| match it {
        Part::ToolCall(it) => Some(it.id.clone()),
        Part::ToolResult(it) => Some(it.call_id.clone()),
        _ => None,
    };
    parts.filter_map(id).collect()
}

/// A message as it is compared: fresh ids by their number, empty text beside calls absent, the name of a
/// placeholder left out.
fn canonical(mut message: Message, fresh: &[String]) -> Message {
    let number = |id: &mut String| {
        if let Some(at) = fresh.iter().position(|it| it == id) {
            *id = format!("#{at}");
        }
    };
    for part in &mut message.parts {
        match part {
            Part::ToolCall(it) => number(&mut it.id),
            Part::ToolResult(it) => {
                number(&mut it.call_id);
                it.content = it.content.text().into_owned().into();
                it.name = it.name.take().filter(|name| !name.is_empty());
                if it.content.as_text() == Some(FALLBACK_RESPONSE_CONTENT) {
                    it.name = None;
                }
            }
            _ => {}
        }
    }
    if message.role == Role::Assistant && message.tool_calls().next().is_some() {
        let empty = message.text().is_empty();
        message.parts.retain(|it| !(empty && matches!(it, Part::Text(_))));
    }
    message
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, mine: &T, wanted: &T) -> Result<(), String> {
    if mine == wanted {
        return Ok(());
    }
    let diff = testkit::diff(&format!("{wanted:#?}\n"), &format!("{mine:#?}\n"));
    Err(format!("{what}:\n{diff}"))
}
