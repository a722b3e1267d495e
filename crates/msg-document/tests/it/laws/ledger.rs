//! Double entry: every text of a document is in what is written of it, or the report accounts for it. The texts
//! are looked for here by serde_json alone, in any place and in any order, which shares nothing with the code that
//! pairs values.

use std::collections::BTreeSet;

use msg_core::Diagnostic;
use msg_document::{ConvertOptions, Format, ReadOptions, RepairOptions, convert, messages, repair};
use serde_json::Value;

/// Words of the formats, which each says in its own way.
const WORDS: [&str; 10] = [
    "type",
    "role",
    "from",
    "object",
    "kind",
    "part_kind",
    "status",
    "format",
    "tool_choice",
    "options",
];

/// Members of an agent's records that say what was said; the others are left out of a session that is written anew.
const OF_MESSAGES: [&str; 12] = [
    "text",
    "thinking",
    "content",
    "output",
    "result",
    "value",
    "message",
    "summary",
    "reasoning",
    "name",
    "args",
    "arguments",
];

/// A document says in another format what it said, or the report names it; the error is what does not.
pub(crate) fn conversions_account_for_all(
    json: &[u8],
    from: Option<Format>,
    to: Format,
) -> Result<(), String> {
    let options = ConvertOptions::default().with_read(ReadOptions::default().with_from(from));
    let Ok(converted) = convert(json, to, &options) else { return Ok(()) };
    let told = Told { edits: &converted.edits, left_out: &converted.left_behind };
    accounts_for_all(json, &converted.document, from, told, &format!("to {to}"))
}

/// A mended document says what it said, or an edit names it.
pub(crate) fn repairs_account_for_all(
    json: &[u8],
    from: Option<Format>,
    profile: Option<&str>,
) -> Result<(), String> {
    let mut options = RepairOptions::default().with_read(ReadOptions::default().with_from(from));
    if let Some(profile) = profile.and_then(msg_chainast::Profile::named) {
        options.chain = options.chain.with_profile(profile);
    }
    let Ok(repaired) = repair(json, &options) else { return Ok(()) };
    let told = Told { edits: &repaired.edits, left_out: &[] };
    accounts_for_all(json, &repaired.document, from, told, &format!("mended for {profile:?}"))
}

/// The report of an answer: it must name every value that is missing in the output.
#[derive(Clone, Copy)]
struct Told<'a> {
    edits: &'a [Diagnostic],
    left_out: &'a [String],
}

fn accounts_for_all(
    json: &[u8],
    written: &[u8],
    from: Option<Format>,
    told: Told<'_>,
    act: &str,
) -> Result<(), String> {
    let text = String::from_utf8_lossy(json);
    let Ok(source) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else {
        return Ok(());
    };
    let there = Said::of(&String::from_utf8_lossy(written));
    let mut texts = Vec::new();
    collect(&source, &mut Vec::new(), &mut texts);
    texts.retain(|it| {
        let is_there = there.says(&it.1) || there.says(&without_tags(&it.1));
        !is_there && !told.names(&it.0)
    });
    if texts.is_empty() {
        return Ok(());
    }
    let read = ReadOptions::default().with_from(from);
    let rows: Vec<String> =
        messages(json, &read).unwrap_or_default().into_iter().map(|it| it.native).collect();
    texts.retain(|it| {
        // A document in a text is read as what it says.
        let mut inner = Vec::new();
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(&it.1) {
            collect(&value, &mut Vec::new(), &mut inner);
        }
        let is_said = !inner.is_empty() && inner.iter().all(|it| told.is_about(&it.1, &rows));
        let is_about = || told.is_about(&it.1, &rows) || told.is_about(&without_tags(&it.1), &rows);
        !is_said && !is_about() && !told.removes(&it.0, &it.1, &rows)
    });
    if texts.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{act}: {texts:?} are lost without a word\nof {text}\nin {}\nreport {:?} left out {:?}",
        String::from_utf8_lossy(written),
        told.edits,
        told.left_out
    ))
}

/// The text between tags, because calls that models write as text are read as calls.
fn without_tags(text: &str) -> String {
    // The default server, which need not be named.
    let text = text.replace("<server_name>local</server_name>", " ");
    // A section is a piece of the text that it is in.
    let text = text.replace("<![CDATA[", "").replace("]]>", "");
    let mut pieces = text.split('<');
    let first = pieces.next().unwrap_or_default().to_owned();
    // A piece without the end of a tag is text.
    let inner = |it: &str| it.split_once('>').map_or(it, |it| it.1).to_owned();
    pieces.fold(first, |res, it| format!("{res} {}", inner(it)))
}

impl Told<'_> {
    /// Whether something accounts for the value at these steps.
    fn names(&self, steps: &[String]) -> bool {
        let pointer: String = steps.iter().map(|it| format!("/{it}")).collect();
        let is_there = |it: &Diagnostic| it.at.pointer.as_ref() == Some(&pointer);
        let counts = |it: &Diagnostic| it.code == "convert::lost-value" && it.at.pointer.is_none();
        // A member that has no place, or whose shape was mended, is named.
        let is_named = |it: &Diagnostic| {
            let mut named = steps.iter().filter(|it| !it.bytes().all(|it| it.is_ascii_digit()));
            matches!(
                it.code.as_str(),
                "convert::lost-member" | "profile::shape" | "message::wrong-type"
            ) && named.any(|step| it.message().contains(step.as_str()))
        };
        let is_anew = || self.edits.iter().any(|it| it.code == "session::written-anew");
        let is_kept_by_agents =
            || steps.last().is_some_and(|it| !OF_MESSAGES.contains(&it.as_str()));
        (is_kept_by_agents() && is_anew())
            || self.left_out.iter().any(|it| steps.contains(it))
            || self.edits.iter().any(|it| is_there(it) || counts(it) || is_named(it))
    }

    /// Whether something was removed from the message that this element was, or its text is a damaged call, which no message as it was read says: a value
    /// of a wrong type goes with the part that it is of.
    fn removes(&self, steps: &[String], text: &str, rows: &[String]) -> bool {
        let element = steps.iter().find_map(|it| it.parse::<usize>().ok());
        // A damaged call in a text is read as the repaired call.
        let is_gone = |it: &&Diagnostic| {
            it.fix.as_deref().is_some_and(|it| it.starts_with("removed"))
                || it.code.as_str().starts_with("xml::")
        };
        let mut gone = self.edits.iter().filter(is_gone).filter_map(|it| it.at.message);
        // The members around a message in a response are dropped with it.
        let is_around = || {
            let is_dropped = |it: &Diagnostic| it.fix.as_deref() == Some("dropped the message");
            steps.first().is_some_and(|it| it == "choices") && self.edits.iter().any(is_dropped)
        };
        is_around()
            || !rows.iter().any(|row| row.contains(text)) && gone.any(|it| Some(it) == element)
    }

    /// Whether something was said of a message that has this text.
    fn is_about(&self, text: &str, rows: &[String]) -> bool {
        let text = text.strip_prefix("audio/").unwrap_or(text);
        let text = text.strip_prefix("Tool: ").unwrap_or(text);
        let quoted = serde_json::to_string(text).expect("because it is a text");
        let inner = &quoted[1..quoted.len() - 1];
        let twice = serde_json::to_string(inner).expect("because it is a text");
        let holds = |row: &&String| {
            let mut said = words(text);
            row.contains(inner)
                || row.contains(&twice[1..twice.len() - 1])
                || said.all(|it| row.contains(it))
        };
        let at = |it: &Diagnostic| it.at.message.and_then(|at| rows.get(at));
        self.edits.iter().filter_map(at).any(|row| holds(&row))
    }
}

/// The texts of a value with the steps to them, but the words of the format.
fn collect(value: &Value, steps: &mut Vec<String>, res: &mut Vec<(Vec<String>, String)>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => res.push((steps.clone(), text.clone())),
        Value::Array(all) => {
            for (at, it) in all.iter().enumerate() {
                steps.push(at.to_string());
                collect(it, steps, res);
                steps.pop();
            }
        }
        Value::Object(all) => {
            // A copy of the content of the blocks.
            let is_twin =
                |name: &str| name == "reasoning_content" && all.contains_key("thinking_blocks");
            // The only kind of breakpoint that a part may have.
            let is_of_breakpoint = steps.last().is_some_and(|it| it == "prompt_cache_breakpoint");
            let is_kind = |name: &str| is_of_breakpoint && name == "mode";
            let is_said = |name: &str| !WORDS.contains(&name) && !is_twin(name) && !is_kind(name);
            for (name, it) in all.iter().filter(|it| is_said(it.0)) {
                steps.push(name.clone());
                collect(it, steps, res);
                steps.pop();
            }
        }
        _ => {}
    }
}

/// The values of a document, including those of JSON in texts and of text files.
struct Said {
    text: String,
    words: BTreeSet<String>,
}

impl Said {
    fn of(written: &str) -> Self {
        let written = written.trim_start_matches('\u{feff}');
        let mut text = written.to_owned();
        for line in std::iter::once(written).chain(written.lines()) {
            if let Ok(value) = serde_json::from_str::<Value>(line) {
                text.push('\n');
                unfold(&value, 0, &mut text);
            }
        }
        let words = words(&text).map(str::to_owned).collect();
        Self { text, words }
    }

    fn says(&self, text: &str) -> bool {
        let is_there =
            |it: &str| self.text.contains(it) || words(it).all(|it| self.words.contains(it));
        // The heading of a tool's result in plain messages; the result says its tool.
        let text = text.strip_prefix("Tool: ").unwrap_or(text);
        let data = text.split_once(";base64,").map(|it| it.1).unwrap_or(text);
        let decoded = decoded(data);
        is_there(text)
            || is_there(data)
            || decoded.is_some_and(|it| is_there(&it))
            || serde_json::from_str::<Value>(text).is_ok_and(|it| {
                let mut inner = Vec::new();
                collect(&it, &mut Vec::new(), &mut inner);
                it.is_object() && inner.iter().all(|it| is_there(&it.1))
            })
    }
}

/// The text that base64 represents, if it does.
fn decoded(data: &str) -> Option<String> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for digit in data.trim_end_matches('=').chars() {
        bits = (bits << 6) | u32::try_from(DIGITS.find(digit)?).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok().filter(|it| !it.is_empty())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty())
}

/// All texts and names of a value, and what is folded into them.
fn unfold(value: &Value, depth: usize, res: &mut String) {
    match value {
        Value::String(text) => {
            res.push_str(text);
            res.push('\n');
            let data = text.split_once(";base64,").map(|it| it.1).unwrap_or(text);
            let decoded = decoded(data);
            decoded.iter().for_each(|it| res.extend([it.as_str(), "\n"]));
            if let Some(it) = serde_json::from_str(text).ok().filter(|_| depth < 3) {
                unfold(&it, depth + 1, res);
            }
        }
        Value::Array(all) => all.iter().for_each(|it| unfold(it, depth, res)),
        Value::Object(all) => {
            for (name, it) in all {
                res.extend([name.as_str(), "\n"]);
                unfold(it, depth, res);
            }
        }
        other => res.extend([other.to_string().as_str(), "\n"]),
    }
}

/// A document that is made of another by one change of its structure, which the seed chooses.
pub(crate) fn mutant(json: &str, seed: u64) -> Option<String> {
    let mut value: Value = serde_json::from_str(json).ok()?;
    let mut random = Random(seed);
    let n_places = count(&value);
    let mut place = random.below(n_places);
    change(&mut value, &mut place, &mut random);
    let text = value.to_string();
    Some(match random.below(40) {
        0 => format!("\u{feff}{text}"),
        1 => text.replacen("MUTANT", "\\ud800MUTANT", 1),
        2 => text.replacen(":{", ":{\"twice\":\"MUTANTONE\",\"twice\":\"MUTANTTWO\",", 1),
        _ => text,
    })
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % end.max(1)
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(count).sum(),
        Value::Object(all) => all.values().map(count).sum(),
        _ => 0,
    }
}

fn change(value: &mut Value, place: &mut usize, random: &mut Random) {
    if *place == 0 {
        *value = changed(std::mem::take(value), random);
        *place = usize::MAX;
        return;
    }
    *place -= 1;
    let inner: Vec<&mut Value> = match value {
        Value::Array(all) => all.iter_mut().collect(),
        Value::Object(all) => all.values_mut().collect(),
        _ => Vec::new(),
    };
    for it in inner {
        if *place == usize::MAX {
            return;
        }
        change(it, place, random);
    }
}

fn changed(value: Value, random: &mut Random) -> Value {
    match (random.below(12), value) {
        (0, _) => Value::Null,
        (1, it) => Value::Array(vec![it]),
        (2, it) => serde_json::json!({ "MUTANTNAME": it }),
        (3, it) => Value::String(it.to_string()),
        (4, _) => serde_json::json!(-0.0),
        (5, _) => serde_json::json!(u64::MAX),
        (6, _) => serde_json::json!("MUTANT\u{0}nul"),
        (7, Value::Array(mut all)) => {
            all.reverse();
            Value::Array(all)
        }
        (8, Value::Array(mut all)) => {
            let again = all.first().cloned();
            all.extend(again);
            Value::Array(all)
        }
        (_, Value::Object(mut all)) => {
            let names: Vec<String> = all.keys().cloned().collect();
            if let Some(name) = names.get(random.below(names.len() + 1)) {
                let it = all.remove(name).unwrap_or_default();
                if random.below(3) > 0 {
                    all.insert(format!("{name}MUTANT"), it);
                }
            }
            all.insert("extraMUTANT".to_owned(), serde_json::json!("MUTANTVALUE"));
            Value::Object(all)
        }
        (_, it) => serde_json::json!({ "MUTANTA": it, "MUTANTB": ["MUTANTTEXT", 1, true, null] }),
    }
}
