//! `test_data/convert.jsonl`: a document, the target and what goes along; expected is the document in
//! the target format, what was lost, and the names of what is left out.

use msg_document::{Carry, ConvertOptions, convert};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Case {
    to: String,
    /// Whether the request goes along, and to which model.
    #[serde(default)]
    request: bool,
    /// Whether the answer is written as a response.
    #[serde(default)]
    response: bool,
    #[serde(default)]
    model: Option<String>,
    options: Option<Box<RawValue>>,
    text: String,
}

#[test]
fn documents_are_converted() {
    testkit::rows!("convert.jsonl").check_lines(|row| {
        let case: Case = serde_json::from_str(&row.text).expect("because a row is a case");
        let carry = match (case.request, case.response) {
            (true, _) => Carry::Request { model: case.model },
            (false, true) => Carry::Response,
            (false, false) => Carry::Conversation,
        };
        let given = case.options.as_ref().map_or("{}", |it| it.get());
        let options = ConvertOptions::default().with_carry(carry).with(given.as_bytes());
        let options = options.expect("because a case has options that there are");
        let to = case.to.parse().expect("because the target is a format");
        match convert(case.text.as_bytes(), to, &options) {
            Err(refusal) => format!("refused: {}", refusal.diagnostic()),
            Ok(it) => {
                let document = String::from_utf8(it.document).expect("because JSON is UTF-8");
                let edits: Vec<_> = it.edits.iter().map(ToString::to_string).collect();
                format!("{document} lost {edits:?} left out {:?}", it.left_behind)
            }
        }
    });
}
