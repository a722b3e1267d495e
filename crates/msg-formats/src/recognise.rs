//! Recognises the format of a document, or refuses it by name: first by the marks of unsupported formats, then by
//! the evidence for supported ones, then by the file name if several fit (RG-1 to RG-10).
//!
//! All commands use it, so they agree on the format of a document.

use msg_core::{Code, Diagnostic};
use msg_json::Reader;
use msg_session::{Blob, Session};

use crate::codec::Likelihood;
use crate::foreign;
use crate::format::Format;
use crate::options::{Accept, ReadOptions};
use crate::outline::{Outline, Record, is_chat, is_known_chat, is_plain_chat};
use crate::refusal::{Refusal, foreign as looks_foreign};

impl Format {
    /// The format of a document with the file name `name` (`""` if it has none).
    ///
    /// Fails if no known format fits, and names the format that it looks like. Text that is not JSON is `openai`,
    /// whose reader reports the error. Linear in the bytes; allocates only for what differs between messages.
    ///
    /// ```
    /// use msg_formats::Format;
    ///
    /// let chat = br#"[{"role":"user","content":"hi"}]"#;
    /// assert_eq!(Format::recognise(chat, "")?.name(), "openai");
    /// assert_eq!(Format::recognise(chat, "a/log.plain.json")?.name(), "plain");
    ///
    /// let accounts = br#"[{"id":7,"name":"Ann","role":"user"}]"#;
    /// let refusal = Format::recognise(accounts, "").expect_err("because an account says nothing");
    /// assert_eq!(refusal.diagnostic().code.as_str(), "message::foreign-format");
    /// # Ok::<(), msg_formats::Refusal>(())
    /// ```
    pub fn recognise(bytes: &[u8], name: &str) -> Result<Self, Refusal> {
        match identify(bytes, name)? {
            Found::Document(format) => Ok(format),
            Found::Lines => Err(json_lines().into()),
            Found::Rows(refusal) => Err(refusal),
        }
    }
}

impl Format {
    /// Why a document with the file name `name` has no known format; `None` if it has one, and for JSON Lines if some
    /// lines do. For callers that read documents in another way, such as the repair of sessions in place. Files that
    /// are read together with others in their folder are not refused.
    ///
    /// ```
    /// use msg_formats::Format;
    ///
    /// let page = br#"{"messages":[{"id":"18c","threadId":"18c"}],"resultSizeEstimate":1}"#;
    /// assert!(Format::refused(page, "").is_some());
    /// ```
    pub fn refused(bytes: &[u8], name: &str) -> Option<Refusal> {
        let is_stored = || foreign::stored(&Outline::of(bytes)).is_some();
        let refused = match identify(bytes, name) {
            Ok(Found::Rows(refusal)) | Err(refusal) => Some(refusal),
            Ok(_) => None,
        };
        refused.filter(|_| !is_stored())
    }
}

impl ReadOptions {
    /// The named format, or the recognised one.
    pub(crate) fn format(&self, bytes: &[u8]) -> Result<Format, Refusal> {
        let format = match self.from {
            Some(named) => named,
            // The reader reports a line that is not JSON at all.
            None if self.accept == Accept::Json && !may_begin_json(bytes) => Format::default(),
            None => Format::recognise(bytes, &self.name)?,
        };
        let is_accepted = self.accept == Accept::All || format.is_json();
        Ok(if is_accepted { format } else { Format::default() })
    }

    /// Whether a text is JSON Lines with one document per line: several values, each on its own line, that
    /// are not the records of one session. A text that is cut off after a line is judged by its complete
    /// lines.
    ///
    /// ```
    /// use msg_formats::ReadOptions;
    ///
    /// let one = br#"{"messages":[{"role":"user","content":"hi"}]}"#;
    /// let lines = [&one[..], one].join(&b'\n');
    /// assert!(ReadOptions::default().is_json_lines(&lines));
    /// assert!(!ReadOptions::default().is_json_lines(one));
    /// ```
    pub fn is_json_lines(&self, bytes: &[u8]) -> bool {
        if !self.fields.is_empty() {
            return Outline::of(bytes).has_lines();
        }
        match self.from {
            Some(named) => {
                let spans_lines = !named.is_json() || named.codec().spans_lines();
                !spans_lines && Outline::of(bytes).has_lines()
            }
            None => matches!(identify(bytes, &self.name), Ok(Found::Lines | Found::Rows(_))),
        }
    }
}

/// The kind of a text.
enum Found {
    Document(Format),
    /// Documents, one per line.
    Lines,
    /// Rows of a batch, one per line. Some commands read them; others report this refusal.
    Rows(Refusal),
}

fn identify(bytes: &[u8], name: &str) -> Result<Found, Refusal> {
    let chat = Format::default();
    if Format::named_by(name).is_none_or(|it| it == chat) && is_plain_chat(bytes) {
        return Ok(Found::Document(chat));
    }
    by_outline(bytes, name)
}

/// The kind of a text by its outline, which covers every format.
fn by_outline(bytes: &[u8], name: &str) -> Result<Found, Refusal> {
    let outline = Outline::of(bytes);
    let (format, likelihood) = best(&outline, name);
    if outline.has_lines() {
        return match format.codec().spans_lines() && likelihood == Likelihood::Certain {
            true => Ok(Found::Document(format)),
            false if first_spans_lines(bytes) => Err(several_documents().into()),
            false => lines(bytes),
        };
    }
    one(&outline, bytes, name, (format, likelihood)).map(Found::Document)
}

/// The most likely format of one document.
fn one(
    outline: &Outline<'_>,
    bytes: &[u8],
    name: &str,
    (format, likelihood): (Format, Likelihood),
) -> Result<Format, Refusal> {
    // The reader of an unambiguous agent log judges the document itself: its records may contain anything.
    if format.is_log() && likelihood == Likelihood::Certain {
        return Ok(format);
    }
    let refused = match outline.is_broken() {
        true => None,
        false => {
            let format = Some(format.name()).filter(|_| likelihood > Likelihood::No);
            match foreign::find(outline, format).map(|it| it.format()) {
                Some(Ok(format)) => return Ok(format),
                found => found.and_then(Result::err),
            }
        }
    };
    if let Some(refusal) =
        refused.or_else(|| foreign::stored(outline)).or_else(|| foreign::text(outline, bytes))
    {
        return Err(refusal);
    }
    // Any text may be a message file: its name or its headings decide.
    let is_guess = !format.is_json() && likelihood == Likelihood::Possible;
    if likelihood > Likelihood::No && !is_guess {
        return Ok(format);
    }
    if matches!(outline, Outline::Json(_)) && json_error(bytes).is_none() {
        return Err(
            mixed(outline).unwrap_or_else(|| foreign::nothing_known_of_json(outline, bytes))
        );
    }
    let is_text = !may_begin_json(bytes);
    match damaged_session(bytes, name) {
        Some(session) => Ok(session),
        None if is_text => {
            Err(foreign::other_text(outline, bytes)
                .unwrap_or_else(|| foreign::nothing_known(outline)))
        }
        // Its reader says where the text stops being JSON; of objects that are not messages it would say that before.
        None => match outline.messages().is_some_and(|it| !it.records().all(is_chat)) {
            true => json_error(bytes).map_or_else(|| Ok(Format::default()), Err),
            false => Ok(Format::default()),
        },
    }
}

/// The error at which a text stops being JSON; `None` for valid JSON.
fn json_error(bytes: &[u8]) -> Option<Refusal> {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let read = |mut reader: Reader<'_>| {
        reader.raw()?;
        reader.finish()
    };
    let error = Reader::new(text).and_then(read).err()?;
    Some(Refusal::from(msg_core::Error::from(error)).moved(bytes.len() - text.len()))
}

/// The maximum number of lines to inspect, among the first bytes: input read in pieces is judged by its first piece.
const LINES: usize = 50;
const FIRST_BYTES: usize = 64 << 10;

/// Whether the first of several documents continues after its line.
fn first_spans_lines(bytes: &[u8]) -> bool {
    let first = bytes.trim_ascii_start().split(|it| *it == b'\n').next().unwrap_or_default();
    Outline::of(first).is_broken()
}

fn several_documents() -> Diagnostic {
    looks_foreign("these are several JSON documents, each over several lines")
        .with_fix("write each on a line of its own, for instance with `jq -c .`")
}

/// Treats lines as documents, unless all inspected lines are refused for the same reason, or one belongs to a log
/// (RG-9).
fn lines(bytes: &[u8]) -> Result<Found, Refusal> {
    let mut common: Option<(String, Refusal)> = None;
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let lines = text.split(|it| *it == b'\n').filter(|it| !it.trim_ascii().is_empty());
    let mut left = FIRST_BYTES;
    for (at, line) in lines.take(LINES).enumerate() {
        left = left.saturating_sub(line.len());
        if left == 0 && at > 0 {
            break;
        }
        let outline = Outline::of(line);
        let marker = foreign::find(&outline, None);
        if let Some(log) = marker.as_ref().filter(|it| it.row.spans_lines) {
            return log.format().map(Found::Document);
        }
        // A row of a batch counts by its conversation.
        if let Some(row) = marker.as_ref().filter(|it| !it.row.fields.is_empty()) {
            return Ok(Found::Rows(row.refusal()));
        }
        // A truncated line is not evidence.
        if outline.is_broken() {
            continue;
        }
        let Err(refusal) = one(&outline, line, "", best(&outline, "")) else {
            return Ok(Found::Lines);
        };
        let said = refusal.diagnostic().message().into_owned();
        let said = said.split([':', '(']).next().unwrap_or_default().to_owned();
        match &common {
            Some((first, _)) if *first != said => return Ok(Found::Lines),
            Some(_) => {}
            None => common = Some((said, refusal)),
        }
    }
    common.map_or(Ok(Found::Lines), |it| Err(it.1))
}

impl Format {
    /// Whether it is an agent's log instead of messages stored by a framework or trainer.
    pub(crate) fn is_log(self) -> bool {
        const LISTS: [&str; 4] = ["langchain", "pydantic-ai", "sharegpt", "vercel-ui"];
        self.codec().judges_itself() && !LISTS.contains(&self.name())
    }
}

/// Why a document of a named format could not be read: what it looks like, or the reader's error.
pub(crate) fn unlike(bytes: &[u8], named: Format, said: Refusal) -> Refusal {
    if named.codec().judges_itself() {
        return said;
    }
    let is_certain = || {
        let outline = Outline::of(bytes);
        !outline.is_broken() && best(&outline, "").1 == Likelihood::Certain
    };
    match identify(bytes, "") {
        Ok(Found::Lines | Found::Rows(_)) if named.is_json() && !named.codec().spans_lines() => {
            json_lines().into()
        }
        Ok(Found::Document(found)) if found != named && is_certain() => other(found, named).into(),
        Err(refusal) if refusal.diagnostic().message().starts_with("this looks like") => refusal,
        _ => said,
    }
}

/// The members of another format in a document whose format was named: they are not read (RG-6).
pub(crate) fn foreign_part(bytes: &[u8], named: Format) -> Option<Diagnostic> {
    if named == Format::default() && is_plain_chat(bytes) {
        return None;
    }
    let outline = Outline::of(bytes);
    let is_read = named.codec().likelihood(&outline) > Likelihood::No;
    let found = foreign::find(&outline, is_read.then_some(named.name()))?;
    if found.row.format() == named.name() {
        return None;
    }
    let text = format!("`{}` belongs to {}", found.member, found.row.what);
    let mut res = Diagnostic::error(Code::new("message::foreign-part"), text);
    res.at.message = found.message;
    Some(res)
}

/// Whether a text begins like JSON.
fn may_begin_json(text: &[u8]) -> bool {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).trim_ascii();
    let is_word = |text: &[u8]| {
        [&b"true"[..], b"false", b"null"]
            .iter()
            .any(|it| text.starts_with(it) || it.starts_with(text))
    };
    match text.first() {
        None | Some(b'{' | b'"') => true,
        // `2026-01-01 INFO` begins a log line, and `- role` a YAML item.
        Some(b'-' | b'0'..=b'9') => text.iter().all(|it| b"-+.eE0123456789".contains(it)),
        // `[tool]` and `[[tool]]` are TOML table headers.
        Some(b'[') => {
            let n_open = text.iter().take_while(|it| **it == b'[').count();
            let inside = text[n_open..].trim_ascii_start();
            !inside.first().is_some_and(u8::is_ascii_alphabetic) || is_word(inside)
        }
        Some(_) => is_word(text),
    }
}

/// The format of a session of lines that the outline cannot handle, such as one with a torn line.
fn damaged_session(bytes: &[u8], name: &str) -> Option<Format> {
    let session = Session::recognise(vec![Blob::new(name, bytes)]).ok()?;
    let format: Format = session.dialect().name().parse().ok()?;
    format.codec().spans_lines().then_some(format)
}

/// The file name in a path, in lower case.
fn file(name: &str) -> String {
    name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase()
}

impl Format {
    /// The format that a file name indicates, if there is one.
    pub fn named_by(name: &str) -> Option<Self> {
        let file = file(name);
        Format::all().find(|it| !file.is_empty() && it.codec().claims(&file))
    }
}

/// The supported format with the strongest evidence.
fn best(outline: &Outline<'_>, name: &str) -> (Format, Likelihood) {
    let file = file(name);
    let mut best = (Format::default(), Likelihood::No);
    for format in Format::all() {
        let likelihood = format.codec().likelihood(outline);
        let named = likelihood == Likelihood::Possible && format.codec().claims(&file);
        // A name decides between formats that the shape allows, and never against one that it proves.
        let likelihood = if named { Likelihood::Likely } else { likelihood };
        // An agent's marks outweigh a form that it shares with another format.
        let is_session = format.codec().judges_itself() && !best.0.codec().judges_itself();
        let wins_tie = named || is_session && likelihood == Likelihood::Certain;
        if likelihood > best.1 || wins_tie && likelihood == best.1 {
            best = (format, likelihood);
        }
    }
    best
}

/// The refusal of a list of chat messages with other elements among them (RG-3).
fn mixed(outline: &Outline<'_>) -> Option<Refusal> {
    let list = outline.messages()?;
    list.records().find(|it| is_known_chat(it))?;
    let other = list.records().find(|it| !is_chat(it))?;
    let names: Vec<_> = other.members().iter().take(4).map(|it| format!("`{}`", it.0)).collect();
    let whose = if is_of_gemini(other) { "is of gemini" } else { "says nothing" };
    let text = format!(
        "this is not one format that msg reads: message {} ({}) {whose}, the others are chat messages",
        other.at,
        names.join(", ")
    );
    let is_answer = other.is_list("choices") || other.is_list("candidates");
    let found = looks_foreign(text);
    Some(match is_answer {
        true => found
            .with_fix("put the message of the answer into the list, as `choices[0].message`")
            .into(),
        false => found.into(),
    })
}

/// Whether an object is a message on its own, so a list of it would be a conversation.
pub fn is_lone_message(text: &str) -> bool {
    let outline = Outline::of(text.as_bytes());
    let has = |name: &str| outline.member(name).is_some();
    let may_be = has("role") || has("kwargs") || has("type") && (has("data") || has("content"));
    may_be
        && Format::recognise(text.as_bytes(), "").is_err()
        && Format::recognise(format!("[{text}]").as_bytes(), "").is_ok()
}

fn is_of_gemini(record: &Record<'_>) -> bool {
    record.is_list("parts") && record.parts().any(|it| it.kind.is_none())
}

fn json_lines() -> Diagnostic {
    looks_foreign("this looks like JSON lines, a document a line").with_fix("--jsonl reads it so")
}

fn other(found: Format, named: Format) -> Diagnostic {
    looks_foreign(format!("this looks like {found}, not like {named}"))
        .with_fix(format!("--from {found} reads it, and so does no --from at all"))
}

#[cfg(test)]
mod tests {
    use super::{Found, by_outline};
    use crate::format::Format;
    use crate::outline::is_plain_chat;

    /// Members of messages and of requests; the test puts two of each into a document.
    const MESSAGE: [&str; 24] = [
        r#""content":"a""#,
        r#""content":null"#,
        r#""content":[]"#,
        r#""content":[{"type":"text","text":"a"}]"#,
        r#""content":[{"text":"a"}]"#,
        r#""content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"file","file":{"file_id":"f"}}]"#,
        r#""content":[{"type":"image","source":{"type":"url","url":"u"}}]"#,
        r#""content":"Tool: a\nb""#,
        r#""content":{"type":"text"}"#,
        r#""tool_calls":[{"id":"c","type":"function","index":0,"function":{"name":"f","arguments":"{}"}}]"#,
        r#""tool_calls":[{"id":"c","name":"f","type":"function"}]"#,
        r#""tool_calls":null"#,
        r#""tool_call_id":"c""#,
        r#""name":"n""#,
        r#""refusal":null"#,
        r#""function_call":null"#,
        r#""reasoning_content":"a""#,
        r#""reasoning_details":[{"type":"reasoning.text","text":"a"}]"#,
        r#""metadata":{"id":7,"source":"s","time":{}}"#,
        r#""annotations":[{"type":"url_citation"}]"#,
        r#""cache_control":{"type":"ephemeral"}"#,
        r#""provider_specific_fields":{"thinking":"a","role":"b"}"#,
        r#""parts":[{"text":"a"}]"#,
        r#""type":"message""#,
    ];
    const REQUEST: [&str; 10] = [
        r#""model":"m""#,
        r#""model":"claude-3""#,
        r#""max_tokens":9"#,
        r#""stream":true"#,
        r#""n":1"#,
        r#""tools":[{"type":"function","function":{"name":"f","parameters":{}}}]"#,
        r#""tools":[{"name":"f","input_schema":{}}]"#,
        r#""system":"a""#,
        r#""input":[]"#,
        r#""messages":[]"#,
    ];

    #[test]
    fn what_is_plain_is_recognised_so_by_its_outline() {
        let pairs = |of: &[&str]| -> Vec<String> {
            let of_one = |(at, one): (usize, &&str)| {
                let rest = of[at + 1..].iter().map(|it| format!("{one},{it}"));
                rest.chain([(*one).to_owned()]).collect::<Vec<_>>()
            };
            of.iter().enumerate().flat_map(of_one).collect()
        };
        let roles = ["user", "assistant", "tool", "system", "developer", "model"];
        let mut n_plain = 0;
        for (members, role) in pairs(&MESSAGE).iter().flat_map(|it| roles.map(|role| (it, role))) {
            let list = format!(r#"[{{"role":"{role}",{members}}},{{{members},"role":"user"}}]"#);
            let request = |it: &String| format!(r#"{{{it},"messages":{list}}}"#);
            let alone = [list.clone(), format!(r#"{{"messages":{list}}}"#)];
            for it in alone.into_iter().chain(pairs(&REQUEST).iter().map(request)) {
                if is_plain_chat(it.as_bytes()) {
                    n_plain += 1;
                    let found = by_outline(it.as_bytes(), "");
                    let chat = Format::default();
                    assert!(matches!(found, Ok(Found::Document(of)) if of == chat), "{it}");
                }
            }
        }
        assert!(n_plain > 7_000, "{n_plain}");
    }
}
