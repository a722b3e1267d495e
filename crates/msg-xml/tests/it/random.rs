//! The laws over random input: strings of the tokens that the format is made of, and calls with hostile values.

use msg_xml::{ParseOptions, ParsedCall};
use proptest::prelude::*;

use crate::laws;

const TOKENS: &[&str] = &[
    "<tool>",
    "</tool>",
    "<tool_name>",
    "</tool_name>",
    "<arguments>",
    "</arguments>",
    "<x>",
    "</x>",
    "<y>",
    "</y>",
    "<x/>",
    "<![CDATA[",
    "]]>",
    "]]",
    "<",
    ">",
    "&",
    "&amp;",
    "&lt;",
    "a",
    "b c",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "`",
    "``",
    "```\n",
    "```xml\n",
    "~~~\n",
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "[",
    "]",
    "[I look first]\n",
    "\\",
    "{",
    "}",
    "\"",
    "{\"tool_name\":\"t\",\"arguments\":{\"x\":1}}",
    ":",
    ",",
    "> ",
    "- ",
    "1. ",
    "<!-- ",
    " -->",
    "<!DOCTYPE x>",
    "<?x ?>",
    "<name>",
    "</name>",
    "<args>",
    "</args>",
    "<server_name>s</server_name>",
    "<tool name=\"t\">",
    "<param name=\"k\">",
    "</param>",
    "<tool><tool_name>t</tool_name>",
    "<tool><tool_name>t</tool_name><arguments><x>1</x></arguments></tool>",
    "<tool><tool_name>t</tool_name><arguments><x>",
    "</x></arguments></tool>",
    "<tool_call>",
    "</tool_call>",
    "{\"name\":\"t\"}",
    "<function=t>",
    "<parameter=k>",
    "</parameter>",
    "</function>",
    "<function_calls>",
    "</function_calls>",
    "<invoke name=\"t\">",
    "<parameter name=\"k\">",
    "</invoke>",
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    "<｜DSML｜invoke name=\"t\">",
    "</｜DSML｜invoke>",
    "<read_file>",
    "</read_file>",
    "<t>",
    "</t>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "é",
    "\u{feff}",
    "CDATA-START[",
    "more plain words, ",
    "a line\nand another\n",
    "    indented\n",
    "「還有」",
    "<｜DSML｜function_calls>",
    "</｜DSML｜function_calls>",
    "<｜DSML｜parameter name=\"k\">",
    "</｜DSML｜parameter>",
    "<|python_tag|>",
    "<|channel|>",
    " to=",
    "\n[TOOL_CALLS]",
    "[TOOL_CALLS]",
    "[ARGS]",
    "[CALL_ID]",
    "<|channel|>commentary to=functions.t <|constrain|>json<|message|>",
    "<|channel|>analysis<|message|>",
    "<|channel|>final<|message|>",
    "<|start|>assistant",
    "<|end|>",
    "<|call|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>functions.t:0<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "function<｜tool▁sep｜>t\n```json\n",
    "t<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "{\"x\": \"a\\n\\u00e9b\", \"y\": [1, \"z\"]}",
    "{\"name\": \"t\", \"parameters\": {\"x\": \"y\"}}",
    "; ",
    "[t(x='a\\'b', y=[1, \"c\"])",
    "t(x=\"\"\"a\"b\"\"\")",
    "<|python_start|>",
    "<|python_end|>",
    "```json\n",
    "<|eot_id|>",
];

fn text() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        12 => proptest::sample::select(TOKENS).prop_map(|t| t.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|b| vec![b]),
    ];
    proptest::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let text = proptest::collection::vec(proptest::sample::select(TOKENS), 0..6)
        .prop_map(|tokens| serde_json::Value::from(tokens.concat()));
    let leaf = prop_oneof![8 => text, 1 => any::<i32>().prop_map(serde_json::Value::from), 1 => Just(serde_json::Value::Null)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop_oneof![4 => "[a-c]", 1 => Just("tool".to_owned()), 1 => Just("a b".to_owned()), 1 => Just("arguments".to_owned())];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::from),
            proptest::collection::btree_map(key, inner, 0..3).prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
        ]
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 600,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(23),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn chunks_do_not_matter(input in text(), choice in any::<u32>(), n in 1usize..9) {
        let opts = laws::options(choice);
        laws::chunks_do_not_matter(&input, input.chunks(n), laws::finish(choice), &opts);
    }

    #[test]
    fn any_input_is_accounted_for(input in text(), choice in any::<u32>()) {
        let opts = laws::options(choice);
        laws::spans_account_for_the_input(&input, laws::finish(choice), &opts);
        laws::drop_changes_no_call(&input, laws::finish(choice), &opts);
        laws::pieces_are_the_values(&input, 1 + (choice % 5) as usize, laws::finish(choice), &opts);
    }

    #[test]
    fn prefixes_guess_nothing(input in text(), choice in any::<u32>(), at in any::<prop::sample::Index>()) {
        laws::cut_calls_are_not_guessed(&input, at.index(input.len() + 1), &laws::options(choice & !0x80));
    }

    #[test]
    fn calls_come_back(arguments in proptest::collection::btree_map("[a-d]{1,2}", value(), 0..4)) {
        let object = serde_json::Value::Object(arguments.into_iter().collect());
        laws::rendered_calls_come_back(&ParsedCall::new("t", object.to_string()));
    }

    #[test]
    fn results_come_back(text in "(Tool: )?[ a:\r\n]{0,6}(\n)?(Error:)?.{0,5}") {
        laws::results_come_back(&text);
    }

    #[test]
    fn thoughts_come_back(text in "[A-Za-z .,\\[\\]<>/`\n]{0,20}") {
        if let Ok(written) = msg_xml::render_thinking(&text) {
            let parsed = msg_xml::parse(written.as_bytes(), None, &ParseOptions::default());
            prop_assert!(parsed.thinking().eq([text.as_str()]));
        }
    }
}
