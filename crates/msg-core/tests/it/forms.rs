//! The forms of this crate by name, as the case files name them.

use msg_core::{AgentForm, Error, Message, Report, agent, native, plain};
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

pub(crate) fn read(form: &str, json: &[u8], report: &mut Report) -> Result<Vec<Message>, Error> {
    match form {
        "native" => native::read_reporting(json, report),
        "plain" => plain::read(json, report),
        "agent" => agent::read(json, report),
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
        ("agent", _) => agent::write_form(messages, options.agent_form, &mut out, report),
        _ => panic!("no form {form}"),
    }
    String::from_utf8(out).unwrap()
}
