//! The kernel over pairs of requests: where the second stops being a continuation of the first (CL-51).

use arrow_array::builder::Int64Builder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::DataType;
use msg_cache::CacheOptions;
use msg_core::{Code, Diagnostic};
use msg_document::{Refusal, answer_row};
use serde_json::Value;

use crate::error::Error;
use crate::nested::Column;
use crate::output::{Build, Diagnostics, Full, Lists, Presence, Texts, done};
use crate::reports::{Answer, Report, error, value};
use crate::types;

/// Where each request of `now` stops being a continuation of the one of `before` in the same row, and why: CACHE, whose
/// members are those of `msg cache --pairs --json`. Null where either is null, such as before the first request of a
/// session; `lag` over the requests of each session makes the first column.
///
/// Fails for columns that hold no documents, for columns of different lengths, and with [`Error::TooLarge`].
///
/// ```
/// use arrow_array::{Array, StringArray, cast::AsArray};
///
/// let now = StringArray::from(vec![
///     r#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}"#,
///     r#"{"model":"gpt-5-mini","messages":[{"role":"user","content":"hi"}]}"#,
/// ]);
/// let before = StringArray::from(vec![None, Some(now.value(0))]);
/// let said = msg_arrow::cache(&before, &now, &Default::default())?;
/// let relation = said.column_by_name("relation").expect("because it is there").as_string::<i32>();
/// assert!(said.is_null(0) && relation.value(1) == "break");
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn cache(
    before: &dyn Array,
    now: &dyn Array,
    options: &CacheOptions,
) -> Result<StructArray, Error> {
    let (left, right) = (before.len(), now.len());
    if left != right {
        return Err(Error::Lengths { left, right });
    }
    let (before, now) = (Column::of_documents(before)?, Column::of_documents(now)?);
    let mut out = Caches::new();
    for row in 0..left {
        let pair = before.row(row).zip(now.row(row));
        let said =
            pair.map(|(before, now)| answer_row(|| compared(&before.json, &now.json, options)));
        out.push(said, None).map_err(|Full| Error::TooLarge { row })?;
    }
    Ok(out.finish().as_struct().clone())
}

/// The JSON of a pair.
fn compared(before: &[u8], now: &[u8], options: &CacheOptions) -> Result<Value, Refusal> {
    let said = msg_cache::compare(before, now, options);
    let refused = |it: msg_cache::Error| Diagnostic::error(Code::new(it.code()), it.to_string());
    Ok(serde_json::to_value(said.map_err(refused)?).unwrap_or_default())
}

/// CACHE
struct Caches {
    presence: Presence,
    family: Texts,
    provider: Texts,
    relation: Texts,
    level: Texts,
    /// In the order of their fields: place, whole messages before it, and tokens.
    numbers: [Int64Builder; 5],
    changes: Lists<Changes>,
    notes: Lists<Texts>,
    error: Diagnostics,
}

/// Where the numbers of a pair are.
const NUMBERS: [&str; 5] =
    ["/first_changed/index", "/shared_messages", "/estimate", "/shared_estimate", "/minimum"];

impl Caches {
    fn new() -> Self {
        Caches {
            presence: Presence::default(),
            family: Texts::small(),
            provider: Texts::small(),
            relation: Texts::small(),
            level: Texts::small(),
            numbers: std::array::from_fn(|_| Int64Builder::new()),
            changes: Lists::new(DataType::Struct(types::cache_change()), Changes::new()),
            notes: Lists::new(DataType::Utf8, Texts::small()),
            error: Diagnostics::new(),
        }
    }
}

fn items<'v>(of: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    of[name].as_array().into_iter().flatten()
}

fn string(it: &Value) -> String {
    it.as_str().unwrap_or_default().to_owned()
}

impl Report<Value> for Caches {
    fn push(&mut self, answer: Answer<Value>, _: Option<&Diagnostic>) -> Result<(), Full> {
        let it = value(&answer);
        let text = |path: &str| it.and_then(|it| it.pointer(path)).and_then(Value::as_str);
        self.presence.push(answer.is_some());
        self.family.push(text("/family"))?;
        self.provider.push(text("/provider"))?;
        self.relation.push(text("/relation"))?;
        self.level.push(text("/first_changed/level"))?;
        for (out, path) in self.numbers.iter_mut().zip(NUMBERS) {
            out.append_option(it.and_then(|it| it.pointer(path)).and_then(Value::as_i64));
        }
        self.changes.push(it.map(|it| items(it, "changes")))?;
        self.notes.push(it.map(|it| items(it, "notes").map(string)))?;
        self.error.push(error(&answer))
    }

    fn finish(&mut self) -> ArrayRef {
        let [index, shared, numbers @ ..] = &mut self.numbers;
        let mut members = vec![
            self.family.finish(),
            self.provider.finish(),
            self.relation.finish(),
            self.level.finish(),
            done(index),
            done(shared),
            self.changes.finish::<&Value>(),
            self.notes.finish::<String>(),
        ];
        members.extend(numbers.iter_mut().map(|it| done(it)));
        members.push(Build::finish(&mut self.error));
        self.presence.structs(types::cache(), members)
    }
}

/// CHANGE
struct Changes {
    presence: Presence,
    code: Texts,
    level: Texts,
    how: Texts,
    index: Int64Builder,
    setting: Texts,
    breaks: Texts,
    names: Lists<Texts>,
}

impl Changes {
    fn new() -> Self {
        Changes {
            presence: Presence::default(),
            code: Texts::small(),
            level: Texts::small(),
            how: Texts::small(),
            index: Int64Builder::new(),
            setting: Texts::small(),
            breaks: Texts::small(),
            names: Lists::new(DataType::Utf8, Texts::small()),
        }
    }
}

impl<'v> Build<&'v Value> for Changes {
    fn push(&mut self, it: Option<&'v Value>) -> Result<(), Full> {
        let text = |name: &str| it.and_then(|it| it[name].as_str());
        self.presence.push(it.is_some());
        self.code.push(text("code").or(Some("")))?;
        self.level.push(text("level").or(Some("")))?;
        self.how.push(text("how").or(Some("")))?;
        self.index.append_option(it.and_then(|it| it["index"].as_i64()));
        self.setting.push(text("setting"))?;
        self.breaks.push(text("breaks"))?;
        let names = it.filter(|it| it["names"].is_array());
        self.names.push(names.map(|it| items(it, "names").map(string)))
    }

    fn finish(&mut self) -> ArrayRef {
        let members = vec![
            self.code.finish(),
            self.level.finish(),
            self.how.finish(),
            done(&mut self.index),
            self.setting.finish(),
            self.breaks.finish(),
            self.names.finish::<String>(),
        ];
        self.presence.structs(types::cache_change(), members)
    }
}
