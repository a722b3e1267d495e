//! What a request asks besides its conversation counts where a profile judges the conversation by it (PM-18).

use msg_document::{CheckOptions, check};

#[test]
fn a_request_with_thinking_needs_it_before_the_last_calls() {
    let codes = |thinking: &str| {
        let json = format!(
            r#"{{"max_tokens":2048,"thinking":{thinking},"messages":[{{"role":"user","content":"q"}},{{"role":"assistant",
            "content":[{{"type":"tool_use","id":"t","name":"f","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result",
            "tool_use_id":"t","content":"r"}}]}}]}}"#
        );
        let profile = msg_chainast::Profile::named("anthropic").cloned().expect("it is built in");
        let mut options = CheckOptions::default().with_profile(profile);
        options.chain.request = true;
        let checked = check(json.as_bytes(), &options).expect("it is read");
        checked.diagnostics.iter().map(|it| it.code.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(codes(r#"{"type":"enabled","budget_tokens":1024}"#), ["profile::thinking-missing"]);
    // What it is to decide itself is not known to be on.
    assert_eq!(codes(r#"{"type":"adaptive"}"#), [""; 0]);
    assert_eq!(codes(r#"{"type":"disabled"}"#), [""; 0]);
}
