//! Why a provider would refuse a history, in its own words, and the smallest edits so that it does not.
//!
//! `cargo run -p msg-chainast --example explain_refusal`
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it is a program that prints"
)]

use msg_chainast::{
    ChainCheckOptions, ChainRepairOptions, Message, Part, Profile, SeededIds, ToolCall, check,
    repair,
};

fn main() {
    let history = vec![
        Message::user("Weather?"),
        Message::assistant("").with_part(Part::ToolCall(ToolCall::new("c1", "weather", "{}"))),
        Message::user("And tomorrow?"),
    ];
    let profile = Profile::named("anthropic").expect("it is one of the built-in profiles");

    for finding in check(&history, Some(profile), &ChainCheckOptions::new()) {
        println!("{finding}");
        if let Some(answer) = &finding.answer {
            println!("  the API would answer: {answer}");
        }
    }
    let (mended, edits) =
        repair(history, &ChainRepairOptions::new().with_profile(profile), &mut SeededIds::new(1));
    for edit in &edits {
        println!("mended: {edit}");
    }
    assert!(
        check(&mended, Some(profile), &ChainCheckOptions::new()).iter().all(|it| !it.is_error())
    );
}
