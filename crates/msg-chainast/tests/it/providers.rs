//! What providers accept, a case a file: messages in native JSON, a profile, and what a check finds and a
//! repair gives. Each case also holds the laws of lists.

use msg_chainast::{CheckOptions, Message, Profile, RepairOptions, SeededIds, check, repair};
use msg_core::{Diagnostic, Provenance, Role};
use serde::Deserialize;

/// A case: how it is judged, and the messages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// A built-in profile.
    profile: String,
    /// What is looked at.
    #[serde(default)]
    options: CheckOptions,
    /// Who made the messages of the assistant.
    maker: Option<Provenance>,
    /// The model that is asked.
    #[serde(default)]
    model: String,
    messages: Vec<Message>,
}

#[test]
fn providers() {
    testkit::cases!("providers").check(|case| render(case.text()));
}

fn render(text: &str) -> String {
    let mut case: Case = serde_json::from_str(text).expect("a case");
    let mut profile = Profile::named(&case.profile).expect("a profile").clone();
    profile.model.clone_from(&case.model);
    let profile = &profile;
    for it in case.messages.iter_mut().filter(|it| it.role == Role::Assistant) {
        case.maker.iter().for_each(|maker| it.set_provenance(maker.clone()));
    }
    let options = case.options;
    let found = check(&case.messages, Some(profile), &options);
    let mending = RepairOptions::new().with_check(options).with_profile(profile);
    let (mended, report) = repair(case.messages.clone(), &mending, &mut SeededIds::new(7));
    let mut out: String = found.iter().map(line).collect();
    if report != found {
        out.push_str("the repair reports otherwise:\n");
        out.extend(report.iter().map(line));
    }
    if mended == case.messages {
        out.push_str("unchanged\n");
        return out;
    }
    for it in &mended {
        out.push_str(&serde_json::to_string(it).expect("a message"));
        out.push('\n');
    }
    let left = check(&mended, Some(profile), &options);
    if left.iter().any(|it| it.fix.is_some()) {
        out.push_str("left unmended:\n");
        out.extend(left.iter().map(line));
    }
    out
}

fn line(it: &Diagnostic) -> String {
    let mut out = it.to_string();
    if let Some(at) = it.at.message {
        out.push_str(&format!("\n  at message {at}"));
    }
    if let Some(part) = it.at.part {
        out.push_str(&format!(", part {part}"));
    }
    if let Some(id) = &it.at.tool_call_id {
        out.push_str(&format!(", call `{id}`"));
    }
    if let Some(fix) = &it.fix {
        out.push_str(&format!("\n  fix: {fix}"));
    }
    if let Some(answer) = &it.answer {
        out.push_str(&format!("\n  the API would answer: {answer}"));
    }
    out + "\n"
}
