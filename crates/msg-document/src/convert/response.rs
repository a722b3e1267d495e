//! Converts the response of one provider to the response of another.

use msg_codec::{Assembled, Json, StreamOptions, StreamReader};
use msg_core::{Code, Diagnostic, FinishReason, RawJson, Report, Usage, pointer_step};

use msg_formats::{Format, Refusal, Side, WriteOptions};

use crate::document::Document;

impl Document {
    /// Writes a response as one of another format: id, model, finish, usage and content.
    ///
    /// Fails for a document that is not a response, and for a target that has none.
    pub(super) fn write_response(
        &mut self,
        to: Format,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Report, Refusal> {
        let is_answer = matches!(self.side(), Side::Answer | Side::Choices);
        if !is_answer || !self.format().is_of_an_api() {
            let text = format!("--response is for a response, and this is {}", self.what());
            return Err(Refusal::bad_option(text));
        }
        let mut answer = self.answer();
        if let Some(error) = answer.error.as_ref().filter(|_| !HOLDS_ERRORS.contains(&to.name())) {
            let text = format!("the response is an error: {}", error.message);
            return Err(Refusal::bad_option(text));
        }
        let mut report = Report::new();
        give_id(&mut answer, to, &mut report);
        report.extend(answer.usage.as_mut().map(Usage::settle).unwrap_or_default());
        if let Some(others) = answer.choices.len().checked_sub(1).filter(|it| *it > 0)
            && matches!(to.name(), "anthropic" | "responses" | "bedrock" | "interactions")
        {
            let text = format!("a response of {to} has one choice: {others} left out");
            report.push(Diagnostic::warning(Code::new("convert::lost-part"), text));
        }
        report.append(to.write_answer(&answer, options, out)?);
        Ok(report)
    }

    /// The model's answer, as the reader of its API assembles it; made from the message if the document is only that.
    fn answer(&mut self) -> Assembled {
        let families = self.format().families();
        let mut source = Vec::new();
        self.write(&WriteOptions::default(), &mut source);
        let text = String::from_utf8_lossy(&source);
        let whole = Json::from_valid(text.trim_ascii());
        if !families.iter().any(|it| (it.recognises)(whole)) {
            let parts: Vec<_> = self.messages().iter().flat_map(|it| it.parts.clone()).collect();
            let calls = parts.iter().any(|it| it.as_tool_call().is_some());
            let finish = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
            return Assembled::whole(parts, finish);
        }
        let mut reader = StreamReader::new(families, StreamOptions::default());
        reader.feed(&source, &mut |_| {});
        reader.finish(&mut |_| {})
    }
}

/// The formats that have a form for a response that failed; others answer with an error instead of a response.
const HOLDS_ERRORS: [&str; 2] = ["responses", "interactions"];

/// Gives a response without an id a new one, because the types of clients require it.
fn give_id(answer: &mut Assembled, to: Format, report: &mut Report) {
    let has_id = answer.id.as_ref().is_some_and(|it| !it.is_empty());
    if has_id || to.name() == "bedrock" {
        return;
    }
    let id = match to.name() {
        "openai" => "chatcmpl_0",
        "anthropic" => "msg_0",
        _ => "resp_0",
    };
    answer.id = Some(id.to_owned());
    let text = "the response has no id and was given one";
    report.push(Diagnostic::info(Code::new("convert::id-synthesised"), text));
}

/// Members of a response for which every other response format has its own. [`lost_counts`] accounts for the token
/// counts.
pub(super) const ANSWERED: [&str; 8] = [
    "id",
    "model",
    // Why it ended.
    "finish_reason",
    "finishReason",
    "stop_reason",
    "stopReason",
    "usage",
    "usageMetadata",
];

/// The members that hold the counts of a response.
const COUNTS: [&str; 2] = ["usage", "usageMetadata"];

/// A count of a usage.
type Count = fn(&Usage) -> Option<u64>;

/// The members of a usage object that [`Usage`] has (RQ-25).
const READ: [(&str, Count); 23] = [
    ("prompt_tokens", |it| it.input),
    ("input_tokens", |it| it.input),
    ("inputTokens", |it| it.input),
    ("promptTokenCount", |it| it.input),
    ("toolUsePromptTokenCount", |it| it.input),
    ("total_input_tokens", |it| it.input),
    ("completion_tokens", |it| it.output),
    ("output_tokens", |it| it.output),
    ("outputTokens", |it| it.output),
    ("candidatesTokenCount", |it| it.output),
    ("total_output_tokens", |it| it.output),
    ("cached_tokens", |it| it.cached),
    ("cache_read_input_tokens", |it| it.cached),
    ("cacheReadInputTokens", |it| it.cached),
    ("cachedContentTokenCount", |it| it.cached),
    ("total_cached_tokens", |it| it.cached),
    ("cache_write_tokens", |it| it.cache_write),
    ("cache_creation_input_tokens", |it| it.cache_write),
    ("cacheWriteInputTokens", |it| it.cache_write),
    ("reasoning_tokens", |it| it.reasoning),
    ("thinking_tokens", |it| it.reasoning),
    ("thoughtsTokenCount", |it| it.reasoning),
    ("total_thought_tokens", |it| it.reasoning),
];

/// Reports the counts, and other values among them, that the response in the new format lacks.
pub(super) fn lost_counts(source: &str, written: &str, told: &[Diagnostic]) -> Vec<Diagnostic> {
    let counts = |json: &str| {
        let members = RawJson::new(json).ok()?.members()?;
        members.into_iter().rev().find(|it| COUNTS.contains(&&*it.0))
    };
    let Some((name, before)) = counts(source) else { return Vec::new() };
    let after = counts(written).map(|it| Usage::from_raw(it.1)).unwrap_or_default();
    let mut lost = Vec::new();
    unsaid(&format!("/{name}"), &before, &Usage::from_raw(before.clone()), &after, &mut lost);
    let is_told = |place: &str| {
        let name = place.rsplit('/').next().unwrap_or_default();
        let known = READ.iter().any(|it| it.0 == name);
        let mut told = told.iter().filter(|it| it.code == "convert::usage-inconsistent");
        told.any(|it| match it.message().split('`').nth(1) {
            Some(count) => count == name,
            None => known,
        })
    };
    lost.retain(|it| !is_told(it));
    let said = |place: String| {
        let text = format!("`{place}` is left out");
        Diagnostic::warning(Code::new("convert::lost-value"), text).at_pointer(place)
    };
    lost.into_iter().map(said).collect()
}

/// Adds the places of the values among counts that are not in `after`.
fn unsaid(place: &str, value: &RawJson, before: &Usage, after: &Usage, lost: &mut Vec<String>) {
    for (name, value) in value.members().unwrap_or_default() {
        let place = format!("{place}/{}", pointer_step(&name));
        let is_shallow = place.matches('/').count() <= 3;
        if is_shallow && value.members().is_some_and(|it| !it.is_empty()) {
            unsaid(&place, &value, before, after, lost);
            continue;
        }
        let is_said = match READ.iter().find(|it| it.0 == name) {
            Some((_, count)) => count(after).is_some(),
            None if is_total(&name) => after.total.is_some() || is_sum(before),
            None => repeats_count(&name, &value, before),
        };
        if !is_said && !matches!(value.text(), "0" | "0.0" | "null" | "[]" | "{}" | "\"\"") {
            lost.push(place);
        }
    }
}

fn is_total(name: &str) -> bool {
    matches!(name, "total_tokens" | "totalTokens" | "totalTokenCount")
}

/// Whether the total is the sum of its parts.
fn is_sum(usage: &Usage) -> bool {
    let sum = usage.input.unwrap_or_default().saturating_add(usage.output.unwrap_or_default());
    usage.total == Some(sum)
}

/// Whether a list of counts by modality only repeats a count as text, as Gemini does for each conversation without
/// media.
fn repeats_count(name: &str, list: &RawJson, usage: &Usage) -> bool {
    let Ok(rows) = list.parse::<Vec<RawJson>>() else { return false };
    let [row] = rows.as_slice() else { return rows.is_empty() };
    let members = row.members().unwrap_or_default();
    let of = |name: &str| members.iter().find(|it| it.0 == name).map(|it| it.1.text().to_owned());
    let count = of("tokenCount").and_then(|it| it.parse::<u64>().ok());
    let whole = match name {
        "promptTokensDetails" => usage.input,
        "candidatesTokensDetails" => {
            usage.output.map(|it| it.saturating_sub(usage.reasoning.unwrap_or_default()))
        }
        "cacheTokensDetails" => usage.cached,
        _ => None,
    };
    members.len() == 2 && of("modality").as_deref() == Some("\"TEXT\"") && count == whole
}
