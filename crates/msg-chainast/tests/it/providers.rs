//! What providers accept, a case a file: messages in native JSON, a profile, and what a check finds and a
//! repair gives. Each case also holds the laws of lists.

use msg_chainast::{
    ChainCheckOptions, ChainRepairOptions, Message, Profile, SeededIds, check, repair,
};
use msg_core::{Diagnostic, Provenance, Role, Severity};
use serde::Deserialize;
use serde_json::json;

/// A case: how it is judged, and the messages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// A built-in profile.
    profile: String,
    /// What is looked at.
    #[serde(default)]
    options: ChainCheckOptions,
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
    let profile = &Profile::named(&case.profile).expect("a profile").asked_as(&case.model);
    for it in case.messages.iter_mut().filter(|it| it.role == Role::Assistant) {
        case.maker.iter().for_each(|maker| it.set_provenance(maker.clone()));
    }
    let options = case.options;
    let found = check(&case.messages, Some(profile), &options);
    let mending = ChainRepairOptions::new().with_check(options).with_profile(profile);
    let (mended, report) = repair(case.messages.clone(), &mending, &mut SeededIds::new(7));
    let mut out: String = found.iter().map(line).collect();
    let errors = |all: &[Diagnostic]| -> String {
        let errors = all.iter().filter(|it| it.is_error()).cloned();
        errors.map(Diagnostic::into_advice).map(|it| line(&it)).collect()
    };
    if errors(&report) != errors(&found) {
        out.push_str("the repair reports otherwise:\n");
        out.extend(report.iter().map(line));
    }
    let (whole, _) = repair(case.messages.clone(), &mending.with_all(), &mut SeededIds::new(7));
    if mended == case.messages {
        out.push_str("unchanged\n");
    } else {
        write_messages(&mended, &mut out);
    }
    if whole != mended {
        out.push_str("with all:\n");
        write_messages(&whole, &mut out);
    }
    if mended == case.messages {
        return out;
    }
    let left = check(&mended, Some(profile), &options);
    if left.iter().any(|it| it.fix.is_some() && it.is_error()) {
        out.push_str("left unmended:\n");
        out.extend(left.iter().map(line));
    }
    out
}

fn write_messages(messages: &[Message], out: &mut String) {
    for it in messages {
        out.push_str(&serde_json::to_string(it).expect("a message"));
        out.push('\n');
    }
}

/// A rule of a provider: a chain that is fine by it, and one that is refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleCase {
    #[serde(rename = "name")]
    _name: String,
    profile: String,
    rule: String,
    #[serde(default)]
    options: ChainCheckOptions,
    #[serde(default)]
    model: String,
    accepts: Vec<Message>,
    refuses: Vec<Message>,
    #[serde(rename = "expect")]
    _expect: Option<serde_json::Value>,
}

/// A row a rule: what is found where it is kept and where it is broken, and what the provider answers.
#[test]
fn provider_rules() {
    testkit::rows!("provider_rules.jsonl").check_expect(|row| {
        // More than any image may have.
        let text = row.text.replace("LONG", &"A".repeat(5_242_881));
        let case: RuleCase = serde_json::from_str(&text).expect("a case");
        let profile = Profile::named(&case.profile).expect("a profile").asked_as(&case.model);
        let rule = profile.rules.iter().find(|it| it.number == case.rule);
        let rule = rule.unwrap_or_else(|| panic!("profiles.toml: {} has no rule {}", case.profile, case.rule));
        let found = |messages: &[Message]| {
            let mut found = check(messages, Some(&profile), &case.options);
            found.retain(|it| it.severity > Severity::Info);
            found
        };
        let is_told =
            |it: &Diagnostic| rule.codes.iter().any(|code| it.code == code.as_str()) && it.message().contains(&rule.says);
        let (kept, broken) = (found(&case.accepts), found(&case.refuses));
        assert!(!kept.iter().any(is_told), "{}: found where nothing is wrong: {kept:?}", case.rule);
        let told = broken.iter().find(|it| is_told(it));
        let told = told.unwrap_or_else(|| panic!("{}: profiles.toml finds nothing of it, but {broken:?}", case.rule));
        assert!(told.answer.is_some(), "{}: without an answer", case.rule);
        let codes = |it: &[Diagnostic]| it.iter().map(|it| it.code.to_string()).collect::<Vec<_>>();
        let (kept, broken) = (codes(&kept), codes(&broken));
        json!({"accepts": kept, "refuses": broken, "message": told.message(), "answer": told.answer.as_deref()}).to_string()
    });
}

#[test]
fn each_rule_of_a_provider_has_a_row_or_a_reason() {
    let rows = testkit::rows!("provider_rules.jsonl").rows();
    let rows: Vec<RuleCase> =
        rows.iter().map(|row| serde_json::from_str(&row.text).expect("a case")).collect();
    let mut numbers = std::collections::BTreeSet::new();
    for profile in Profile::all() {
        for rule in &profile.rules {
            let has_row =
                rows.iter().any(|it| it.profile == profile.name && it.rule == rule.number);
            // Settings are found, and have their rows, where the head of a request is read.
            let needs_row = rule.why_not.is_empty() && rule.codes != ["profile::setting"];
            let (number, name, not) =
                (&rule.number, &profile.name, if needs_row { "no" } else { "a needless" });
            assert_eq!(
                has_row, needs_row,
                "test_data/provider_rules.jsonl has {not} row for {number} of {name}"
            );
            numbers.insert(rule.number.clone());
        }
    }
    assert!(numbers.len() >= 199, "a rule of a provider is gone");
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
