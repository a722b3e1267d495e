//! Case files: a chain a line, with what a check finds, what a parse says and what a repair gives, word for
//! word.

use msg_chainast::{
    BadArguments, ChainAst, ChainCheckOptions, ChainRepairOptions, First, IdPattern, Message,
    Orphans, Profile, SeededIds, UnknownRole, check, repair,
};
use msg_core::Diagnostic;
use serde_json::{Value, json};

use crate::openai;

#[test]
fn chains() {
    testkit::rows!("chains.jsonl").check_expect(|row| {
        let case = Case::read(&row.text);
        crate::laws::pushing_is_parsing(&case.messages);
        let found = check(&case.messages, None, &ChainCheckOptions::new());
        let closed = parsed("parse", ChainAst::parse(case.messages.clone()), &case, &found);
        let mut out = json!({"check": found, "parse": closed});
        if !out["parse"].is_object() {
            let found = check(&case.messages, None, &ChainCheckOptions::new().with_open());
            let open = parsed("open", ChainAst::parse_open(case.messages.clone()), &case, &found);
            // Nearly always a chain is as wrong with an open end as without.
            if open != out["parse"] {
                out["open"] = json!({"check": found, "parse": open});
            }
        }
        case.add_repair(&mut out, &ChainRepairOptions::new());
        out.to_string()
    });
}

#[test]
fn options() {
    testkit::rows!("options.jsonl").check_expect(|row| {
        let case = Case::read(&row.text);
        let mut out = json!({});
        case.add_repair(&mut out, &flags(&case.json["flags"]));
        out.to_string()
    });
}

#[test]
fn profiles() {
    testkit::rows!("profiles.jsonl").check_expect(|row| {
        let case = Case::read(&row.text);
        let profile = Profile::named(case.text("profile")).unwrap();
        case.judged_by(profile)
    });
}

/// Profiles of a user's own reach what no built-in one does.
#[cfg(feature = "toml")]
#[test]
fn own_profiles() {
    testkit::rows!("profiles_own.jsonl").check_expect(|row| {
        let case = Case::read(&row.text);
        let profile = Profile::from_toml(case.text("profile")).unwrap();
        let options = ChainRepairOptions::new().with_profile(&profile);
        crate::laws::repair_is_valid(&case.messages, &options, Some(&profile), false);
        case.judged_by(&profile)
    });
}

#[test]
fn operations() {
    testkit::rows!("ops.jsonl").check_expect(|row| {
        let case = Case::read(&row.text);
        let messages = case.messages.clone();
        let mut chain = match case.text("mode") {
            "open" => ChainAst::parse_open(messages).unwrap(),
            _ => ChainAst::repair(messages, &ChainRepairOptions::new(), &mut SeededIds::new(7)).0,
        };
        let ops = case.json["ops"].as_array().unwrap();
        let done: Vec<Value> = ops.iter().map(|op| applied(&mut chain, op)).collect();
        let mut out = tree(&chain);
        out["ops"] = done.into();
        out.to_string()
    });
}

/// A row: its members, and the messages.
struct Case {
    json: Value,
    messages: Vec<Message>,
}

impl Case {
    fn read(row: &str) -> Self {
        let json: Value = serde_json::from_str(row).unwrap();
        let messages = openai::messages(&json["messages"]);
        Case { json, messages }
    }

    fn text(&self, member: &str) -> &str {
        self.json[member].as_str().unwrap()
    }

    /// What a check with a profile finds, and what a repair for it gives; list and tree agree.
    fn judged_by(&self, profile: &Profile) -> String {
        let found = check(&self.messages, Some(profile), &ChainCheckOptions::new());
        let options = ChainRepairOptions::new().with_profile(profile);
        let (mended, report) = repair(self.messages.clone(), &options, &mut SeededIds::new(7));
        same("errors of the list", &errors(&report), &errors(&found));
        if report.iter().all(|it| it.fix.is_none()) {
            same("a list without an edit", &mended, &self.messages);
        }
        let all = options.clone().with_all();
        let (mended, report) = repair(self.messages.clone(), &all, &mut SeededIds::new(7));
        let (chain, found) = ChainAst::repair(self.messages.clone(), &all, &mut SeededIds::new(7));
        same("list and tree", &mended, &chain.into_messages());
        same("report of list and tree", &report, &found);
        let mut out = json!({"check": found});
        self.add_repair(&mut out, &options);
        out.to_string()
    }

    /// Adds what a repair gives; its report only where it is not that of the check.
    fn add_repair(&self, out: &mut Value, options: &ChainRepairOptions) {
        let (chain, report) =
            ChainAst::repair(self.messages.clone(), options, &mut SeededIds::new(7));
        assert!(report.is_sorted_by_key(|it| (it.at.message, it.at.part)), "not in order");
        out["repair"] = tree(&chain);
        let advice: Vec<_> = report.iter().cloned().map(Diagnostic::into_advice).collect();
        if out["check"] != json!(advice) {
            out["repair"]["report"] = json!(report);
        }
    }
}

/// The errors, with the fix as a check says it: a repair says what it did.
fn errors(found: &[Diagnostic]) -> Vec<Diagnostic> {
    found.iter().filter(|it| it.is_error()).cloned().map(Diagnostic::into_advice).collect()
}

/// What a parse says: the shape of the tree, or the error. It reports what a check does, and gives back the
/// messages.
fn parsed(
    what: &str,
    result: Result<ChainAst, msg_chainast::ParseError>,
    case: &Case,
    found: &[Diagnostic],
) -> Value {
    match result {
        Ok(it) => {
            let view = json!(it.view());
            same(what, &it.into_messages(), &case.messages);
            view
        }
        Err(it) => {
            same(what, &it.diagnostics(), &found);
            let text = it.to_string();
            same(what, &it.into_messages(), &case.messages);
            text.into()
        }
    }
}

/// A tree: its shape, and the messages in native JSON.
fn tree(chain: &ChainAst) -> Value {
    let mut out = json!(chain.view());
    out["messages"] = chain.messages().map(|it| json!(it)).collect();
    out
}

fn applied(chain: &mut ChainAst, op: &Value) -> Value {
    let done = apply(chain, op);
    let mut out = json!({"op": op["op"], "size": chain.size()});
    match done {
        Ok(Value::Null) => {}
        Ok(it) => out["gave"] = it,
        Err(it) => out["error"] = it.into(),
    }
    out
}

fn apply(chain: &mut ChainAst, op: &Value) -> Result<Value, String> {
    let text = |it: &str| openai::text(&op[it]);
    Ok(match op["op"].as_str().unwrap() {
        "append_user" => {
            chain.append_user(text("content"));
            Value::Null
        }
        "add_tool_result" => {
            let added = chain.add_tool_result(&text("id"), &text("name"), text("content"));
            added.map_err(|it| it.to_string())?;
            Value::Null
        }
        "normalize_ids" => {
            let pattern = text("pattern").parse::<IdPattern>().map_err(|it| it.to_string())?;
            let map = chain.normalize_tool_call_ids(&pattern, &mut SeededIds::new(9));
            map.iter().map(|it| json!([it.old, it.new])).collect()
        }
        "push" => {
            let message = openai::messages(&json!([op["message"]])).remove(0);
            chain.push(message).map_err(|it| it.to_string())?;
            Value::Null
        }
        "pop" => json!(chain.pop()),
        "clear_reasoning" => json!(chain.clear_reasoning()),
        "sanitize_arguments" => json!(chain.sanitize_arguments()),
        "find" => chain.find_tool_results(op["id"].as_str().unwrap()).map(|it| json!(it)).collect(),
        other => panic!("operation {other}"),
    })
}

fn flags(json: &Value) -> ChainRepairOptions {
    let mut options = ChainRepairOptions::new();
    let mut words = json.as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    while let Some(flag) = words.next() {
        if flag == "--open" {
            options = options.with_check(ChainCheckOptions::new().with_open());
            continue;
        }
        options = match (flag, words.next().unwrap()) {
            ("--orphans", "drop") => options.with_orphans(Orphans::Drop),
            ("--orphans", "keep") => options.with_orphans(Orphans::Keep),
            ("--first", "drop") => options.with_first(First::Drop),
            ("--unknown-role", "user") => options.with_unknown_role(UnknownRole::AsUser),
            ("--arguments", "sanitize") => options.with_arguments(BadArguments::Sanitize),
            ("--arguments", "mend") => options.with_arguments(BadArguments::Mend),
            ("--arguments", "complete") => options.with_arguments(BadArguments::Complete),
            ("--id-pattern", it) => options.with_id_pattern(it.parse().unwrap()),
            other => panic!("flag {other:?}"),
        };
    }
    options
}

#[track_caller]
fn same<A: PartialEq<B> + std::fmt::Debug, B: std::fmt::Debug>(what: &str, mine: &A, other: &B) {
    if mine != other {
        let diff = testkit::diff(&format!("{other:#?}\n"), &format!("{mine:#?}\n"));
        panic!("{what}:\n{diff}");
    }
}
