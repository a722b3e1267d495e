//! What a case file says of one function: patterns, arguments, chains for tests.
//!
//! What parsing and repairing allocate: the lists of the tree, and for what is mended a few texts.

use msg_chainast::{
    Acceptance, ChainAst, ChainCheckOptions, ChainRepairOptions, IdPattern, Message, Orphans, Part,
    Profile, ReasoningKept, ReasoningRequired, SeededIds, SystemPlace, ToolCall, UnknownRole,
    UserMessage, check, repair, sanitize_json_control_chars,
    testing::{self, generate_chain, generate_complex_chain},
};
use msg_core::{Diagnostic, Image, Origin, RawJson, Reasoning, Role, ToolResult};
use serde_json::{Value, json};

use crate::laws;

#[test]
fn patterns() {
    testkit::rows!("patterns.jsonl").check_expect(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let pattern = match case["pattern"].as_str().unwrap().parse::<IdPattern>() {
            Err(error) => return json!({"error": error.to_string()}).to_string(),
            Ok(it) => it,
        };
        let (id, name) = (case["id"].as_str().unwrap(), case["name"].as_str().unwrap());
        let generated = pattern.generate(name, 7, &mut SeededIds::new(3));
        assert!(pattern.matches(&generated, name), "{generated}");
        json!({"matches": pattern.matches(id, name), "generated": generated}).to_string()
    });
}

#[test]
fn arguments() {
    testkit::rows!("arguments.jsonl").check_expect(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let text = case["arguments"].as_str().unwrap();
        let call = Part::ToolCall(ToolCall::new("a", "f", text));
        let asked = vec![Message::user("q"), Message::assistant("").with_part(call)];
        let mut chain = ChainAst::parse_open(asked).unwrap();
        let changes = chain.sanitize_arguments();
        let call = chain.pending_calls().next().unwrap().call();
        let escaped = sanitize_json_control_chars(text);
        json!({"escaped": escaped, "sanitized": call.arguments.text(), "changes": changes})
            .to_string()
    });
}

#[test]
fn chains_for_tests() {
    testkit::rows!("testing.jsonl").check_expect(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let name = case["name"].as_str().unwrap();
        let chain = match name.split_once('/').map(|it| it.0) {
            Some("generate_chain") => {
                generate_chain(&serde_json::from_value(case["config"].clone()).unwrap())
            }
            Some(_) => {
                let args = numbers(&case["args"]);
                let chain = generate_complex_chain(args[0], args[1], args[2]);
                laws::only_missing_results_are_mended(&chain, args[2].min(args[0] * args[1]));
                chain
            }
            None => testing::chain(name).unwrap(),
        };
        let refused = ChainAst::parse(chain.clone()).err().map(|it| it.to_string());
        json!({"messages": chain, "refused": refused}).to_string()
    });
}

fn numbers(json: &Value) -> Vec<usize> {
    json.as_array().unwrap().iter().map(|it| it.as_u64().unwrap() as usize).collect()
}

#[test]
fn the_table_is_the_file() {
    // The file is read as a user's would be where that is compiled in; the table was written from it.
    let text = include_str!("../../profiles.toml");
    assert!(Profile::all().iter().all(|it| text.contains(&format!("[{}]", it.name))));
    #[cfg(feature = "toml")]
    assert_eq!(Profile::all_from_toml(text).unwrap(), Profile::all());
}

/// What is wrong with a profile file and where, or the fields in which its profile differs from the default.
#[cfg(feature = "toml")]
#[test]
fn profile_files() {
    testkit::rows!("profile_files.jsonl").check_expect(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        match Profile::from_toml(case["text"].as_str().unwrap()) {
            Err(it) => json!({"error": it.to_string()}).to_string(),
            Ok(it) => {
                let default = Profile::new("");
                let own = it.fields().zip(default.fields()).filter(|it| it.0 != it.1);
                let fields: Vec<_> = own.map(|it| it.0).collect();
                let models: Vec<_> = it.models.iter().map(|it| &it.0).collect();
                let sources = &it.sources;
                json!({"name": it.name, "fields": fields, "models": models, "sources": sources})
                    .to_string()
            }
        }
    });
}

#[test]
fn reasoning_goes_with_the_member_that_repeats_it() {
    let reading = |members: &[(&'static str, &str)]| {
        let mut message = Message::assistant("Yes.");
        message.parts.insert(0, Part::Reasoning(Reasoning::new("Hm.")));
        for (name, value) in members {
            message.extra.insert(Origin::OpenAi, *name, RawJson::new(*value).unwrap());
        }
        message
    };
    let options = ChainRepairOptions::new().with_profile(Profile::named("anthropic").unwrap());
    type Members<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Members<'_>, &str, usize); 4] = [
        (&[], "removed", 0),
        (&[("reasoning", "\"Hm.\"")], "removed, with the member that repeats it", 0),
        (&[("reasoning_content", "\"Hm.\"")], "removed, with the member that repeats it", 0),
        // Not reasoning, but what somebody else calls so.
        (&[("reasoning", "{\"effort\":1}"), ("id", "\"m\"")], "removed", 2),
    ];
    for (members, fix, left) in cases {
        let messages = vec![Message::user("Yes?"), reading(members)];
        let profile = Profile::named("anthropic").unwrap();
        let found = check(&messages, Some(profile), &ChainCheckOptions::new());
        let (chain, edits) = ChainAst::repair(messages, &options, &mut SeededIds::new(1));
        assert_eq!(edits.iter().map(|it| it.fix.as_deref()).collect::<Vec<_>>(), [Some(fix)]);
        let advice: Vec<_> = edits.into_iter().map(Diagnostic::into_advice).collect();
        assert_eq!(found, advice);
        assert_eq!(chain.messages().last().map(|it| it.extra.len()), Some(left));
    }
}

#[test]
fn cleared_reasoning_is_not_read_again() {
    let mut message = Message::assistant("Yes.");
    message.parts.insert(0, Part::Reasoning(Reasoning::new("Hm.")));
    message.extra.insert(Origin::OpenAi, "reasoning", RawJson::new("\"Hm.\"").unwrap());
    message.extra.insert(Origin::OpenAi, "id", RawJson::new("\"m\"").unwrap());
    let mut chain = ChainAst::parse(vec![Message::user("Yes?"), message]).unwrap();
    assert_eq!(chain.clear_reasoning().len(), 1);
    let left = chain.messages().last().unwrap();
    assert_eq!((left.parts.len(), left.extra.len()), (1, 1));
    assert!(chain.clear_reasoning().is_empty());
}

#[test]
fn a_cut_inside_a_turn_keeps_its_calls() {
    let mut profile = Profile::named("deepseek").unwrap().clone();
    profile.alternate = false;
    profile.media_roles = vec!["any".to_owned()];
    profile.reasoning_require = ReasoningRequired::None;
    profile.reasoning_keep = ReasoningKept::CallTurns;
    let thinks = |text: &str| {
        let mut message = Message::assistant(text);
        message.parts.insert(0, Part::Reasoning(Reasoning::new("Hm.")));
        message
    };
    let call = Part::ToolCall(ToolCall::new("a", "f", "{}"));
    // An image alone begins a section and no turn, so its reasoning is accepted for the call before it.
    let image = Part::Image(Image::from_url("https://example.org/1.png"));
    let messages = vec![
        Message::user("q"),
        thinks("").with_part(call),
        Message::tool_result("a", "r"),
        Message::new(Role::User).with_part(image),
        thinks("x"),
        thinks("y"),
    ];
    let chain = ChainAst::parse(messages.clone()).unwrap();
    assert!(chain.check(&profile, &ChainCheckOptions::new()).is_empty());
    assert_eq!(chain.cut_points(Some(&profile)).count(), 0);
    laws::cuts_are_legal(&messages, Some(&profile));
}

#[test]
fn a_cut_without_a_user_is_for_a_profile_that_wants_none() {
    let said = |it: &str| Message::assistant(it);
    let messages = vec![Message::new(Role::System).with_text("s"), said("a"), said("b")];
    let chain = ChainAst::parse(messages.clone()).unwrap();
    let points = |profile: Option<&Profile>| -> Vec<usize> {
        chain.cut_points(profile).map(|it| it.message_index()).collect()
    };
    assert_eq!(points(None), [2]);
    laws::cuts_are_legal(&messages, None);
    let mut profile = Profile::named("openai").unwrap().clone();
    for (user, wanted) in
        [(UserMessage::Any, &[2][..]), (UserMessage::Some, &[]), (UserMessage::First, &[])]
    {
        profile.user = user;
        assert_eq!(points(Some(&profile)), wanted, "{user:?}");
    }
}

#[test]
fn a_later_result_keeps_its_own_message() {
    let call = |id: &str| Part::ToolCall(ToolCall::new(id, "f", "{}"));
    let result = |id: &str, text: &str| Part::ToolResult(ToolResult::new(id, text));
    let mut both = Message::new(Role::Tool);
    both.parts = vec![result("a", "old"), result("b", "r")];
    both.name = Some("n".to_owned());
    let mut later = Message::tool_result("a", "new");
    later.extra.insert(Origin::OpenAi, "id", RawJson::new("\"m\"").unwrap());
    let calls = Message::assistant("").with_part(call("a")).with_part(call("b"));
    let messages = vec![Message::user("q"), calls, both, later.clone()];
    let (chain, edits) =
        ChainAst::repair(messages, &ChainRepairOptions::new(), &mut SeededIds::new(1));
    assert_eq!(edits.len(), 1);
    let mut left = Message::new(Role::Tool).with_part(result("b", "r"));
    left.name = Some("n".to_owned());
    let tools = [&later, &left];
    assert!(chain.messages().skip(2).eq(tools), "{:#?}", chain.into_messages());
}

#[test]
fn a_number_is_appended_and_said_where_a_pattern_is_exhausted() {
    let call = |id: &str| Part::ToolCall(ToolCall::new(id, "f", "{}"));
    let chain = |ids: [&str; 2]| {
        let calls = Message::assistant("").with_part(call(ids[0])).with_part(call(ids[1]));
        let results = ids.map(|it| Message::tool_result(it, "r"));
        ChainAst::parse([Message::user("q"), calls].into_iter().chain(results).collect()).unwrap()
    };
    let normalized = |ids: [&str; 2], pattern: &str| {
        let pattern = pattern.parse().unwrap();
        let map = chain(ids).normalize_tool_call_ids(&pattern, &mut SeededIds::new(1));
        map.iter().map(|it| (it.new.clone(), it.numbered)).collect::<Vec<_>>()
    };
    // A number beside the id without it was appended by an earlier run; alone it is not an id of the pattern.
    assert_eq!(normalized(["call_11", "call_11_2"], "call_{r:2:d}")[1].0, "call_11_2");
    assert_eq!(normalized(["call_12", "call_11_2"], "call_{r:2:d}")[1].0.len(), 7);
    let fixed = [("lit".to_owned(), false), ("lit_2".to_owned(), true)];
    assert_eq!(normalized(["a", "b"], "lit"), fixed);
    assert!(normalized(["lit", "lit_2"], "lit").iter().all(|it| !it.1));

    let mut profile = Profile::named("mistral").unwrap().clone();
    profile.id_pattern = "lit".parse().unwrap();
    (profile.id_min, profile.id_max) = (1, 5);
    profile.id_class = "[a-z_0-9]".parse().unwrap();
    let edits = chain(["a-", "b-"]).conform(&profile, &mut SeededIds::new(1));
    let fixes: Vec<_> = edits.iter().map(|it| it.fix.as_deref().unwrap()).collect();
    assert_eq!(fixes[0], "given a fresh id");
    assert!(fixes[1].starts_with("given a fresh id, with a number appended"), "{fixes:?}");
}

#[test]
fn a_growing_chain_keeps_the_ids_that_a_profile_gave() {
    let call = |id: &str| Part::ToolCall(ToolCall::new(id, "f", "{}"));
    let mut messages = vec![
        Message::user("q"),
        Message::assistant("").with_part(call("x 1")),
        Message::tool_result("x 1", "r"),
    ];
    let options = ChainRepairOptions::new().with_profile(Profile::named("anthropic").unwrap());
    let first_id = |messages: &[Message]| {
        let (chain, _) = ChainAst::repair(messages.to_vec(), &options, &mut SeededIds::new(1));
        let first = chain.messages().nth(1).and_then(|it| it.tool_calls().next());
        first.map(|it| it.id.clone())
    };
    let before = first_id(&messages);
    messages.push(Message::assistant("").with_part(call("")));
    messages.push(Message::tool_result("", "r"));
    assert_eq!(first_id(&messages), before);
}

/// A layout is not part of a message's JSON, so this is not a row.
#[test]
fn results_of_a_pair_in_several_contents_are_joined() {
    let call = |id: &str| Part::from(ToolCall::new(id, "f", "{}"));
    let result = |id: &str| {
        let it = ToolResult { name: Some("f".into()), ..ToolResult::new(id, "r") };
        Message::new(Role::Tool).with_part(Part::from(it))
    };
    let assistant = Message::assistant("").with_part(call("a")).with_part(call("b"));
    let mut messages = vec![Message::user("q"), assistant, result("a"), result("b")];
    let mut strict = Profile::named("gemini").expect("a profile").asked_as("gemini-2.5-flash");
    let gemini = ChainRepairOptions::new().with_profile(&strict);
    strict.split_results = Acceptance::Reject;
    let options = ChainRepairOptions::new().with_profile(&strict);
    let mend = |it: &[Message]| repair(it.to_vec(), &options, &mut SeededIds::new(1));
    assert_eq!(mend(&messages).1, []);
    messages.iter_mut().for_each(|it| it.extra.set_layout(Origin::Gemini, [1]));
    assert_eq!(repair(messages.clone(), &gemini, &mut SeededIds::new(1)).1, []);
    let (mended, report) = mend(&messages);
    let places: Vec<_> = report.iter().map(|it| (it.code.as_str(), it.at.message)).collect();
    assert_eq!(places, [("profile::split-results", Some(3))]);
    let keeps = |it: &Message| it.extra.layout(&Origin::Gemini).is_some();
    assert_eq!(mended.iter().map(keeps).collect::<Vec<_>>(), [true, true, true, false]);
}

/// Options are read from JSON strictly; a profile is named.
#[test]
fn options_are_data() {
    let json = r#"{"check": {"open": true}, "orphans": "keep", "unknown_role": "user", "id_pattern": "x{r:4:d}",
        "placeholder": "lost", "profile": "openai"}"#;
    let options: ChainRepairOptions = serde_json::from_str(json).unwrap();
    assert_eq!(options.check, ChainCheckOptions::new().with_open());
    assert_eq!((options.orphans, options.unknown_role), (Orphans::Keep, UnknownRole::AsUser));
    assert_eq!(options.profile.map(|it| it.name.clone()).as_deref(), Some("openai"));
    let refused =
        |json: &str| serde_json::from_str::<ChainRepairOptions>(json).unwrap_err().to_string();
    assert!(refused(r#"{"profile": "unknown"}"#).starts_with(r#"no profile is called "unknown""#));
    assert!(refused(r#"{"id_pattern": ""}"#).starts_with("empty pattern"));
    assert!(refused(r#"{"opened": true}"#).contains("unknown field `opened`"));
    assert!(
        refused(r#"{"orphans": "lose"}"#).contains("expected one of `fabricate`, `drop`, `keep`")
    );
}

/// A member that joined the system message at the front goes with it, where a provider takes no system
/// message; that edit names it.
#[test]
fn members_of_merged_system_messages_are_named_where_they_went() {
    let system = |text: &str, member: &str| {
        let mut it = Message::system(text);
        it.extra.insert(Origin::OpenAi, member, RawJson::string(text));
        it
    };
    let messages = vec![system("a", "cache_control"), Message::user("q"), system("b", "metadata")];
    let mut profile = Profile::new("x");
    profile.system = SystemPlace::User;
    let options = ChainRepairOptions::new().with_profile(&profile);
    laws::nothing_is_lost(&messages, &options);
    let (_, edits) = repair(messages, &options, &mut SeededIds::new(1));
    let fixes: Vec<_> = edits.iter().filter_map(|it| it.fix.as_deref()).collect();
    let named = "put before the user's text, without the members `cache_control`, `metadata`";
    assert_eq!(fixes, [named, "merged into the system message at the front"]);
}

/// Turns of a question, two calls with their results, and an answer.
fn turns(n: usize) -> Vec<Message> {
    let turn = |at: usize| {
        let ids = [format!("call_{at}_a"), format!("call_{at}_b")];
        let call = |id: &String| Part::ToolCall(ToolCall::new(id.as_str(), "read", "{}"));
        let asking = Message::assistant("").with_part(call(&ids[0])).with_part(call(&ids[1]));
        let [first, second] = ids.map(|it| Message::tool_result(it, "done"));
        [Message::user("q"), asking, first, second, Message::assistant("so it is")]
    };
    (0..n).flat_map(turn).collect()
}

/// How often `f` allocates; freeing what it gives is not counted.
fn count<T>(f: impl FnOnce() -> T) -> u64 {
    let mut res = None;
    let info = allocation_counter::measure(|| res = Some(f()));
    drop(res);
    info.count_total
}

fn tree_of(messages: Vec<Message>) -> (ChainAst, Vec<msg_core::Diagnostic>) {
    ChainAst::repair(messages, &ChainRepairOptions::new(), &mut SeededIds::new(1))
}

/// The list of sections, the pairs of each, and the tool messages of each pair that has some.
fn lists(turns: u64) -> u64 {
    1 + 2 * turns
}

#[test]
fn a_valid_chain_costs_the_lists_of_its_tree() {
    let chain = turns(1_000);
    let parsed = chain.clone();
    let parse = count(|| ChainAst::parse(parsed).unwrap());
    assert_eq!(parse, lists(1_000));
    let fixed = count(|| tree_of(Vec::new())) + 40; // lists of the walk, which double as they grow
    let repaired = count(|| tree_of(chain));
    assert!(repaired <= lists(1_000) + fixed, "{repaired}");
}

#[test]
fn a_moved_result_costs_one_allocation_and_a_placeholder_four() {
    let n_calls = 2_000;
    let (mut late, results): (Vec<_>, Vec<_>) =
        turns(1_000).into_iter().partition(|it| it.role != msg_core::Role::Tool);
    let missing = late.clone();
    late.extend(results);
    let fixed = 100;
    // The id in the report.
    let late = count(|| tree_of(late));
    assert!(late <= lists(1_000) + n_calls + fixed, "{late}");
    // The same, and the part, the id and the name of the placeholder.
    let missing = count(|| tree_of(missing));
    assert!(missing <= lists(1_000) + 4 * n_calls + fixed, "{missing}");
}

#[test]
fn a_result_that_is_pushed_does_not_cost_the_calls_of_its_pair() {
    let n_calls = 1_000;
    let id = |at: u64| format!("call_{at}");
    let calls = (0..n_calls).map(|at| Part::ToolCall(ToolCall::new(id(at), "read", "{}")));
    let asking = calls.fold(Message::assistant(""), Message::with_part);
    // Of as many messages as tests count again after each edit, which allocates.
    let mut chain =
        ChainAst::parse_open([turns(300), vec![Message::user("q"), asking]].concat()).unwrap();
    let results: Vec<_> = (0..n_calls).map(|at| Message::tool_result(id(at), "done")).collect();
    let pushed = count(|| results.into_iter().for_each(|it| chain.push(it).unwrap()));
    let each = 4; // lists that double, the entry of the index, and the set of its ids
    assert!(pushed <= each * n_calls, "{pushed}");
}
