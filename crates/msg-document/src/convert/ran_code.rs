//! Code that a model wrote and its provider ran, and what the code printed: parts of Gemini, steps of Interactions, and
//! text in every other format (MS-24).
//!
//! ```text
//! {"executableCode":{"id":"e","language":"PYTHON","code":"print(1)"}}
//! {"type":"code_execution_call","id":"e","arguments":{"language":"python","code":"print(1)"}}
//! ```

use msg_core::{Message, Origin, Other, Part, Place, RawJson};
use serde_json::Value;

/// The code, or what it printed.
struct Ran {
    is_call: bool,
    id: Option<String>,
    language: String,
    text: String,
    /// How it ended, in Gemini's words; empty if that is not said.
    outcome: String,
    signature: Option<String>,
}

/// Converts code that another format than `to` has. Where the format asks for ids, and its source has none, a call gets
/// the next one and its result the same.
pub(super) fn convert(messages: &mut [Message], to: &str) {
    let (mut n, mut last) = (0, String::new());
    for part in messages.iter_mut().flat_map(|it| &mut it.parts) {
        let Part::Other(it) = part else { continue };
        let Some(mut ran) = Ran::read(it).filter(|_| it.format.as_str() != to) else { continue };
        if to == "interactions" {
            if ran.is_call {
                n += 1;
                last = ran.id.take().unwrap_or_else(|| format!("code_{n}"));
            }
            ran.id.get_or_insert_with(|| last.clone());
        }
        *part = ran.written(to);
    }
}

impl Ran {
    fn read(it: &Other) -> Option<Self> {
        if !matches!(it.format.as_str(), "gemini" | "interactions") {
            return None;
        }
        let value: Value = it.value.parse().ok()?;
        let any = |names: &[&str]| names.iter().find_map(|it| value.get(it));
        let text = |of: &Value, name: &str| Some(of.get(name)?.as_str()?.to_owned());
        let kind = value.get("type").and_then(Value::as_str);
        let call = any(&["executableCode", "executable_code"])
            .or_else(|| value.get("arguments").filter(|_| kind == Some("code_execution_call")));
        let result = any(&["codeExecutionResult", "code_execution_result"])
            .or_else(|| Some(&value).filter(|_| kind == Some("code_execution_result")));
        let signature = any(&["thoughtSignature", "thought_signature", "signature"]);
        let of = call.or(result)?;
        let failed = of.get("is_error").map(Value::as_bool).map(|it| it == Some(true));
        let outcome = failed.map(|it| if it { "OUTCOME_FAILED" } else { "OUTCOME_OK" });
        let printed = || text(of, "output").or_else(|| text(of, "result")).unwrap_or_default();
        Some(Ran {
            is_call: call.is_some(),
            id: text(of, "id").or_else(|| text(&value, "id")).or_else(|| text(of, "call_id")),
            language: text(of, "language").unwrap_or_default(),
            text: if call.is_some() { text(of, "code")? } else { printed() },
            outcome: text(of, "outcome").or(outcome.map(str::to_owned)).unwrap_or_default(),
            signature: signature.and_then(Value::as_str).map(str::to_owned),
        })
    }

    fn written(self, to: &str) -> Part {
        match to {
            "interactions" => self.step(),
            "gemini" => self.part(),
            _ => Part::text(self.markdown()),
        }
    }

    fn step(self) -> Part {
        let fails = !matches!(self.outcome.as_str(), "" | "OUTCOME_OK" | "OUTCOME_UNSPECIFIED");
        let language = Some(self.language.to_lowercase()).filter(|it| !it.is_empty());
        let (id, signature) = (text(self.id), ("signature", text(self.signature)));
        let ran = text(Some(self.text));
        let value = match self.is_call {
            true => object(vec![
                ("type", Some(RawJson::string("code_execution_call"))),
                ("id", id),
                ("arguments", Some(object(vec![("language", text(language)), ("code", ran)]))),
                signature,
            ]),
            false => object(vec![
                ("type", Some(RawJson::string("code_execution_result"))),
                ("call_id", id),
                ("result", ran),
                ("is_error", fails.then(|| RawJson::written(|out| out.bool(true)))),
                signature,
            ]),
        };
        Part::Other(Other { place: Some(Place::Item), ..Other::new(Origin::Interactions, value) })
    }

    fn part(self) -> Part {
        let language = Some(self.language.to_uppercase()).filter(|it| !it.is_empty());
        let outcome = Some(self.outcome).filter(|it| !it.is_empty());
        let outcome = outcome.unwrap_or_else(|| "OUTCOME_OK".to_owned());
        let (id, ran) = (("id", text(self.id)), text(Some(self.text)));
        let (name, value) = match self.is_call {
            true => {
                ("executableCode", object(vec![id, ("language", text(language)), ("code", ran)]))
            }
            false => {
                let outcome = ("outcome", text(Some(outcome)));
                ("codeExecutionResult", object(vec![id, outcome, ("output", ran)]))
            }
        };
        let signature = ("thoughtSignature", text(self.signature));
        Part::Other(Other::new(Origin::Gemini, object(vec![(name, Some(value)), signature])))
    }

    /// The code or what it printed, fenced.
    fn markdown(&self) -> String {
        let text = &self.text;
        if self.is_call {
            return format!("```{}\n{text}\n```", self.language.to_lowercase());
        }
        let head = if self.outcome == "OUTCOME_OK" { "" } else { &self.outcome };
        format!("{head}\n```\n{text}\n```").trim_start().to_owned()
    }
}

fn text(it: Option<String>) -> Option<RawJson> {
    it.map(|it| RawJson::string(&it))
}

/// The members that are there.
fn object(members: Vec<(&str, Option<RawJson>)>) -> RawJson {
    let members = members.into_iter().filter_map(|it| Some((it.0, it.1?)));
    RawJson::written(|out| out.object(|out| members.for_each(|it| out.key(it.0).raw(it.1.text()))))
}
