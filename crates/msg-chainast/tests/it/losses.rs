//! Law 4: nothing is lost unnamed. What a chain holds is a list of facts; each that is missing after a
//! repair is accounted for by an edit, and an edit accounts only for what it names.

use std::collections::{BTreeMap, HashMap};

use msg_chainast::{Message, Part};
use msg_core::{Diagnostic, Extra, Role};

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A text, a refusal, a medium, an opaque part, reasoning: also in results.
    Content,
    /// Reasoning, or the signature of a call.
    Reasoning,
    /// The name of a message.
    Name,
    /// An extra member.
    Member,
    /// The id of a call or result.
    Id,
    /// The name of a tool.
    ToolName,
    /// The kind of a call, or its arguments.
    Call,
}

/// Something that a message holds, with its place.
#[derive(Debug, Clone)]
struct Fact {
    message: usize,
    part: Option<usize>,
    kind: Kind,
    key: String,
    /// What an edit has to say that takes it away without taking its part away.
    word: String,
}

/// Whether each fact of the input is in the output, or an edit names its loss. With `roles` a fact is one of
/// its role: only an edit that changes it may.
pub(super) fn are_named(input: &[Message], output: &[Message], edits: &[Diagnostic], roles: bool) {
    let mut left: HashMap<String, isize> = HashMap::new();
    for fact in facts(output, roles) {
        *left.entry(fact.key).or_default() += 1;
    }
    let mut missing: BTreeMap<String, (isize, Vec<Fact>)> = BTreeMap::new();
    for fact in facts(input, roles) {
        let entry = missing.entry(fact.key.clone()).or_default();
        entry.0 += 1;
        entry.1.push(fact);
    }
    for (key, (count, facts)) in missing {
        let lost = count - left.get(&key).copied().unwrap_or(0);
        // Facts that say the same are interchangeable.
        let present = left.get(&key).is_some_and(|it| *it > 0)
            || facts.iter().any(|it| is_named(it, edits, roles));
        let accounted =
            |it: &&Fact| is_named(it, edits, roles) || present && joins_an_equal(it, edits);
        let named = facts.iter().filter(accounted).count() as isize;
        assert!(lost <= named, "{lost} of {facts:?} lost, {named} named\n{edits:#?}");
    }
}

fn is_named(fact: &Fact, edits: &[Diagnostic], roles: bool) -> bool {
    let made = || edits.iter().filter(|it| it.fix.is_some());
    made().any(|it| accounts_for(it, fact, roles))
        || went_with_its_result(fact, edits)
        || moved_in_its_message(fact, edits)
            && made().any(|it| {
                let mut anywhere = it.clone();
                anywhere.at.part = None;
                // The part before may be of a message that this one joined.
                if fact.word == "cache_control" {
                    anywhere.at.message = Some(fact.message);
                }
                accounts_for(&anywhere, fact, roles)
            })
}

/// Whether the part joined a result of its message, or its cache marker went to the part before: later edits
/// name the place where it is then.
fn moved_in_its_message(fact: &Fact, edits: &[Diagnostic]) -> bool {
    let of_message = || edits.iter().filter(|it| it.at.message == Some(fact.message));
    of_message().any(|it| {
        let fix = it.fix.as_deref().unwrap_or_default();
        let joined = it.code == "chain::misplaced-part" && it.at.part == fact.part;
        joined || fix.contains("its cache marker moved") && fact.word == "cache_control"
    })
}

/// Whether a name or member joined one that says the same.
fn joins_an_equal(fact: &Fact, edits: &[Diagnostic]) -> bool {
    let merged = |it: &Diagnostic| {
        it.at.message == Some(fact.message)
            && it.fix.as_ref().is_some_and(|it| it.starts_with("merged"))
    };
    fact.part.is_none() && edits.iter().any(merged)
}

/// Whether a part joined a result of its message, which was dropped.
fn went_with_its_result(fact: &Fact, edits: &[Diagnostic]) -> bool {
    let of_message = || edits.iter().filter(|it| it.at.message == Some(fact.message));
    let joined = of_message().any(|it| match it.code.as_str() {
        "chain::misplaced-part" => it.at.part == fact.part,
        "chain::empty-tool-message" => true,
        _ => false,
    });
    let dropped = |it: &Diagnostic| it.fix.as_ref().is_some_and(|it| it.starts_with("dropped"));
    joined && of_message().any(dropped)
}

fn accounts_for(edit: &Diagnostic, fact: &Fact, roles: bool) -> bool {
    let fix = edit.fix.as_deref().unwrap_or_default();
    // What is renamed is renamed everywhere: a result follows its call.
    match (edit.code.as_str(), fact.kind) {
        ("profile::tool-name", Kind::ToolName) | ("profile::message-name", Kind::Name) => {
            return edit.message().contains(&format!("`{}`", fact.word));
        }
        (
            "profile::tool-call-id"
            | "profile::reused-tool-call-id"
            | "chain::empty-call-id"
            | "chain::duplicate-call-id"
            | "chain::empty-result-id",
            Kind::Id,
        ) => return edit.at.tool_call_id.as_deref() == Some(fact.word.as_str()),
        _ => {}
    }
    // The name and members of a message that joined another are that one's.
    if matches!(fact.kind, Kind::Member | Kind::Name) && fact.part.is_none() {
        let of_members =
            ["profile::unknown-member", "profile::cache-markers", "profile::system-role"]
                .contains(&edit.code.as_str());
        if of_members && fix.contains(&format!("`{}`", fact.word)) {
            return true;
        }
    }
    if edit.at.message != Some(fact.message) {
        return false;
    }
    let here = edit.at.part.is_none() || edit.at.part == fact.part;
    match edit.code.as_str() {
        _ if fix.starts_with("dropped the message") => true,
        // A result that goes takes its message along, where it is all of it.
        _ if fix.starts_with("dropped") => here || fact.part.is_none(),
        _ if fix == "removed the call" => here,
        _ if fix.starts_with("merged") && matches!(fact.kind, Kind::Name | Kind::Member) => {
            fact.part.is_none() && fix.contains(&format!("`{}`", fact.word))
        }
        "chain::orphan-tool-result" | "chain::unexpected-first-role" => {
            fact.kind == Kind::Id && (fact.word.is_empty() || here && fix.starts_with("answers"))
        }
        "chain::nameless-call" => here && fact.kind == Kind::ToolName,
        "chain::missing-call-kind"
        | "chain::empty-arguments"
        | "chain::invalid-arguments"
        | "profile::arguments" => here && fact.kind == Kind::Call,
        "profile::result-name" => here && fact.kind == Kind::ToolName,
        "profile::reasoning-not-accepted" => {
            fact.kind == Kind::Reasoning
                || fact.kind == Kind::Member && fix.contains("the member that repeats it")
        }
        "profile::lone-reasoning" => here && fact.kind == Kind::Reasoning,
        "profile::file-name" => here && fact.word == "medium",
        "profile::server-tool" | "profile::unknown-member" | "profile::cache-markers" => {
            here && (fact.word == "medium" && fix == "removed"
                || fact.key.starts_with("member ") && fix.contains(&format!("`{}`", fact.word)))
        }
        "profile::system-role" if fact.kind != Kind::Content => {
            fix.contains(&format!("`{}`", fact.word))
        }
        "profile::empty-result" => here && is_blank(fact, fix),
        "profile::empty-message" if fix == "removed" => true,
        "profile::empty-message" | "profile::empty-text" => is_blank(fact, fix),
        "chain::unknown-role"
        | "chain::misplaced-system"
        | "chain::repeated-system"
        | "chain::misplaced-part"
        | "chain::empty-tool-message"
        | "profile::developer-role"
        | "profile::system-role"
        | "profile::media-place"
        | "profile::error-result"
        | "profile::later-system" => roles && fact.kind == Kind::Content,
        _ => false,
    }
}

/// Whether a fact is a text without content, or a member of one that the edit names.
fn is_blank(fact: &Fact, fix: &str) -> bool {
    match fact.kind {
        Kind::Content => fact.word.trim().is_empty(),
        Kind::Member => fact.part.is_some() && fix.contains(&format!("`{}`", fact.word)),
        _ => false,
    }
}

fn facts(messages: &[Message], roles: bool) -> Vec<Fact> {
    let mut all = Vec::new();
    for (message, it) in messages.iter().enumerate() {
        let role = if roles { it.role.as_str().to_owned() } else { String::new() };
        let mut add = |part, kind, key: String, word: &str| {
            all.push(Fact { message, part, kind, key, word: word.to_owned() });
        };
        if let Some(name) = &it.name {
            add(None, Kind::Name, format!("name {name}"), name);
        }
        members(&it.extra, &mut |key, word| add(None, Kind::Member, key, word));
        for (at, part) in it.parts.iter().enumerate() {
            part_facts(part, &role, &mut |kind, key, word| add(Some(at), kind, key, word));
        }
    }
    all
}

fn members(extra: &Extra, add: &mut dyn FnMut(String, &str)) {
    for (origin, name, value) in extra.all() {
        add(format!("member {origin} {name} {}", value.text()), name);
    }
}

fn part_facts(part: &Part, role: &str, add: &mut dyn FnMut(Kind, String, &str)) {
    // What a reasoning part has goes with it.
    let kind = if part.as_reasoning().is_some() { Kind::Reasoning } else { Kind::Member };
    members(part.extra(), &mut |key, word| add(kind, key, word));
    match part {
        Part::ToolCall(it) => {
            add(Kind::Id, format!("call id {}", it.id), &it.id);
            add(Kind::ToolName, format!("call name {}", it.name), &it.name);
            add(Kind::Call, format!("kind {}", it.kind), "");
            add(Kind::Call, format!("arguments {}", it.arguments.text()), "");
            // A signature without text is none.
            if let Some(it) = it.signature.as_ref().filter(|it| !it.is_empty()) {
                add(Kind::Reasoning, format!("signature {it}"), "");
            }
        }
        Part::ToolResult(it) => {
            add(Kind::Id, format!("result id {}", it.call_id), &it.call_id);
            if let Some(name) = &it.name {
                add(Kind::ToolName, format!("result name {name}"), name);
            }
            let role = if role.is_empty() { "" } else { Role::Tool.as_str() };
            it.content.parts().iter().for_each(|it| part_facts(it, role, add));
        }
        Part::Reasoning(_) => add(Kind::Reasoning, format!("{:?}", plain(part)), ""),
        Part::Text(it) => add(Kind::Content, format!("{role} text {}", it.text), &it.text),
        _ => add(Kind::Content, format!("{role} {:?}", plain(part)), "medium"),
    }
}

/// A part without its extra members.
fn plain(part: &Part) -> Part {
    let mut part = part.clone();
    *part.extra_mut() = Extra::default();
    part
}
