//! Case rows: a session a line, with what is found, what it becomes, and what it says.

use msg_core::Usage;
use msg_session::{Blob, Dialect, Session, SessionOptions};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A row of `sessions.jsonl`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    #[allow(dead_code, reason = "the harness names the row by it")]
    name: String,
    pub(crate) dialect: Dialect,
    blobs: Map<String, Value>,
    #[serde(default)]
    pub(crate) options: SessionOptions,
}

impl Row {
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap()
    }

    pub(crate) fn blobs(&self) -> Vec<Blob> {
        // What is not text is a list of its bytes.
        let bytes = |it: &Value| match it.as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => serde_json::from_value(it.clone()).unwrap(),
        };
        let blob = |(name, it): (&String, &Value)| Blob::new(name, bytes(it));
        self.blobs.iter().map(blob).collect()
    }

    pub(crate) fn session(&self) -> Session {
        Session::new(self.dialect, self.blobs())
    }
}

#[test]
fn sessions() {
    testkit::rows!("sessions.jsonl").check_lines(|row| render(&Row::read(&row.text)).to_string());
}

fn render(row: &Row) -> Value {
    let mut session = row.session();
    let before = session.blobs().to_vec();
    let (messages, branches, usage) = match session.read(&row.options) {
        Ok(view) => {
            let mut out = Vec::new();
            msg_core::native::write(&view.messages, &mut out);
            (serde_json::from_slice(&out).unwrap(), view.branches, view.usage)
        }
        Err(error) => (json!(error.to_string()), Vec::new(), Usage::default()),
    };
    let found = session.repair(&row.options);
    let findings = found.map_or_else(|it| json!(it.to_string()), |it| json!(it));
    let mut changed = Map::new();
    for it in session.blobs().iter().filter(|it| !before.contains(it)) {
        changed.insert(it.name.clone(), json!(String::from_utf8_lossy(&it.bytes)));
    }
    for it in before.iter().filter(|it| session.blobs().iter().all(|new| new.name != it.name)) {
        changed.insert(it.name.clone(), Value::Null);
    }
    let mut res = json!({ "findings": findings, "changed": changed, "messages": messages });
    if !branches.is_empty() {
        res["branches"] = json!(branches);
    }
    if usage != Usage::default() {
        res["usage"] = json!(usage);
    }
    res
}

#[test]
fn dialects_are_recognised() {
    let mut missed = Vec::new();
    for row in testkit::rows!("sessions.jsonl").rows() {
        let case = Row::read(&row.text);
        let found = Session::recognise(case.blobs()).map(|it| it.dialect());
        if found.as_ref().is_ok_and(|it| *it != case.dialect) {
            missed.push(format!("{}: {found:?}", row.name));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// What is not a session by itself, or not of the dialect that is named, is refused with what it is.
#[test]
fn refused() {
    testkit::rows!("refused.jsonl").check_expect(|row| {
        let case: Value = serde_json::from_str(&row.text).unwrap();
        let text = |name: &str| case[name].as_str().unwrap_or_default();
        let blobs = vec![Blob::new(text("file"), text("text"))];
        let session = match case.get("named") {
            Some(it) => Session::named(serde_json::from_value(it.clone()).unwrap(), blobs),
            None => Session::recognise(blobs),
        };
        json!(session.unwrap_err().to_string()).to_string()
    });
}

/// The files of an opencode or OpenHands session joined to one document say what they say apart.
#[test]
fn a_session_of_many_files_is_the_same_as_one_document() {
    let mut count = 0;
    for row in testkit::rows!("sessions.jsonl").rows() {
        let session = Row::read(&row.text).session();
        let dialect = session.dialect();
        let is_folder = matches!(dialect, Dialect::OpenCode | Dialect::OpenHands);
        let Ok(messages) = session.messages() else { continue };
        if !is_folder || session.blobs().len() < 2 {
            continue;
        }
        count += 1;
        let document = Blob::new("session.json", session.into_document());
        let joined = Session::new(dialect, vec![document]).messages().unwrap();
        assert_eq!(joined, messages, "{}", row.name);
    }
    assert!(count > 1);
}
