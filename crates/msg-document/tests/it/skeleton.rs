//! Skeletons of chat messages: of random documents that are plain or nearly so, and of the documents of other suites.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "recorded conversations are files, of a folder that can be named; what was compared is printed"
)]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use msg_chainast::Profile;
use msg_document::{ReadOptions, RepairOptions, Skeleton};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::laws::skeleton::{a_skeleton_answers_as_the_document, mended_both_ways, repair};

const HEADS: &[&str] =
    &["", "word", " ", r"\n", "Tool: ls ", r"\u0054ool: ", "\u{e000}0\u{e000}", r"\ud83e\udd80"];
const MIDDLES: &[&str] =
    &["word ", r"<tool_call>f</tool_call>", r"\n", " ", r"\ud83e", r"\u00e9\u2003", r#"\"\\"#, "é"];
const TAILS: &[&str] = &[
    "",
    r#"<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"#,
    r"\\u",
    "end",
    " ",
    r"\n",
    r"\u2003",
    r"\\n",
    "\u{3000}",
    r"\t.",
];
/// Members of requests, which are read whole if anything about them is unusual.
const BODIES: &[&str] = &[
    "",
    r#""model":"m","#,
    r#""model":"o3-mini","#,
    r#""model":"gpt-5","stream":false,"#,
    r#""stream":true,"temperature":0.5,"#,
    r#""tools":[{"type":"function","function":{"name":"f"}}],"#,
    r#""tools":[{"name":"f","input_schema":{}}],"#,
    r#""tools":[],"max_tokens":null,"#,
    r#""system":"s","#,
    r#""system":[{"text":"s"}],"#,
    r#""tool_choice":"auto","stream_options":{"include_usage":true},"user":null,"#,
    r#""modelId":"m","#,
    r#""session_id":"s","message_count":1,"#,
    r#""choices":[],"#,
    r#""messages":[],"#,
];
/// Members of messages beside role and content.
const MEMBERS: &[&str] = &[
    "",
    "",
    r#","refusal":null"#,
    r#","refusal":null,"vendor":null,"annotations":null"#,
    r#","reasoning":null,"logprobs":null"#,
    r#","refusal":"no""#,
    r#","annotations":[],"audio":null"#,
    r#","function_call":null,"provider_specific_fields":{"a":1}"#,
    r#","reasoning_content":"because""#,
    r#","reasoning":" ","reasoning_content":null"#,
    r#","reasoning":"a","reasoning_content":"b""#,
    r#","reasoning_content":"""#,
    r#","prefix":true"#,
    r#","reasoning_details":[{"type":"reasoning.text","text":"a"}],"metadata":{},"weight":1"#,
    r#","vendor":1"#,
    r#","agent":"main","usage":{"a":[1]},"vendor":null"#,
    r#","vendor":1,"vendor":2"#,
    r#","parts":[]"#,
    r#","type":"message","id":"m""#,
    r#","from":"human","value":"a""#,
    r#","time":{},"id":"a","created":1"#,
    r#","function_call":{"name":"f","arguments":"{}"}"#,
    r#","function_call":{"name":"f","arguments":""}"#,
    r#","function_call":{"name":"f"}"#,
    r#","thinking_blocks":[]"#,
    r#","name":"ann""#,
    r#","name":"""#,
    r#","tool_calls":null"#,
    r#","content":"twice""#,
    r#","refusal":null,"refusal":null"#,
    r#","reasoning":null,"reasoning":"a""#,
    r#","weight":1,"weight":2"#,
    r#","function_call":null,"function_call":{"name":"f","arguments":"{}"}"#,
];

#[test]
fn a_short_text_may_look_like_a_long_escape() {
    let json = br#"[{"role":"user","content":"\\u"},{"role":"assistant","content":"a"}]"#;
    a_skeleton_answers_as_the_document(json, None);
}

#[test]
fn a_message_that_moves_keeps_its_breakpoint() {
    let json = br#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"},
        {"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"c"}]"#;
    a_skeleton_answers_as_the_document(json, None);
}

#[test]
fn a_call_in_a_long_text_is_seen() {
    const CALLS: [&str; 6] = [
        r#"<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"#,
        r#"\u003ctool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"#,
        r#"[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{}}]"#,
        "[f(a=1), f(a=2)]",
        "[a](https://x/a) and <b>",
        "",
    ];
    for (n, call) in CALLS.into_iter().enumerate() {
        for (head, call_id) in [("word ", "a"), ("word ", "b"), ("", "b")] {
            let text = head.repeat(40) + &call.replace('1', &"1".repeat(150));
            let json = format!(
                r#"[{{"role":"user","content":"a"}},{{"content":"{text}","role":"assistant","tool_calls":[{{"id":"a","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}}, {{"role":"tool","tool_call_id":"{call_id}","content":"1"}}]"#
            );
            assert!(a_skeleton_answers_as_the_document(json.as_bytes(), None), "{n}");
        }
    }
}

/// Texts as they are spelled in JSON: short and long, blank, with escapes and ends of white space.
fn text() -> impl Strategy<Value = String> {
    let times = select(&[0_usize, 1, 30, 150, 800][..]);
    let spell = |(head, middle, times, tail): (&str, &str, usize, &str)| {
        format!("\"{head}{}{tail}\"", middle.repeat(times))
    };
    (select(HEADS), select(MIDDLES), times, select(TAILS)).prop_map(spell)
}

fn content() -> impl Strategy<Value = String> {
    let part = |(kind, text, more)| format!(r#"{{"type":"{kind}","text":{text}{more}}}"#);
    let more = [
        "",
        "",
        r#","file":{"file_id":"f"}"#,
        r#","cache_control":{}"#,
        r#","image_url":{"url":"https://x/a"}"#,
    ];
    let kind =
        select(&["text", "text", "image_url", "input_audio", "file", "image", "tool_use"][..]);
    let part = (kind, text(), select(more.to_vec())).prop_map(part);
    let list = prop::collection::vec(part, 0..3).prop_map(|it| format!("[{}]", it.join(",")));
    prop_oneof![4 => text(), 1 => Just("null".to_owned()), 1 => list]
}

fn id() -> impl Strategy<Value = &'static str> {
    select(&["a", "b", "c", "", "call_123", "toolu 1"][..])
}

fn call() -> impl Strategy<Value = String> {
    let arguments = select(&[r#""{}""#, r#""{\"a\":1}""#, r#""{""#, r#""[1]""#, r#""""#, "{}"][..]);
    let kind = select(
        &[
            r#""type":"function","#,
            r#""type":"function","#,
            "",
            r#""index":0,"#,
            r#""vendor":{},"#,
            r#""extra_content":{},"#,
            r#""type":"custom","#,
        ][..],
    );
    let id = prop::option::of(id())
        .prop_map(|it| it.map_or(String::new(), |it| format!(r#""id":"{it}","#)));
    let call = |(id, kind, arguments)| {
        format!(r#"{{{id}{kind}"function":{{"name":"f","arguments":{arguments}}}}}"#)
    };
    (id, kind, arguments).prop_map(call)
}

fn message() -> impl Strategy<Value = String> {
    let calls = prop::collection::vec(call(), 0..3).prop_map(|it| it.join(","));
    let plain = (select(&["user", "system", "developer", "assistant", "human"][..]), content());
    let plain = plain.prop_map(|(role, content)| format!(r#""role":"{role}","content":{content}"#));
    let calling = (content(), calls).prop_map(|(content, calls)| {
        format!(r#""role":"assistant","content":{content},"tool_calls":[{calls}]"#)
    });
    let result = (id(), content()).prop_map(|(id, content)| {
        format!(r#""role":"tool","tool_call_id":"{id}","content":{content}"#)
    });
    let old = content().prop_map(|it| format!(r#""role":"function","name":"f","content":{it}"#));
    let lone = content().prop_map(|it| format!(r#""content":{it},"role":"tool""#));
    let message = prop_oneof![4 => plain, 3 => calling, 4 => result, 1 => old, 1 => lone];
    (message, select(MEMBERS)).prop_map(|(message, more)| format!("{{{message}{more}}}"))
}

fn document() -> impl Strategy<Value = String> {
    let list = prop::collection::vec(message(), 0..7).prop_map(|it| format!("[{}]", it.join(", ")));
    let body = |(list, body): (String, &str)| format!(r#"{{{body}"messages":{list}}}"#);
    (any::<bool>(), list, select(BODIES))
        .prop_map(move |(is_bare, list, it)| if is_bare { list } else { body((list, it)) })
}

fn profile() -> impl Strategy<Value = Option<&'static Profile>> {
    let all: Vec<_> = Profile::all().iter().collect();
    prop::option::of(select(all))
}

proptest! {
    #[test]
    fn skeletons_of_random_documents_answer_as_they_do(json in document(), profile in profile()) {
        a_skeleton_answers_as_the_document(json.as_bytes(), profile);
    }
}

/// Every text in the rows of other suites, and every value in them that may be a document.
#[test]
fn skeletons_of_the_documents_of_other_suites_answer_as_they_do() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let files = [
        "msg-arrow/test_data/documents.jsonl",
        "msg-formats/test_data/recognise.jsonl",
        "msg-document/test_data/values.jsonl",
        "msg-document/test_data/convert.jsonl",
    ];
    let mut found = 0;
    for file in files {
        for row in testkit::Rows::open(format!("{folder}/../{file}")).rows() {
            let row: Value = serde_json::from_str(&row.text).expect("because a row is JSON");
            for value in row.as_object().expect("because a row is an object").values() {
                let json = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                for profile in Profile::all().iter().map(Some).chain([None]) {
                    let has_one = a_skeleton_answers_as_the_document(json.as_bytes(), profile);
                    found += usize::from(has_one && profile.is_none());
                }
            }
        }
    }
    assert!(found > 20, "{found} skeletons prove little");
}

/// Every document of chat messages in the recorded conversations, alone, a line or a member of one, mended in its text
/// and mended whole. `MSG_DATA=DIR cargo test -p msg-document --test it -- --nocapture splices` takes the files of a
/// folder, and all profiles.
#[test]
fn splices_of_recorded_documents_are_byte_identical() {
    let named = std::env::var_os("MSG_DATA").map(PathBuf::from);
    let profiles = if named.is_some() { Profile::all() } else { &[] };
    let shipped = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/data/conversations");
    let folder = named.unwrap_or_else(shipped);
    let mut documents = BTreeSet::new();
    for file in files(&folder) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        std::iter::once(&*text).chain(text.lines()).for_each(|it| add(it, &mut documents, 0));
    }
    let (mut compared, mut mended) = (0, 0);
    let (mut differ, mut by_value, mut by_edits) = (0, 0, 0);
    for json in &documents {
        for profile in profiles.iter().map(Some).chain([None]) {
            let options = RepairOptions { chain: repair(profile), ..RepairOptions::default() };
            let Some((spliced, written, edits)) = mended_both_ways(json.as_bytes(), &options)
            else {
                continue;
            };
            compared += 1;
            mended += usize::from(spliced.changed);
            if spliced.document != written {
                differ += 1;
                by_value += usize::from(compact(&spliced.document) != compact(&written));
                if differ <= 3 {
                    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
                    println!("{}\n{}", text(&spliced.document), text(&written));
                }
            }
            by_edits += usize::from(format!("{:?}", spliced.edits) != format!("{edits:?}"));
        }
    }
    let n = documents.len();
    println!(
        "{n} documents, {compared} repairs compared, {mended} changed something, {differ} differ, {by_value} by value, {by_edits} by their edits"
    );
    assert!(mended > 20, "{mended} edits prove little");
    assert_eq!((differ, by_edits), (0, 0));
}

/// A text without the white space between its tokens.
fn compact(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    msg_json::write_compact(&mut out, std::str::from_utf8(json).expect("because it was a text"));
    out
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("because it is a folder").flatten();
    let mut paths: Vec<_> = entries.map(|it| it.path()).collect();
    paths.sort();
    let of = |it: PathBuf| if it.is_dir() { files(&it) } else { vec![it] };
    paths.into_iter().flat_map(of).collect()
}

/// Adds a value that has a skeleton; of any other what is in it, texts included.
fn add(json: &str, documents: &mut BTreeSet<String>, depth: usize) {
    let json = json.trim();
    if depth > 6 || !json.contains("\"role") && !json.contains("\\\"role") {
        return;
    }
    if Skeleton::of_json(json.as_bytes(), &ReadOptions::default()).is_some() {
        // The lines of a member are indented as the file around it is.
        let text = if depth == 0 { json.as_bytes().to_vec() } else { compact(json.as_bytes()) };
        documents
            .insert(String::from_utf8(msg_document::pretty(&text)).expect("because it was a text"));
        documents.insert(String::from_utf8(text).expect("because it was a text"));
    } else if let Ok(members) = serde_json::from_str::<HashMap<String, Box<RawValue>>>(json) {
        members.values().for_each(|it| add(it.get(), documents, depth + 1));
    } else if let Ok(elements) = serde_json::from_str::<Vec<Box<RawValue>>>(json) {
        elements.iter().for_each(|it| add(it.get(), documents, depth + 1));
    } else if let Ok(text) = serde_json::from_str::<String>(json) {
        add(&text, documents, depth + 1);
    }
}
