//! Rows of recorded and made streams with what they amount to. Other wire crates take this file in by
//! its path.

use msg_openai::{Assembled, Family, MessageForm, StreamReader, write_result};
use serde::Deserialize;
use serde_json::Value;

use crate::laws::stream::How;

#[derive(Deserialize)]
pub(crate) struct Case {
    provider: String,
    sse: Option<String>,
    bytes: Option<Vec<u8>>,
    #[serde(default)]
    options: Options,
    expected: Value,
}

#[derive(Deserialize, Default)]
struct Options {
    to: Option<String>,
    #[serde(default)]
    split_concatenated: bool,
    max_event_bytes: Option<usize>,
    interrupt_after: Option<usize>,
}

impl Case {
    pub(crate) fn read(row: &testkit::Row) -> Self {
        serde_json::from_str(&row.text).unwrap()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().or(self.sse.as_ref().map(String::as_bytes)).unwrap()
    }

    /// The family that the case names, or all of them, and its options.
    pub(crate) fn how(&self, families: &[&'static dyn Family]) -> How {
        let own = families.iter().find(|it| it.name() == self.provider);
        let mut how = match own {
            Some(own) => How::new(&[*own]),
            None if self.provider == "auto" => How::new(families),
            None => panic!("the family of a case is registered"),
        };
        how.options.split_concatenated = self.options.split_concatenated;
        if let Some(limit) = self.options.max_event_bytes {
            how.options.limits.max_event_bytes = limit;
        }
        how
    }

    fn assemble(&self, families: &[&'static dyn Family]) -> Assembled {
        let how = self.how(families);
        let mut reader = StreamReader::new(&how.families, how.options);
        match self.options.interrupt_after {
            Some(at) => {
                reader.feed(&self.bytes()[..at], &mut |_| {});
                reader.interrupt(&mut |_| {})
            }
            None => {
                reader.feed(self.bytes(), &mut |_| {});
                reader.finish(&mut |_| {})
            }
        }
    }
}

/// A case gives what it expects, of diagnostics the codes.
pub(crate) fn agrees(row: &testkit::Row, families: &[&'static dyn Family]) {
    let case = Case::read(row);
    let res = case.assemble(families);
    let form = match case.options.to.as_deref() {
        Some("native") => MessageForm::Native,
        Some("turns") => MessageForm::Turn,
        _ => MessageForm::OpenAi,
    };
    let mut found = json(&res, form);
    for list in ["errors", "warnings"] {
        let codes: std::collections::BTreeSet<_> =
            found[list].as_array().unwrap().iter().map(|it| it["code"].to_string()).collect();
        found[list] = codes.into_iter().map(|it| Value::from(it.trim_matches('"'))).collect();
    }
    let mut expected = case.expected;
    for side in [&mut found, &mut expected] {
        without_nulls(side);
    }
    assert_eq!(found, expected);
}

/// Null and absent members of a message are the same to the cases.
fn without_nulls(result: &mut Value) {
    let messages = result.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten();
    for message in messages.filter_map(|it| it.get_mut("message")) {
        if let Value::Object(members) = message {
            members.retain(|_, it| !it.is_null());
        }
    }
    if let Some(Value::Object(members)) = result.get_mut("message") {
        members.retain(|_, it| !it.is_null());
    }
}

pub(crate) fn json(res: &Assembled, form: MessageForm) -> Value {
    let mut out = Vec::new();
    write_result(res, form, None, &mut out);
    serde_json::from_slice(&out).unwrap()
}
