//! The forms of this crate by name, as the case files name them.

use msg_core::{
    AgentForm, Error, LowerOptions, Message, Report, agent, lift, lower, native, plain, turns,
};
use serde_json::Value;

/// What a case file calls options.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) agent_form: AgentForm,
    pub(crate) preview: Option<usize>,
}

impl Options {
    pub(crate) fn parse(options: &Value) -> Self {
        let agent_form = match options["agent_form"].as_str() {
            Some("sdk") => AgentForm::Sdk,
            _ => AgentForm::Document,
        };
        let preview = options["preview"].as_u64().map(|it| it as usize);
        Self { agent_form, preview }
    }
}

/// What `msg convert` does between the forms of this crate.
pub(crate) fn convert(
    from: &str,
    to: &str,
    input: &str,
    options: &Options,
    report: &mut Report,
) -> Result<String, Error> {
    if from == "turns" && to == "turns" {
        let mut out = Vec::new();
        turns::write(&turns::read(input.as_bytes(), report)?, &mut out);
        return Ok(String::from_utf8(out).unwrap());
    }
    let messages = read(from, input.as_bytes(), report)?;
    Ok(write(to, &messages, options, report))
}

pub(crate) fn read(form: &str, json: &[u8], report: &mut Report) -> Result<Vec<Message>, Error> {
    match form {
        "native" => native::read_reporting(json, report),
        "plain" => plain::read(json, report),
        "agent" => agent::read(json, report),
        "turns" => {
            let lowered = lower(&turns::read(json, report)?, &LowerOptions::default());
            report.extend(lowered.report);
            Ok(lowered.messages)
        }
        _ => panic!("no form {form}"),
    }
}

pub(crate) fn write(
    form: &str,
    messages: &[Message],
    options: &Options,
    report: &mut Report,
) -> String {
    let mut out = Vec::new();
    match (form, options.preview) {
        ("native", _) => native::write(messages, &mut out),
        ("plain", Some(max)) => plain::write_previews(messages, max, &mut out),
        ("plain", None) => plain::write(messages, &mut out, report),
        ("turns", _) => turns::write(&lift(messages.to_vec(), report), &mut out),
        ("agent", _) => agent::write_form(messages, options.agent_form, &mut out, report),
        _ => panic!("no form {form}"),
    }
    String::from_utf8(out).unwrap()
}
