//! A session as turns (MS-22), each with the time at which its record was written (SE-4). The time of a
//! record is read as its dialect wrote it: a text of RFC 3339, seconds or milliseconds since 1970.

use std::collections::HashMap;

use msg_core::{Part, Report, Role, rfc3339};
use msg_forms::{Turn, turns};

use crate::dialects::only;
use crate::frame::{read_array, read_lines};
use crate::json::{Object, Value};
use crate::{Blob, Dialect, Error, Session, SessionOptions, View};

impl Session {
    /// The active path as turns, with the times of their records, and of the records of calls and results;
    /// 0 where a record has none. Linear.
    ///
    /// ```
    /// use msg_session::{Blob, Dialect, SessionOptions, Session};
    ///
    /// let line = r#"{"role":"user","created":1770112801,"content":[{"type":"text","text":"list"}]}"#;
    /// let session = Session::new(Dialect::Goose, vec![Blob::new("s.jsonl", line)]);
    /// let (turns, _) = session.turns(&SessionOptions::default())?;
    /// assert_eq!((turns[0].text(""), turns[0].timestamp), ("list".to_owned(), 1_770_112_801.0));
    /// # Ok::<(), msg_session::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::read`].
    pub fn turns(&self, options: &SessionOptions) -> Result<(Vec<Turn>, Report), Error> {
        let view = self.read(options)?;
        let times = self.times(options);
        let stamps = Stamps::of(&view, &times);
        let (mut turns, report) = turns::from_messages(view.messages);
        for (turn, time) in turns.iter_mut().zip(stamps.turns) {
            turn.timestamp = time;
            for tool in turn.tools_mut() {
                tool.start_time = stamps.calls.get(&tool.id).copied().unwrap_or(time);
                tool.end_time = stamps.results.get(&tool.id).copied().unwrap_or(0.0);
            }
        }
        Ok((turns, report))
    }

    /// The time of each record that has one.
    fn times(&self, options: &SessionOptions) -> Vec<f64> {
        let mut res = Vec::new();
        if self.blobs().len() > 1 {
            let texts = self.files().into_iter().map(|it| String::from_utf8_lossy(&it.bytes));
            res.extend(texts.map(|it| Object::whole(&it, 0).as_ref().map_or(0.0, time_of)));
            return res;
        }
        let bytes = only(self.blobs());
        let array = read_array(bytes, Some("messages"));
        if array.is_readable() {
            res.extend(array.values().map(|it| it.object().as_ref().map_or(0.0, time_of)));
            return res;
        }
        let lines = read_lines(bytes, options.max_record);
        res.extend(
            (0..lines.records.len()).map(|it| lines.object(it).as_ref().map_or(0.0, time_of)),
        );
        res
    }
}

impl Session {
    /// The files that are records, in the order of the records.
    fn files(&self) -> Vec<&Blob> {
        let mut res: Vec<_> = self.blobs().iter().collect();
        if self.dialect() == Dialect::OpenHands {
            res.retain(|it| it.name.contains("event-"));
            res.sort_by(|a, b| a.name.cmp(&b.name));
        }
        res
    }
}

/// The times of what becomes turns.
#[derive(Default)]
struct Stamps {
    turns: Vec<f64>,
    /// Of the last call and the first result of each id.
    calls: HashMap<String, f64>,
    results: HashMap<String, f64>,
}

impl Stamps {
    fn of(view: &View, times: &[f64]) -> Self {
        let mut res = Self::default();
        for (message, origins) in view.messages.iter().zip(&view.origins) {
            let time = |at: usize| {
                let record = origins.get(at).map_or(usize::MAX, |it| it.record as usize);
                times.get(record).copied().unwrap_or(0.0)
            };
            // The results of a message that holds nothing else join the turns of their calls.
            let is_result = |it: &Part| it.as_tool_result().is_some();
            if message.role != Role::Tool && !message.parts.iter().all(is_result) {
                res.turns.push(time(0));
            }
            for (at, part) in message.parts.iter().enumerate() {
                match part {
                    Part::ToolCall(it) => {
                        res.calls.insert(it.id.clone(), time(at));
                    }
                    Part::ToolResult(it) => {
                        res.results.entry(it.call_id.clone()).or_insert_with(|| time(at));
                    }
                    _ => {}
                }
            }
        }
        res
    }
}

/// When a record was written, in seconds since 1970; 0 if it does not say so.
fn time_of(record: &Object<'_>) -> f64 {
    let direct = ["timestamp", "created", "ts"].iter().find_map(|it| record.get(it));
    let time = direct.or_else(|| record.get("time")?.get("created"));
    time.map_or(0.0, seconds)
}

fn seconds(time: Value<'_>) -> f64 {
    match time.text() {
        Some(text) => rfc3339(&text).unwrap_or(0.0),
        None => match time.source.parse().unwrap_or(0.0) {
            milliseconds if milliseconds >= MILLISECONDS => milliseconds / 1000.0,
            seconds => seconds,
        },
    }
}

/// Above this a number counts milliseconds: as seconds it would be in the year 5138.
const MILLISECONDS: f64 = 1e11;

/// A time in milliseconds since 1970; 0 if it is none.
pub(crate) fn milliseconds(time: &str) -> u64 {
    rfc3339(time).map_or(0, |it| (it * 1000.0) as u64)
}

/// When, in RFC 3339: a text as it is, a number out of seconds or milliseconds since 1970.
pub(crate) fn written(time: &Value<'_>) -> Option<String> {
    if let Some(text) = time.text() {
        return Some(text.into_owned());
    }
    let number = time.number()?;
    let is_in_seconds = (number as f64) < MILLISECONDS;
    civil(if is_in_seconds { number.checked_mul(1000)? } else { number })
}

/// The civil date of a day since 1970-01-01 is that of the Gregorian calendar, by years that begin in March.
fn civil(milliseconds: u64) -> Option<String> {
    let seconds = milliseconds / 1000;
    let (day, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    let (second, part) = (second % 60, milliseconds % 1_000);
    let is_sane = year <= 9_999;
    is_sane.then(|| {
        format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{part:03}Z")
    })
}
