//! A line of a log: a bare body, or a request beside its answer, its usage and its time (CL-40).
//!
//! ```text
//! {"run":"a","time":"2026-01-05T10:00:00Z","request":{"model":"gpt-5","messages":[…]},"response":{"usage":{…}}}
//! ```

use crate::error::Error;
use crate::family::Family;
use crate::spell::Value;

/// Reads a text as JSON.
pub(crate) fn read(json: &[u8]) -> Result<Value<'_>, Error> {
    Value::read(json).ok_or_else(|| Error::Foreign("the text is not one JSON document".to_owned()))
}

/// A request of a log.
pub(crate) struct Entry<'v> {
    pub(crate) body: &'v Value<'v>,
    pub(crate) family: Family,
    pub(crate) model: Option<&'v str>,
    pub(crate) url: Option<&'v str>,
    /// Seconds since 1970.
    pub(crate) time: Option<f64>,
    /// The name of its run, if the log has one.
    pub(crate) name: Option<String>,
    /// The object that holds the usage.
    pub(crate) usage: Option<&'v Value<'v>>,
}

impl<'v> Entry<'v> {
    pub(crate) fn of(value: &'v Value<'v>, family: Option<Family>) -> Result<Self, Error> {
        let body = value.any(&["request", "body", "params"]).filter(|it| !it.members().is_empty());
        let outside = if body.is_some() { value } else { &Value::Null };
        let body = body.unwrap_or(value);
        if body.members().is_empty() {
            return Err(Error::Foreign("expected a request body, an object".to_owned()));
        }
        let recognised = Family::recognise(body);
        if recognised.is_none() {
            let is_answer = ["choices", "candidates", "output", "usage", "stop_reason"];
            return Err(match is_answer.iter().any(|it| body.has(it)) {
                true => Error::NoRequest,
                false => {
                    Error::Foreign("expected a request with messages, input or contents".to_owned())
                }
            });
        }
        let family = family.or(recognised).unwrap_or(Family::OpenAi);
        let url = outside.text_of("url");
        let of_url = || url?.split_once("/models/")?.1.split([':', '/', '?']).next();
        let model = body.text_of("model").or_else(|| body.text_of("modelId"));
        let response = outside.get("response");
        let inside = |it: &'v Value<'v>| {
            it.any(&["usage", "usageMetadata", "usage_metadata"])
                .or_else(|| it.at(&["message", "usage"]))
        };
        Ok(Entry {
            body,
            family,
            model: model.or_else(|| outside.text_of("model")).or_else(of_url),
            url,
            time: time_of(outside),
            name: name_of(outside),
            usage: response.and_then(inside).or_else(|| inside(outside)),
        })
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
        Value::Number(it) => {
            let number: f64 = it.parse().ok()?;
            Some(if number > 1e11 { number / 1e3 } else { number })
        }
        Value::Text(it) => rfc3339(it),
        _ => None,
    }
}

/// Seconds since 1970 of a time in RFC 3339; none for any other text.
///
/// ```
/// assert_eq!(msg_cache::rfc3339("1970-01-02T00:00:01.5Z"), Some(86_401.5));
/// ```
pub fn rfc3339(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    let rest = text.get(17..)?;
    let end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let second: f64 = rest[..end].parse().ok()?;
    if bytes[4] != b'-' || !(1..=12).contains(&month) {
        return None;
    }
    let offset = match rest.get(end..)? {
        "" | "Z" | "z" => 0,
        zone => {
            let (hours, minutes) = zone[1..].split_once(':').unwrap_or((&zone[1..], "0"));
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    // Days since 1970 by the civil calendar, whose year begins in March.
    let (y, m) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days =
        365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day
            - 719_469;
    Some((days * 86_400 + hour * 3_600 + (minute - offset) * 60) as f64 + second)
}
