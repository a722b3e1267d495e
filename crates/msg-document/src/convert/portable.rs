//! Converts parts that only one format has to forms that all formats can hold: calls that a client runs become
//! ordinary calls and results, texts become text (MS-24).
//!
//! ```text
//! {"type":"shell_call","call_id":"c","action":{…}}      a call of `shell` with the action as its arguments
//! {"type":"shell_call_output","call_id":"c","output":…} its result
//! ```
//!
//! Also code that a model wrote and its provider ran, with its output: parts of Gemini, steps of Interactions, and text
//! in all other formats (MS-24).
//!
//! ```text
//! {"executableCode":{"id":"e","language":"PYTHON","code":"print(1)"}}
//! {"type":"code_execution_call","id":"e","arguments":{"language":"python","code":"print(1)"}}
//! ```

use msg_chainast::Profile;
use msg_codec::{DataUrl, MediaKind, MediaPlaces};
use msg_core::{
    Audio, Code, Diagnostic, File, Image, Message, Origin, Other, PairSide, Part, Place, RawJson,
    Report, Role, ToolCall, ToolResult,
};
use serde_json::Value;

/// Replaces parts that `to` does not have with parts that any format can hold, if possible. In the list of a framework
/// (`has_display`), parts that only a UI shows are not written.
pub(super) fn make_portable(messages: &mut [Message], to: &str, has_display: bool) {
    convert(messages, to);
    for part in messages.iter_mut().flat_map(|it| &mut it.parts) {
        if let Part::Other(it) = part
            && it.format.as_str() == "json"
            && has_display
            && is_display(&it.value)
        {
            // No provider has this format, so no writer takes the part for text.
            it.format = "display".into();
        }
        if let Part::ToolResult(it) = part
            && it.content.parts().iter().any(|it| portable(it, to).is_some())
        {
            it.content.parts_mut().iter_mut().for_each(|it| replace(it, to));
        }
        if let Part::ToolResult(it) = part
            && API_FORMATS.contains(&to)
            && it.content.parts().iter().any(|it| is_value(it, to))
        {
            let parts = it.content.parts_mut().iter_mut();
            parts.filter(|it| is_value(it, to)).for_each(as_value);
        }
        replace(part, to);
    }
}

/// Converts media to the form that the target uses, if it is a provider's format.
pub(super) fn settle_media(messages: &mut [Message], to: &str) -> Report {
    let places = match to {
        "openai" | "responses" => MediaPlaces::OPENAI,
        "anthropic" => MediaPlaces::ANTHROPIC,
        "gemini" | "interactions" | "bedrock" => MediaPlaces::ALL,
        _ => return Report::new(),
    };
    msg_codec::settle_media(messages, places)
}

/// Corrects media types that the API of the target refuses.
pub(super) fn settle_media_types(messages: &mut [Message], to: &str) -> Report {
    let mut report = Report::new();
    let name = match to {
        "responses" => "openai-responses",
        "interactions" => "gemini-interactions",
        // Bedrock has its own words for media types.
        "openai" | "anthropic" | "gemini" => to,
        _ => return report,
    };
    let has_one = |it: &Part| {
        may_be_refused(it)
            || it.as_tool_result().is_some_and(|it| it.content.parts().iter().any(may_be_refused))
    };
    // Reading a profile takes longer than converting most documents.
    if !messages.iter().flat_map(|it| &it.parts).any(has_one) {
        return report;
    }
    let Some(profile) = Profile::named(name) else { return report };
    for (at, message) in messages.iter_mut().enumerate() {
        for (place, part) in message.parts.iter_mut().enumerate() {
            let changed: Vec<_> = match part {
                // `parts_mut` copies a content that several results share, so unaffected parts are skipped.
                part if !has_one(part) => continue,
                Part::ToolResult(it) => {
                    let inner = it.content.parts_mut().iter_mut();
                    inner.filter_map(|it| profile.settle_media_type(it)).collect()
                }
                part => profile.settle_media_type(part).into_iter().collect(),
            };
            for (told, is) in changed {
                let text = format!("media type `{told}` is written as `{is}`");
                let it = Diagnostic::info(Code::new("convert::value-changed"), text);
                report.push(it.at_part(at, place));
            }
        }
    }
    report
}

/// Whether some API may refuse the media type of an image or a document.
fn may_be_refused(part: &Part) -> bool {
    const TAKEN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let it = match part {
        Part::Image(it) => it,
        Part::File(it) => {
            let inline = it.data.as_deref().and_then(DataUrl::parse).map(|it| it.media_type);
            let told = inline.or(it.media_type.as_deref());
            return told.is_some_and(|it| !matches!(it, "application/pdf" | "text/plain"));
        }
        _ => return false,
    };
    let Some(inline) = it.url.as_deref().and_then(DataUrl::parse) else { return false };
    let is_told = |is: &str| is == inline.media_type;
    !TAKEN.contains(&inline.media_type) || !DataUrl::type_of_data(inline.data).is_none_or(is_told)
}

/// Reports media in assistant messages that the API of the target refuses there (PM-82).
pub(super) fn refused_media(messages: &[Message], to: &str) -> Report {
    let kind = |part: &Part| match part {
        Part::Image(_) => Some("an image"),
        Part::File(_) => Some("a file"),
        _ => None,
    };
    let answers = messages.iter().enumerate().filter(|it| it.1.role == Role::Assistant);
    let refuses = matches!(to, "openai" | "anthropic");
    let media = answers.filter(|_| refuses).flat_map(|(at, message)| {
        let parts = message.parts.iter().enumerate();
        parts.filter_map(move |(part, it)| Some((at, part, kind(it)?)))
    });
    let found = media.map(|(at, part, kind)| {
        let text = format!(
            "{kind} in an assistant message, which the API refuses; `--profile {to}` moves it"
        );
        Diagnostic::warning(Code::new("convert::media-place"), text).at_part(at, part)
    });
    found.collect()
}

/// Formats of APIs, whose results can hold JSON or its text.
const API_FORMATS: [&str; 6] =
    ["openai", "responses", "anthropic", "gemini", "interactions", "bedrock"];

/// Whether a part of a result is plain data of another provider, such as a list of browser tabs, which any API accepts
/// as JSON. Encrypted data do not count.
fn is_value(part: &Part, to: &str) -> bool {
    let Part::Other(it) = part else { return false };
    !matches!(it.format.as_str(), "json" | "display")
        && it.format.as_str() != to
        && it.value.text().starts_with('{')
        && it.value.member("encrypted_content").is_none()
}

fn as_value(part: &mut Part) {
    if let Part::Other(it) = part {
        it.format = Origin::Json;
    }
}

/// Whether a part of a framework is only shown to people, or was run by the provider: the model did not say it.
fn is_display(value: &RawJson) -> bool {
    let members = value.members().unwrap_or_default();
    let kind = members.iter().find(|it| matches!(it.0.as_str(), "type" | "part_kind"));
    kind.and_then(|it| it.1.parse::<String>().ok()).is_some_and(|kind| {
        kind.starts_with("data-")
            || matches!(
                kind.as_str(),
                "source-url" | "source-document" | "builtin-tool-call" | "builtin-tool-return"
            )
    })
}

fn replace(part: &mut Part, to: &str) {
    if let Some(it) = portable(part, to) {
        *part = it;
    }
}

fn portable(part: &Part, to: &str) -> Option<Part> {
    let Part::Other(it) = part else { return None };
    if it.format.as_str() == to {
        return None;
    }
    let value: Value = it.value.parse().ok()?;
    let said = match it.format.as_str() {
        "responses" => client_run(it, &value).or_else(|| generated(&value, to)),
        // For other providers, a reference to a tool that was found is data.
        "anthropic" if value.get("type").and_then(Value::as_str) == Some("tool_reference") => {
            Some(Part::Other(Other { format: Origin::Json, ..it.clone() }))
        }
        "anthropic" => block(&value).map(Part::text),
        "bedrock" => value.get("searchResult").and_then(search_result).map(Part::text),
        "openai" => linked(&value, to),
        _ => None,
    };
    said.or_else(|| untyped(&value))
}

/// A medium that the reader did not recognise: its type is missing, or its link has the form of another format. The
/// bytes tell the type (RQ-39).
fn untyped(value: &Value) -> Option<Part> {
    let text = |at: &str| value.pointer(at).and_then(Value::as_str);
    if let Some(url) = text("/image_url/url").filter(|_| text("/type") == Some("input_image")) {
        return Some(Part::Image(Image::from_url(url)));
    }
    if let Some(id) = text("/image_url/file_id") {
        return Some(Part::Image(Image { file_id: Some(id.to_owned()), ..Image::default() }));
    }
    const PLACES: [[&str; 2]; 4] = [
        ["/source/media_type", "/source/data"],
        ["/inlineData/mimeType", "/inlineData/data"],
        ["/inline_data/mime_type", "/inline_data/data"],
        ["/mime_type", "/data"],
    ];
    let is_empty =
        |at: &str| value.pointer(at).is_none_or(|it| it.is_null() || it.as_str() == Some(""));
    let [_, data] = PLACES.into_iter().find(|it| text(it[1]).is_some() && is_empty(it[0]))?;
    let data = text(data)?.to_owned();
    let bytes = DataUrl::parse(&data).map_or(&*data, |it| it.data);
    Some(match MediaKind::of(msg_codec::DataUrl::type_of_data(bytes)?) {
        MediaKind::Image => Part::Image(Image::from_url(data)),
        MediaKind::Audio => Part::Audio(Audio { data: Some(data), ..Audio::default() }),
        _ => Part::File(File { data: Some(data), ..File::default() }),
    })
}

/// A call that a client runs, or its output; `None` for tools that the provider runs.
fn client_run(it: &Other, value: &Value) -> Option<Part> {
    const FAMILIES: [(&str, &str); 5] = [
        ("local_shell", "action"),
        ("shell", "action"),
        ("apply_patch", "operation"),
        ("computer", "action"),
        ("tool_search", "arguments"),
    ];
    let pairing = it.pairing().filter(|it| !it.is_hosted && !it.id.is_empty())?;
    let (name, member) = FAMILIES.into_iter().find(|row| row.0 == pairing.family)?;
    if pairing.side == PairSide::Call {
        let plural = format!("{member}s");
        let arguments =
            [member, plural.as_str()].into_iter().find_map(|name| member_of(it, name))?;
        return Some(Part::ToolCall(ToolCall::new(pairing.id, name, arguments.text())));
    }
    let member = if name == "tool_search" { "tools" } else { "output" };
    let output = member_of(it, member)?;
    let content = match (value.get(member)?, value.pointer("/output/image_url")) {
        (_, Some(Value::String(url))) => Part::Image(Image::from_url(url)),
        (Value::String(text), _) => Part::text(text),
        _ => Part::text(output.text()),
    };
    let mut result = ToolResult::new(pairing.id, vec![content]);
    result.is_error = value.get("status").and_then(Value::as_str) == Some("failed");
    Some(Part::ToolResult(result))
}

/// An image that a model generated, if assistant messages of the target may hold one.
fn generated(value: &Value, to: &str) -> Option<Part> {
    let is_one = value.get("type").and_then(Value::as_str) == Some("image_generation_call");
    let data = value.get("result").and_then(Value::as_str)?;
    let takes = is_one && matches!(to, "gemini" | "interactions");
    (takes && DataUrl::type_of_data(data).is_some()).then(|| Part::Image(Image::from_url(data)))
}

/// A member as it was written.
fn member_of(it: &Other, name: &str) -> Option<RawJson> {
    it.value.members()?.into_iter().find(|it| it.0 == name).map(|it| it.1)
}

/// The text of a block: the summary of a compaction, a search result, a document of texts.
fn block(value: &Value) -> Option<String> {
    match value.get("type").and_then(Value::as_str)? {
        "compaction" => said(value, &[]),
        "search_result" => search_result(value),
        "document" => said(value, &["title", "context"]),
        _ => None,
    }
}

/// The text of a search result of Anthropic or Bedrock.
fn search_result(value: &Value) -> Option<String> {
    said(value, &["title", "source"])
}

/// The texts of a block, after the texts of its heading members.
fn said(value: &Value, heads: &[&str]) -> Option<String> {
    let heads = heads.iter().filter_map(|it| value.get(it)?.as_str());
    let source = value.get("source").filter(|it| it.is_object());
    let content = source.unwrap_or(value).get("content")?;
    let said: Vec<&str> = match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => {
            // `None` if a block is not text, because it would be lost.
            let texts = blocks.iter().map(|it| it.get("text").and_then(Value::as_str));
            texts.collect::<Option<_>>()?
        }
        _ => return None,
    };
    let all: Vec<&str> = heads.chain(said).filter(|it| !it.is_empty()).collect();
    (!all.is_empty()).then(|| all.join("\n\n"))
}

/// A video or audio part of chat messages, for a format that accepts links to them (RQ-41), or a document of Mistral's
/// API.
fn linked(value: &Value, to: &str) -> Option<Part> {
    const KINDS: [(&str, &str); 3] =
        [("video_url", "video"), ("audio_url", "audio"), ("document_url", "document")];
    let said = value.get("type")?.as_str()?;
    let (name, kind) = KINDS.into_iter().find(|it| it.0 == said)?;
    let url = value.get(name).map(|it| it.get("url").unwrap_or(it))?.as_str()?.to_owned();
    if kind != "document" && !matches!(to, "gemini" | "interactions" | "bedrock") {
        return None;
    }
    let name = value.get("document_name").and_then(Value::as_str);
    let mut file = File { filename: name.map(str::to_owned), ..File::default() };
    match DataUrl::is(&url) {
        true => file.data = Some(url),
        false => file.url = Some(url),
    }
    if to == "interactions" {
        // Without a media type, the writer would treat the link as a document.
        file.extra.insert(Origin::Interactions, "type", RawJson::string(kind));
    }
    Some(Part::File(file))
}

/// The code, or what it printed.
struct Ran {
    is_call: bool,
    id: Option<String>,
    language: String,
    text: String,
    /// The outcome, in Gemini's words; empty if unknown.
    outcome: String,
    signature: Option<String>,
}

/// Converts code execution of other formats to `to`. If the target needs ids and the source has none, a call and its
/// result get the next id.
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

/// An object of the members that are not `None`.
fn object(members: Vec<(&str, Option<RawJson>)>) -> RawJson {
    let members = members.into_iter().filter_map(|it| Some((it.0, it.1?)));
    RawJson::written(|out| out.object(|out| members.for_each(|it| out.key(it.0).raw(it.1.text()))))
}
