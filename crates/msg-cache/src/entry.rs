//! A line of a log: a bare body, or a request beside its answer, its usage and its time (CL-40).
//!
//! ```text
//! {"run":"a","time":"2026-01-05T10:00:00Z","request":{"model":"gpt-5","messages":[…]},"response":{"usage":{…}}}
//! ```

use std::borrow::Cow;

use msg_core::rfc3339;
use msg_json::{JsonValue as Value, Reader};

use crate::error::Error;
use crate::family::Family;
use crate::reuse::Repeats;
use crate::usage::CacheUsage;

/// Members that hold a request, or an envelope of it.
pub(crate) const REQUESTS: &[&str] = &["request", "body", "params", "request_body"];
/// Members that hold what was answered.
const RESPONSES: &[&str] = &["response", "response_body"];
/// Envelopes in envelopes are opened this far.
const MAX_ENVELOPES: usize = 4;

/// Reads a text as JSON. Requests and responses that a log keeps as text in its members are read too.
pub(crate) fn read(json: &[u8]) -> Result<Value<'_>, Error> {
    let mut value = Value::read(json)
        .ok_or_else(|| Error::Foreign("the text is not one JSON document".to_owned()))?;
    read_texts(&mut value, MAX_ENVELOPES);
    Ok(value)
}

/// Reads a line of a log, without what it repeats of requests before it.
pub(crate) fn read_line<'a>(line: &'a [u8], repeats: &mut Repeats<'_>) -> Option<Value<'a>> {
    let mut reader = Reader::new(line).ok()?;
    let mut value = repeats.read(&mut reader).ok()?;
    reader.finish().ok()?;
    read_texts(&mut value, MAX_ENVELOPES);
    Some(value)
}

fn read_texts(envelope: &mut Value<'_>, depth: usize) {
    let Value::Object(members) = envelope else { return };
    let names = [REQUESTS, RESPONSES].concat();
    for (_, it) in members.iter_mut().filter(|it| depth > 0 && names.contains(&&*it.0)) {
        if let Some(read) = it.text().filter(|it| it.trim_start().starts_with(['{', '[']))
            && let Some(read) = Value::read(read.as_bytes())
        {
            *it = read.into_owned();
        }
        read_texts(it, depth - 1);
    }
}

/// A request of a log, without its body.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) family: Family,
    pub(crate) model: Option<String>,
    pub(crate) url: Option<String>,
    /// Seconds since 1970.
    pub(crate) time: Option<f64>,
    /// The name of its run, if the log has one.
    pub(crate) name: Option<String>,
    pub(crate) usage: Option<CacheUsage>,
    /// The diagnosis of the provider itself, if the answer has one.
    pub(crate) said: Option<String>,
}

impl Entry {
    /// The request of a line, and its body.
    pub(crate) fn of<'v>(
        value: &'v Value<'v>,
        family: Option<Family>,
    ) -> Result<(Self, &'v Value<'v>), Error> {
        let foreign = |it: &str| Error::Foreign(it.to_owned());
        let (envelopes, body) = opened(value);
        if body.members().is_empty() {
            return Err(foreign("expected a request body, an object"));
        }
        let Some(recognised) = Family::recognise(body) else {
            let is_answer = ["choices", "candidates", "output", "usage", "stop_reason"];
            return Err(match body.any(&is_answer) {
                Some(_) => Error::NoRequest,
                None => foreign("expected a request with messages, input or contents"),
            });
        };
        let outside = |name: &str| envelopes.iter().find_map(|it| it.text_of(name));
        let url = outside("url");
        let of_url = || url?.split_once("/models/")?.1.split([':', '/', '?']).next();
        let model = body.text_of("model").or_else(|| body.text_of("modelId"));
        let model = model.or_else(|| outside("model")).or_else(of_url);
        let response = envelopes.iter().find_map(|it| it.any(RESPONSES));
        let usage = response.and_then(usage_of);
        let entry = Entry {
            family: family.unwrap_or(recognised),
            model: model.map(str::to_owned),
            url: url.map(str::to_owned),
            time: envelopes.iter().find_map(|it| time_of(it)),
            name: envelopes.iter().find_map(|it| name_of(it)),
            usage: usage.or_else(|| envelopes.first().and_then(|it| usage_of(it))),
            said: response.and_then(|it| said_in(it, MAX_ENVELOPES)),
        };
        Ok((entry, body))
    }
}

/// The request in its envelopes, the outermost first.
fn opened<'v>(value: &'v Value<'v>) -> (Vec<&'v Value<'v>>, &'v Value<'v>) {
    let (mut envelopes, mut body) = (Vec::new(), value);
    while envelopes.len() < MAX_ENVELOPES {
        let is_request = !envelopes.is_empty() && Family::recognise(body).is_some();
        let inner = body.any(REQUESTS).filter(|it| !it.members().is_empty() && !is_request);
        let Some(inner) = inner else { break };
        envelopes.push(body);
        body = inner;
    }
    (envelopes, body)
}

/// Why the provider itself says that its cache was not read: `system_changed`.
fn said_in(answer: &Value<'_>, depth: usize) -> Option<String> {
    let of_openai = |it: &Value<'_>| it.text_of("reason").or(it.text_of("type")).map(str::to_owned);
    let of_anthropic = |it: &Value<'_>| it.text().or(it.text_of("type")).map(str::to_owned);
    let reason = answer.at(&["diagnostics", "cache_miss_reason"]).and_then(of_anthropic);
    let reason = reason.or_else(|| answer.get("prompt_cache_diagnostics").and_then(of_openai));
    let mut inner = inner(answer).chain(answer.list()).filter(|_| depth > 0);
    reason.or_else(|| inner.find_map(|it| said_in(it, depth - 1)))
}

/// What an answer wraps.
fn inner<'v>(answer: &'v Value<'v>) -> impl Iterator<Item = &'v Value<'v>> {
    ["message", "response", "body"].into_iter().filter_map(|it| answer.get(it))
}

/// The usage that an answer reports. The events of a stream add to it, the later one wins.
fn usage_of(answer: &Value<'_>) -> Option<CacheUsage> {
    let mut members = Vec::new();
    gather(answer, MAX_ENVELOPES, &mut members);
    CacheUsage::of(&Value::Object(members))
}

fn gather(answer: &Value<'_>, depth: usize, into: &mut Vec<(Cow<'static, str>, Value<'static>)>) {
    match answer {
        Value::Text(stream) => {
            let data = stream.lines().filter_map(|it| it.strip_prefix("data:"));
            for event in data.filter_map(|it| Value::read(it.trim().as_bytes())) {
                gather(&event, depth, into);
            }
        }
        Value::List(events) => events.iter().for_each(|it| gather(it, depth, into)),
        answer => match answer.any(&["usage", "usageMetadata", "usage_metadata"]) {
            Some(usage) => {
                for (name, it) in usage.members().iter().filter(|it| it.1 != Value::Null) {
                    into.retain(|it| it.0 != *name);
                    into.push((name.to_string().into(), it.clone().into_owned()));
                }
            }
            None => inner(answer).filter(|_| depth > 0).for_each(|it| gather(it, depth - 1, into)),
        },
    }
}

fn name_of(outside: &Value<'_>) -> Option<String> {
    const NAMES: &[&str] =
        &["run", "run_id", "session_id", "session", "conversation_id", "trace_id"];
    match outside.any(NAMES)? {
        Value::Text(it) => Some(it.to_string()),
        Value::Number(it) => Some(it.clone()),
        _ => None,
    }
}

/// RFC 3339, seconds or milliseconds.
fn time_of(outside: &Value<'_>) -> Option<f64> {
    const NAMES: &[&str] = &["time", "timestamp", "ts", "created_at", "start_time", "startTime"];
    match outside.any(NAMES)? {
        Value::Number(it) => it.parse().ok().map(|it: f64| if it > 1e11 { it / 1e3 } else { it }),
        Value::Text(it) => rfc3339(it),
        _ => None,
    }
}
