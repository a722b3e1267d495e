//! Values of a wrong type (MS-29): whatever is in the place of a member comes back, is mended for a provider, and
//! is said or named in every other format. The reader of this law is `serde_json` alone.

use msg_chainast::Profile;
use msg_core::{Diagnostic, Severity};
use msg_document::{
    CheckOptions, ConvertOptions, Format, ReadOptions, RepairOptions, check, convert, repair,
};
use serde_json::{Value, json};

/// A document, its format, and a profile of that format.
pub(crate) struct Sample {
    pub(crate) format: &'static str,
    pub(crate) profile: &'static str,
    pub(crate) json: Value,
}

/// The value that is put everywhere; a number could not hold more digits.
pub(crate) const LEAF: &str = "7171771";

/// Steps from the root to a value.
pub(crate) type Path = Vec<String>;

/// The values that are put into each place.
pub(crate) fn values() -> Vec<Value> {
    vec![
        json!({"type": "text", "text": LEAF}),
        json!({"type": LEAF, "x": 1}),
        json!({"v": LEAF}),
        json!([LEAF]),
        json!([{"v": LEAF}]),
        json!([[], 7171771]),
        json!(7171771),
        json!(true),
        json!(LEAF),
        Value::Null,
        json!(""),
        json!([]),
        json!({}),
    ]
}

/// Every place below the messages of a document.
pub(crate) fn places(it: &Value) -> Vec<Path> {
    fn walk(it: &Value, at: &mut Path, res: &mut Vec<Path>) {
        let children: Vec<(String, &Value)> = match it {
            Value::Object(it) => it.iter().map(|(name, it)| (name.clone(), it)).collect(),
            Value::Array(it) => it.iter().enumerate().map(|(n, it)| (n.to_string(), it)).collect(),
            _ => Vec::new(),
        };
        for (step, child) in children {
            at.push(step);
            res.push(at.clone());
            walk(child, at, res);
            at.pop();
        }
    }
    let mut res = Vec::new();
    walk(it, &mut Vec::new(), &mut res);
    res
}

pub(crate) fn pointer(path: &[String]) -> String {
    path.iter().map(|it| format!("/{it}")).collect()
}

/// The law for every place of a sample. Gives the number of documents that were tried, and what broke it.
pub(crate) fn a_value_of_a_wrong_type_is_kept(sample: &Sample) -> (usize, Vec<String>) {
    let (mut tried, mut broken) = (0, Vec::new());
    for path in places(&sample.json) {
        for value in values() {
            let mut document = sample.json.clone();
            let place = document.pointer_mut(&pointer(&path)).expect("it was found there");
            // A string for a string is of no wrong type.
            if *place == value || (place.is_string() && value.is_string()) {
                continue;
            }
            *place = value.clone();
            tried += 1;
            if let Err(why) = holds(sample, &path, &value, &document) {
                broken.push(format!("{} {} = {value}: {why}", sample.format, pointer(&path)));
            }
        }
    }
    (tried, broken)
}

fn holds(sample: &Sample, path: &[String], value: &Value, document: &Value) -> Result<(), String> {
    let json = document.to_string();
    let format: Format = sample.format.parse().expect("it is a format");
    let read = ReadOptions::default().with_from(Some(format));
    let options = ConvertOptions::default().with_read(read.clone());
    let converted = match convert(json.as_bytes(), format, &options) {
        Ok(it) => it,
        // Who speaks, and what a list of messages is, must not be guessed.
        Err(_) if is_vital(path) => return Ok(()),
        Err(it) => return Err(format!("refused: {it}")),
    };
    let back: Value = serde_json::from_slice(&converted.document).map_err(|it| it.to_string())?;
    if back != *document {
        return Err(format!("comes back as {back}"));
    }
    unmended(&json, &read, document, path, value)?;
    mended(&json, &read, sample, path, value)?;
    for to in ["openai", "responses", "anthropic", "gemini"] {
        let to: Format = to.parse().expect("it is a format");
        let converted = convert(json.as_bytes(), to, &options).map_err(|it| it.to_string())?;
        if to != format && has_leaf(value) && !says(&converted.document, &converted.edits) {
            let out = String::from_utf8_lossy(&converted.document);
            return Err(format!("{to} has {out} and reports {:?}", converted.edits));
        }
    }
    Ok(())
}

/// Without a profile nothing is mended, but what chain rules edit, which they say.
fn unmended(
    json: &str,
    read: &ReadOptions,
    document: &Value,
    path: &[String],
    value: &Value,
) -> Result<(), String> {
    let options = RepairOptions::default().with_read(read.clone());
    let repaired = repair(json.as_bytes(), &options).map_err(|it| it.to_string())?;
    if !repaired.changed {
        return if repaired.document == json.as_bytes() { Ok(()) } else { Err("changed".into()) };
    }
    let back: Value = serde_json::from_slice(&repaired.document).map_err(|it| it.to_string())?;
    let same = back.pointer(&pointer(path)) == Some(value) || back == *document;
    match same || !has_leaf(value) || says(&repaired.document, &repaired.edits) {
        true => Ok(()),
        false => Err(format!("repair gives {back} and reports {:?}", repaired.edits)),
    }
}

/// A profile mends it, and then has nothing against it; what is carried in a list is named, and stays where it was.
fn mended(
    json: &str,
    read: &ReadOptions,
    sample: &Sample,
    path: &[String],
    value: &Value,
) -> Result<(), String> {
    let profile = Profile::named(sample.profile).expect("it is built in").clone();
    let mut options = RepairOptions::default().with_read(read.clone());
    options.chain = options.chain.with_profile(&profile);
    let repaired = repair(json.as_bytes(), &options).map_err(|it| it.to_string())?;
    let out = String::from_utf8_lossy(&repaired.document);
    if has_leaf(value) && !says(&repaired.document, &repaired.edits) {
        return Err(format!("mended to {out}, which reports {:?}", repaired.edits));
    }
    let options = CheckOptions::default().with_read(read.clone()).with_profile(profile);
    let checked = check(&repaired.document, &options).map_err(|it| format!("{it} in {out}"))?;
    let is_listed = value.is_array()
        || path.iter().skip(2).any(|it| it.parse::<usize>().is_ok() || it == "tool_calls");
    let kept = if has_leaf(value) { LEAF.to_owned() } else { value.to_string() };
    let stays = is_listed && out.contains(&kept);
    // Missing, empty and unknown values do not have a wrong type: other rules report them, and they may stay.
    let is_other = |it: &Diagnostic| {
        const OTHERS: [&str; 3] =
            ["profile::unknown-kind", "profile::unknown-member", "profile::missing-member"];
        OTHERS.contains(&it.code.as_str()) || !has_leaf(value) && it.code == "profile::shape"
    };
    // A result whose call is not understood keeps the messages as they are (RG-12).
    let is_kept =
        |it: &Diagnostic| it.code == "message::not-understood" && it.at.tool_call_id.is_some();
    if checked.diagnostics.iter().any(is_kept) {
        return Ok(());
    }
    let mut errors = checked.diagnostics.iter().filter(|it| it.severity == Severity::Error);
    match errors.find(|it| !is_other(it) && !stays) {
        Some(it) => Err(format!("mended to {out}, of which check says {it:?}")),
        None => Ok(()),
    }
}

/// The members without which nothing can be read: who speaks, and the messages themselves.
fn is_vital(path: &[String]) -> bool {
    let is_index = |it: &String| it.parse::<usize>().is_ok();
    match path {
        [_] => true,
        [.., last] if last == "role" || last == "from" => true,
        [_, at] => is_index(at),
        // The type of a step.
        [list, at, last] => list == "input" && is_index(at) && last == "type",
        _ => false,
    }
}

fn has_leaf(value: &Value) -> bool {
    value.to_string().contains(LEAF)
}

/// Whether the leaf is in a document, or a report names it or what it was in: a part that a target has no place for,
/// and what rules of the chain and of profiles replace as a whole.
pub(crate) fn says(document: &[u8], report: &[Diagnostic]) -> bool {
    const REPLACED: [&str; 3] =
        ["chain::nameless-call", "chain::empty-result-id", "profile::arguments"];
    let is_lost = |it: &Diagnostic| {
        it.code.as_str().starts_with("convert::lost") || REPLACED.contains(&it.code.as_str())
    };
    String::from_utf8_lossy(document).contains(LEAF)
        || report.iter().any(|it| it.message().contains(LEAF) || is_lost(it))
}

// Small documents of each wire format, every member of which is replaced by values of all types.

fn samples() -> Vec<Sample> {
    let chat = json!({"messages": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "name": "ann", "content": [
            {"type": "text", "text": "what is this?"},
            {"type": "image_url", "image_url": {"url": "https://e.x/a.png", "detail": "low"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}}]},
        {"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"n\":1}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        {"role": "assistant", "content": "A cat."},
        {"role": "user", "content": "thanks"}]});
    let responses = json!({"input": [
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "what is this?"},
            {"type": "input_image", "image_url": "https://e.x/a.png", "detail": "low"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{\"n\":1}"},
        {"type": "function_call_output", "call_id": "c1", "output": "a cat"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A cat."}]},
        {"role": "user", "content": "thanks"}]});
    let anthropic = json!({"system": "be brief", "messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "what is this?"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
            {"type": "document", "title": "a.pdf", "source": {"type": "url", "url": "https://e.x/a.pdf"}}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "let me look"},
            {"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "is_error": false, "content": [{"type": "text", "text": "a cat"}]},
            {"type": "text", "text": "and?"}]},
        {"role": "assistant", "content": "A cat."},
        {"role": "user", "content": "thanks"}]});
    let gemini = json!({"systemInstruction": {"parts": [{"text": "be brief"}]}, "contents": [
        {"role": "user", "parts": [
            {"text": "what is this?"},
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://e.x/a.pdf"}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"n": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "a cat"}}}]},
        {"role": "model", "parts": [{"text": "A cat."}]},
        {"role": "user", "parts": [{"text": "thanks"}]}]});
    let bedrock = json!({"messages": [
        {"role": "user", "content": [{"text": "what is this?"}]},
        {"role": "assistant", "content": [{"text": "let me look"},
            {"toolUse": {"toolUseId": "c1", "name": "look", "input": {"n": 1}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "a cat"}]}}]},
        {"role": "assistant", "content": [{"text": "A cat."}]},
        {"role": "user", "content": [{"text": "thanks"}]}]});
    let interactions = json!({"input": [
        {"type": "user_input", "content": [{"type": "text", "text": "what is this?"}]},
        {"type": "function_call", "id": "c1", "name": "look", "arguments": {"n": 1}},
        {"type": "function_result", "call_id": "c1", "name": "look", "result": "a cat"},
        {"type": "model_output", "content": [{"type": "text", "text": "A cat."}]},
        {"type": "user_input", "content": [{"type": "text", "text": "thanks"}]}]});
    let sample = |format, profile, json| Sample { format, profile, json };
    vec![
        sample("openai", "openai", chat),
        sample("responses", "openai-responses", responses),
        sample("anthropic", "anthropic", anthropic),
        sample("gemini", "gemini", gemini),
        sample("bedrock", "bedrock", bedrock),
        sample("interactions", "gemini-interactions", interactions),
    ]
}

#[test]
fn values_of_wrong_types_are_kept_mended_and_said() {
    let (mut tried, mut broken) = (0, Vec::new());
    for sample in samples() {
        let (n, found) = a_value_of_a_wrong_type_is_kept(&sample);
        tried += n;
        broken.extend(found);
    }
    assert!(tried > 1000, "only {tried} documents were tried");
    assert!(broken.is_empty(), "{} of {tried} are broken:\n{}", broken.len(), broken.join("\n"));
}
