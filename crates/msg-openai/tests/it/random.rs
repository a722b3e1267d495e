//! The laws over random documents: values of every type in every known place, in any order.

use proptest::prelude::*;

use crate::laws::wire::*;

/// JSON that may stand anywhere, known shapes among it.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1.50".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just(r#""""#.to_owned()),
        "[a-c\\n\u{e9}]{1,3}".prop_map(|it| serde_json::to_string(&it).unwrap()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|it| format!("[{}]", it.join(","))),
            object(inner),
        ]
    })
}

/// An object of known and unknown names, each at most once.
fn object(
    values: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> {
    let names = prop::sample::subsequence(NAMES.to_vec(), 0..5).prop_shuffle();
    names.prop_flat_map(move |names| {
        let values = prop::collection::vec(values.clone(), names.len());
        values.prop_map(move |values| braces(&names, &values))
    })
}

fn braces(names: &[&str], values: &[String]) -> String {
    let typed = |(name, value): (&&str, &String)| match *name {
        "type" => format!(r#""type":"{}""#, TYPES[value.len() % TYPES.len()]),
        name => format!(r#""{name}":{value}"#),
    };
    let members: Vec<_> = names.iter().zip(values).map(typed).collect();
    format!("{{{}}}", members.join(","))
}

fn message() -> impl Strategy<Value = String> {
    let names = prop::sample::subsequence(MEMBERS.to_vec(), 0..6).prop_shuffle();
    (names, 0..ROLES.len(), 0..6usize).prop_flat_map(|(names, role, at)| {
        let values = prop::collection::vec(value(), names.len());
        values.prop_map(move |values| {
            let mut members: Vec<_> = names
                .iter()
                .zip(&values)
                .map(|(name, value)| format!(r#""{name}":{value}"#))
                .collect();
            members.insert(at.min(members.len()), format!(r#""role":"{}""#, ROLES[role]));
            format!("{{{}}}", members.join(","))
        })
    })
}

const ROLES: [&str; 7] = ["system", "developer", "user", "assistant", "tool", "function", "critic"];
const TYPES: [&str; 12] = [
    "text",
    "refusal",
    "image_url",
    "input_audio",
    "file",
    "thinking",
    "redacted_thinking",
    "function",
    "custom",
    "hologram",
    "input_text",
    "output_text",
];
const MEMBERS: [&str; 14] = [
    "content",
    "name",
    "tool_call_id",
    "tool_calls",
    "function_call",
    "refusal",
    "audio",
    "reasoning_content",
    "reasoning",
    "thinking_blocks",
    "reasoning_details",
    "x",
    "y",
    "cache_control",
];
const NAMES: [&str; 26] = [
    "type",
    "text",
    "refusal",
    "image_url",
    "url",
    "detail",
    "input_audio",
    "data",
    "format",
    "file",
    "file_id",
    "file_data",
    "filename",
    "thinking",
    "signature",
    "id",
    "function",
    "custom",
    "name",
    "arguments",
    "input",
    "extra_content",
    "google",
    "thought_signature",
    "transcript",
    "x",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chat_documents(messages in prop::collection::vec(message(), 0..3)) {
        let json = format!("[{}]", messages.join(","));
        chat_identity(json.as_bytes());
        chat_canonical_fixpoint(json.as_bytes());
        converted_in_silence_comes_back(json.as_bytes());
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        chat_identity(&bytes);
    }
}
