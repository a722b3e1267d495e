//! A session of many files as one document, for programs that take one (SE-1).
//!
//! ```text
//! opencode   session, message and part files   {"info":{…},"messages":[{"info":{…},"parts":[…]}]}
//! openhands  event files                       [{…},{…}]
//! ```

use std::collections::HashMap;

use crate::json::{Object, Value};
use crate::{Blob, Dialect, Session};

impl Session {
    /// The session as one document, which the reader of its dialect reads; the bytes of the only blob where
    /// there is but one. Files that are not JSON are left out. Linear.
    ///
    /// ```
    /// use msg_session::{Blob, Dialect, Session};
    ///
    /// let file = |n: u8| Blob::new(format!("events/event-0000{n}-a.json"), format!(r#"{{"n":{n}}}"#));
    /// let session = Session::new(Dialect::OpenHands, vec![file(0), file(1)]);
    /// assert_eq!(session.into_document(), br#"[{"n":0},{"n":1}]"#);
    /// ```
    pub fn into_document(self) -> Vec<u8> {
        let dialect = self.dialect();
        let mut blobs = self.into_blobs();
        match dialect {
            _ if blobs.len() == 1 => blobs.pop().map(|it| it.bytes).unwrap_or_default(),
            Dialect::OpenCode => opencode(&blobs).into_bytes(),
            Dialect::OpenHands => openhands(&blobs).into_bytes(),
            _ => blobs.into_iter().flat_map(|it| it.bytes).collect(),
        }
    }
}

fn openhands(blobs: &[Blob]) -> String {
    let mut events: Vec<_> =
        blobs.iter().filter(|it| it.name.contains("event-")).filter_map(text).collect();
    events.sort_by(|a, b| a.0.cmp(b.0));
    let events: Vec<_> = events.iter().map(|it| it.1.trim()).collect();
    format!("[{}]", events.join(","))
}

/// The name and text of a blob that is JSON.
fn text(blob: &Blob) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(&blob.bytes).ok()?;
    Value::whole(text, 0).map(|it| (&*blob.name, it.source))
}

fn opencode(blobs: &[Blob]) -> String {
    let of = |folder: &'static str| {
        let texts = blobs.iter().filter_map(text);
        texts.filter(move |it| it.0.starts_with(folder) || it.0.contains(&format!("/{folder}")))
    };
    let mut parts: HashMap<String, Vec<(&str, &str)>> = HashMap::new();
    for (name, part) in of("part/") {
        let message = Object::whole(part, 0).and_then(|it| it.text("messageID").map(Into::into));
        let folder = name.rsplit('/').nth(1).unwrap_or_default();
        parts.entry(message.unwrap_or_else(|| folder.to_owned())).or_default().push((name, part));
    }
    let message = |(name, info): (&str, &str)| {
        let id = Object::whole(info, 0).and_then(|it| it.text("id").map(Into::into));
        let file = name.rsplit('/').next().unwrap_or_default().trim_end_matches(".json");
        let mut list =
            parts.get(&id.unwrap_or_else(|| file.to_owned())).cloned().unwrap_or_default();
        list.sort_unstable();
        let list: Vec<_> = list.iter().map(|it| it.1).collect();
        format!("{{\"info\":{info},\"parts\":[{}]}}", list.join(","))
    };
    let member = |json: &str, name: &str| Some(Object::whole(json, 0)?.text(name)?.into_owned());
    let sessions: Vec<_> = of("session/").map(|it| it.1).collect();
    // An export is of one session: those of subtasks are others.
    let main = sessions.iter().find(|it| member(it, "parentID").is_none()).or(sessions.first());
    let info = main.copied().unwrap_or("{}");
    let is_of_another = |it: &str| {
        let (session, id) = (member(it, "sessionID"), member(info, "id"));
        session.is_some() && id.is_some() && session != id
    };
    let messages: Vec<_> = of("message/").filter(|it| !is_of_another(it.1)).map(message).collect();
    format!("{{\"info\":{info},\"messages\":[{}]}}", messages.join(","))
}
