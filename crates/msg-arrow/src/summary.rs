//! What a column comes to: a few numbers of each batch, which engines merge (RE-38), and who judged it (RE-39).
//!
//! ```text
//! rows of a batch ─ summary ─▶ RowTotals ─┐
//! rows of a batch ─ summary ─▶ RowTotals ─┴ merge ─▶ RowTotals of all rows
//! ```
//!
//! `merge` is associative and commutative, and the summary of a column is the merged summary of its pieces in any
//! order. So a job sends one row per batch to its driver, whatever the number of rows.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, Int64Array, MapArray, StringArray, StructArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use msg_cache::{Price, Prices};
use msg_document::{
    Accept, CheckOptions, Counter, KeyOptions, ReadOptions, StatsOptions, answer_row,
};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::nested::{Column, expect_text};
use crate::output::long;
use crate::types;

/// How a column is summed up.
#[derive(Debug, Clone, Default)]
pub struct SummaryOptions {
    /// How each row is judged.
    pub check: CheckOptions,
    /// How the tokens of each row are counted.
    pub counter: Option<Counter>,
    /// The model whose price counts for rows that name none.
    pub price_model: Option<String>,
}

/// What is not an option of a check.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SummaryMembers {
    /// How tokens are counted [default: script].
    counter: Option<Counter>,
    /// The model whose price counts for documents that name none.
    price_model: Option<String>,
}

/// Of an object with the members of [`CheckOptions`], `counter` and `price_model`.
impl<'de> Deserialize<'de> for SummaryOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut members = Map::deserialize(deserializer)?;
        let own = ["counter", "price_model"].map(|it| members.remove_entry(it));
        let own = Value::Object(own.into_iter().flatten().collect());
        let SummaryMembers { counter, price_model } =
            SummaryMembers::deserialize(own).map_err(D::Error::custom)?;
        let check = CheckOptions::deserialize(Value::Object(members)).map_err(D::Error::custom)?;
        Ok(SummaryOptions { check, counter, price_model })
    }
}

/// What some rows come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowTotals {
    /// All rows, null ones too.
    pub rows: u64,
    /// Rows that are documents.
    pub read: u64,
    /// Documents without an error.
    pub ok: u64,
    /// How often each error was found, by its code; a row that could not be read has one.
    pub errors: BTreeMap<String, u64>,
    /// Messages of the documents.
    pub messages: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Bytes of all rows, as they came.
    pub bytes: u64,
    /// Rows that are null.
    pub nulls: u64,
    /// What the tokens cost once as a prompt, in picodollars: whole numbers add up in any order.
    pub cost: u64,
    /// Documents of models without a known price, and those that name none.
    pub unpriced: u64,
}

impl RowTotals {
    /// Adds those of other rows. Numbers stop at the largest of 63 bits instead of wrapping, whatever the order.
    ///
    /// ```
    /// use msg_arrow::RowTotals;
    ///
    /// let one = RowTotals { rows: 1, ..RowTotals::default() };
    /// let mut all = one.clone();
    /// all.merge(&one);
    /// assert_eq!(all.rows, 2);
    /// ```
    pub fn merge(&mut self, other: &RowTotals) {
        for (mine, it) in self.numbers().into_iter().zip(other.clone().numbers()) {
            add(mine, *it);
        }
        for (code, it) in &other.errors {
            add(self.errors.entry(code.clone()).or_default(), *it);
        }
    }

    /// In the order of [`types::summary`], without the errors.
    fn numbers(&mut self) -> [&mut u64; 9] {
        let RowTotals { rows, read, ok, errors: _, messages, tokens, bytes, nulls, cost, unpriced } =
            self;
        [rows, read, ok, messages, tokens, bytes, nulls, cost, unpriced]
    }

    fn one_error(&mut self, code: &str) {
        add(self.errors.entry(code.to_owned()).or_default(), 1);
    }
}

fn add(to: &mut u64, more: u64) {
    *to = to.saturating_add(more).min(i64::MAX.unsigned_abs());
}

/// What a column comes to: one row of SUMMARY, also of an empty column.
///
/// Fails as [`check`](crate::check) does.
///
/// ```
/// use arrow_array::StringArray;
/// use msg_arrow::{SummaryOptions, summary, totals_of};
///
/// let rows = StringArray::from(vec![Some(r#"[{"role":"user","content":"hi"}]"#), None, Some("[")]);
/// let summed = summary(&rows, &SummaryOptions::default())?;
/// let totals = totals_of(&summed)?;
/// assert_eq!((totals.rows, totals.read, totals.ok, totals.nulls), (3, 1, 1, 1));
/// assert_eq!((totals.cost, totals.unpriced), (0, 1));
///
/// let options = SummaryOptions { price_model: Some("gpt-4o".to_owned()), ..Default::default() };
/// let totals = totals_of(&summary(&rows, &options)?)?;
/// assert_eq!((totals.cost, totals.unpriced), (totals.tokens * 2_500_000, 0));
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn summary(column: &dyn Array, options: &SummaryOptions) -> Result<StructArray, Error> {
    let rows = Column::of_documents(column)?;
    let mut read = options.check.read.clone().with_accept(Accept::Json);
    let check = CheckOptions { read: read.clone(), ..options.check.clone() };
    let counted = ReadOptions::default()
        .with_from(read.from.take())
        .with_calls(read.calls)
        .with_max_bytes(read.max_bytes)
        .with_accept(Accept::Json);
    let mut count = StatsOptions::default().with_read(counted);
    count.count.counter = options.counter;
    let mut totals = RowTotals::default();
    for row in 0..column.len() {
        add(&mut totals.rows, 1);
        let Some(row) = rows.row(row) else {
            add(&mut totals.nulls, 1);
            continue;
        };
        add(&mut totals.bytes, row.json.len() as u64);
        match answer_row(|| msg_document::check(&row.json, &check)) {
            Err(refusal) => totals.one_error(refusal.diagnostic().code.as_str()),
            Ok(checked) => {
                add(&mut totals.read, 1);
                add(&mut totals.ok, u64::from(checked.ok));
                add(&mut totals.messages, checked.messages as u64);
                let errors = checked.diagnostics.iter().filter(|it| it.is_error());
                errors.for_each(|it| totals.one_error(it.code.as_str()));
                let tokens = answer_row(|| msg_document::tokens(&row.json, &count));
                let tokens = tokens.unwrap_or_default();
                add(&mut totals.tokens, tokens);
                match price(&row.json, options) {
                    Some(it) => add(&mut totals.cost, tokens.saturating_mul(it.input)),
                    None => add(&mut totals.unpriced, 1),
                }
            }
        }
    }
    Ok(array_of(&totals))
}

/// The price of the model that a request names, or of the one of the options.
fn price(document: &[u8], options: &SummaryOptions) -> Option<&'static Price> {
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        model: Cow<'a, str>,
    }
    let is_object = document.trim_ascii_start().starts_with(b"{");
    let named = is_object.then(|| serde_json::from_slice::<Request<'_>>(document).ok()).flatten();
    let named = named.as_ref().map(|it| it.model.as_ref());
    Prices::built_in().of(named.or(options.price_model.as_deref())?)
}

/// The summaries of a column of SUMMARY as one, in one row; null rows are left out.
///
/// Takes what engines make of SUMMARY too: `errors` as a map or as a list of keys and values, in any layout.
///
/// Fails for a column of another type.
///
/// ```
/// use arrow_array::StringArray;
/// use msg_arrow::{SummaryOptions, merge, summary, totals_of};
///
/// let rows = StringArray::from(vec!["[]", "["]);
/// let options = SummaryOptions::default();
/// let whole = summary(&rows, &options)?;
/// assert_eq!(merge(&whole)?, whole);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn merge(summaries: &dyn Array) -> Result<StructArray, Error> {
    Ok(array_of(&totals_of(summaries)?))
}

/// As [`merge`], as a value of Rust.
pub fn totals_of(summaries: &dyn Array) -> Result<RowTotals, Error> {
    let found = summaries.data_type();
    let wrong = |place: &str, found: &DataType| Error::Type {
        found: found.clone(),
        place: place.to_owned(),
        expected: "summaries, as `summary` gives them",
    };
    let structs = summaries.as_struct_opt().ok_or_else(|| wrong("", found))?;
    let member = |name: &str| structs.column_by_name(name).ok_or_else(|| wrong(name, found));
    let mut totals = RowTotals::default();
    let names = types::summary();
    let names = names.iter().map(|it| it.name()).filter(|it| *it != "errors");
    let valid: Vec<usize> = (0..structs.len()).filter(|it| structs.is_valid(*it)).collect();
    for (name, mine) in names.zip(totals.numbers()) {
        let column = member(name)?;
        let numbers = column.as_primitive_opt::<Int64Type>();
        let numbers = numbers.ok_or_else(|| wrong(name, column.data_type()))?;
        valid.iter().for_each(|it| add(mine, positive(numbers, *it)));
    }
    let errors = member("errors")?;
    for row in valid {
        let entries = entries(errors, row).ok_or_else(|| wrong("errors", errors.data_type()))?;
        let entries = entries.as_struct_opt().filter(|it| it.num_columns() == 2);
        let entries = entries.ok_or_else(|| wrong("errors", errors.data_type()))?;
        let (codes, counts) = (entries.column(0), entries.column(1));
        expect_text(codes.data_type())?;
        let (codes, counts) =
            (Column::of_documents(codes)?, counts.as_primitive_opt::<Int64Type>());
        let counts = counts.ok_or_else(|| wrong("errors.value", errors.data_type()))?;
        for at in 0..entries.len() {
            let Some(code) = codes.row(at) else { continue };
            let code = String::from_utf8_lossy(&code.json).into_owned();
            add(totals.errors.entry(code).or_default(), positive(counts, at));
        }
    }
    Ok(totals)
}

fn positive(numbers: &Int64Array, row: usize) -> u64 {
    if numbers.is_null(row) { 0 } else { u64::try_from(numbers.value(row)).unwrap_or_default() }
}

/// The keys and values of a row of a map, or of a list that an engine made of one.
fn entries(errors: &ArrayRef, row: usize) -> Option<ArrayRef> {
    if let Some(it) = errors.as_map_opt() {
        return Some(Arc::new(it.value(row)));
    }
    let small = errors.as_list_opt::<i32>().map(|it| it.value(row));
    small.or_else(|| errors.as_list_opt::<i64>().map(|it| it.value(row)))
}

/// One row of SUMMARY.
fn array_of(totals: &RowTotals) -> StructArray {
    let mut copy = totals.clone();
    let numbers = copy.numbers().map(|it| Arc::new(Int64Array::from(vec![long(*it)])) as ArrayRef);
    let codes = StringArray::from_iter_values(totals.errors.keys());
    let counts = Int64Array::from_iter_values(totals.errors.values().map(|it| long(*it)));
    let entries = StructArray::new(types::entries(), vec![Arc::new(codes), Arc::new(counts)], None);
    let ends = OffsetBuffer::new(ScalarBuffer::from(vec![
        0,
        i32::try_from(entries.len()).unwrap_or(i32::MAX),
    ]));
    let field = Arc::new(Field::new("entries", DataType::Struct(types::entries()), false));
    let errors: ArrayRef = Arc::new(MapArray::new(field, ends, entries, None, true));
    let [rows, read, ok, messages, tokens, bytes, nulls, cost, unpriced] = numbers;
    let members = vec![rows, read, ok, errors, messages, tokens, bytes, nulls, cost, unpriced];
    StructArray::new(types::summary(), members, None)
}

/// What judged a row: a hash of the version of this crate, the kernel and its options (RE-39). Options are equal if
/// they have the same members that are not null, in any order.
///
/// Fails with the text of the error if the options are not a JSON object.
///
/// ```
/// use msg_arrow::judged_by;
///
/// let one = judged_by("check", br#"{"open":true,"profile":"openai"}"#);
/// assert_eq!(one, judged_by("check", br#"{ "profile":"openai", "from":null, "open":true }"#));
/// assert_ne!(one, judged_by("repair", br#"{"open":true,"profile":"openai"}"#));
/// assert!(judged_by("check", b"7").is_err());
/// ```
pub fn judged_by(kernel: &str, options: &[u8]) -> Result<[u8; 16], String> {
    let given: BTreeMap<String, Value> =
        serde_json::from_slice(options).map_err(|it| format!("options are not an object: {it}"))?;
    let given: BTreeMap<_, _> = given.into_iter().filter(|it| !it.1.is_null()).collect();
    let version = env!("CARGO_PKG_VERSION");
    let canonical = serde_json::json!([version, kernel, given]).to_string();
    let key = msg_document::key(canonical.as_bytes(), &KeyOptions::default().with_exact());
    key.map(|it| it.bytes()).map_err(|it| it.to_string())
}

/// Answers with a last member `key` that says what judged them; null where the row is.
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use msg_document::CheckOptions;
///
/// let checked = msg_arrow::check(&StringArray::from(vec!["[]"]), &CheckOptions::default())?;
/// let signed = msg_arrow::with_key(&checked, [7; 16]);
/// assert_eq!(signed.column(signed.num_columns() - 1).len(), 1);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn with_key(answers: &StructArray, key: [u8; 16]) -> StructArray {
    let keys = std::iter::repeat_n(key.as_slice(), answers.len()).flatten().copied();
    let keys = ScalarBuffer::from(keys.collect::<Vec<u8>>()).into_inner();
    let keys: ArrayRef = Arc::new(FixedSizeBinaryArray::new(16, keys, None));
    let (fields, mut members, nulls) = answers.clone().into_parts();
    members.push(keys);
    let fields = fields.iter().cloned().chain([Arc::new(Field::new("key", types::KEY, false))]);
    StructArray::new(fields.collect(), members, nulls)
}
