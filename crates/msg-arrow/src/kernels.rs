//! The kernels (SC-11 to SC-19): row n of the answers is to row n of the column, null to null, and what a row says
//! is what the document says to the command line.
//!
//! Memory: the column, which is borrowed, the answers, and one document.

use arrow_array::builder::{BooleanBuilder, Int64Builder};
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, Int64Array, ListArray, StringArray,
    StructArray,
};
use msg_document::{
    Accept, CaptureOptions, CheckOptions, ConvertOptions, Digest, Document, Fitter, Format,
    KeyOptions, ReadOptions, Refusal, RepairOptions, StatsOptions, ToolsOptions, answer_row,
};

use crate::error::Error;
use crate::nested::{Column, Row, TextLists, expect_documents, expect_text};
use crate::output::{Build, Full, Keys, Lists, Texts, utf8};
use crate::reports::{Changed, Checks, Counts, Fits, Repairs, Report};
use crate::rows::{Messages, Segments, Streams};
use crate::types::{KEY, text};

/// What is wrong with each document: CHECK.
///
/// Fails for a column that holds no documents, and with [`Error::TooLarge`]; no row fails it. Linear in the bytes.
///
/// ```
/// use arrow_array::{Array, StringViewArray, cast::AsArray};
/// use msg_document::CheckOptions;
///
/// let rows = StringViewArray::from(vec![r#"[{"role":"assistant","content":"hi"}]"#]);
/// let checked = msg_arrow::check(&rows, &CheckOptions::default())?;
/// assert!(!checked.column_by_name("ok").expect("because it is there").as_boolean().value(0));
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn check(column: &dyn Array, options: &CheckOptions) -> Result<StructArray, Error> {
    let options = CheckOptions { read: of_rows(&options.read), ..options.clone() };
    report(column, Checks::new(), |json| msg_document::check(json, &options))
}

/// Whether each document is without errors; null where it could not be read.
///
/// Fails as [`check`] does.
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use msg_document::CheckOptions;
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#, "["]);
/// let valid = msg_arrow::is_valid(&rows, &CheckOptions::default())?;
/// assert!(valid.value(0) && valid.is_null(1));
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn is_valid(column: &dyn Array, options: &CheckOptions) -> Result<BooleanArray, Error> {
    let options = CheckOptions { read: of_rows(&options.read), ..options.clone() };
    let mut out = BooleanBuilder::with_capacity(column.len());
    values(
        column,
        |json| msg_document::is_valid(json, &options),
        |it| {
            out.append_option(it);
            Ok(())
        },
    )?;
    Ok(out.finish())
}

/// Each document mended, and what was changed: REPAIR.
///
/// Fails as [`check`] does.
///
/// ```
/// use arrow_array::{Array, StringArray, cast::AsArray};
/// use msg_document::RepairOptions;
///
/// let rows = StringArray::from(vec![r#"[{"role":"assistant","content":"hi"}]"#]);
/// let repaired = msg_arrow::repair(&rows, &RepairOptions::default())?;
/// assert!(repaired.column_by_name("changed").expect("because it is there").as_boolean().value(0));
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn repair(column: &dyn Array, options: &RepairOptions) -> Result<StructArray, Error> {
    let options = RepairOptions { read: of_rows(&options.read), ..options.clone() };
    let width = expect_documents(column.data_type())?;
    report(column, Repairs::of(column, width), |json| {
        let it = msg_document::repair(json, &options)?;
        Ok(Changed { document: it.document, changed: it.changed, edits: it.edits })
    })
}

/// Each document in another format, and what was lost or changed: REPAIR, where `changed` says that there are edits.
///
/// Fails as [`check`] does.
///
/// ```
/// use arrow_array::{Array, StringArray, cast::AsArray};
/// use msg_document::{ConvertOptions, Format};
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#]);
/// let native: Format = "native".parse().expect("because it is a format");
/// let converted = msg_arrow::convert(&rows, native, &ConvertOptions::default())?;
/// let documents = converted.column_by_name("document").expect("because it is there");
/// let document = r#"[{"role":"user","parts":[{"type":"text","text":"hi"}]}]"#;
/// assert_eq!(documents.as_string::<i32>().value(0), document);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn convert(
    column: &dyn Array,
    to: Format,
    options: &ConvertOptions,
) -> Result<StructArray, Error> {
    let options = options.clone().with_read(of_rows(&options.read));
    let width = expect_documents(column.data_type())?;
    report(column, Repairs::of(column, width), |json| {
        let it = msg_document::convert(json, to, &options)?;
        Ok(Changed { document: it.document, changed: !it.edits.is_empty(), edits: it.edits })
    })
}

/// What each document is made of: STATS.
///
/// Fails as [`check`] does.
///
/// ```
/// use arrow_array::{Array, StringArray, cast::AsArray, types::Int32Type};
/// use msg_document::StatsOptions;
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#]);
/// let counted = msg_arrow::stats(&rows, &StatsOptions::default())?;
/// let messages = counted.column_by_name("messages").expect("because it is there");
/// assert_eq!(messages.as_primitive::<Int32Type>().value(0), 1);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn stats(column: &dyn Array, options: &StatsOptions) -> Result<StructArray, Error> {
    let read = of_rows(&options.read);
    let options = StatsOptions { read, ..options.clone() };
    report(column, Counts::new(), |json| msg_document::stats(json, &options))
}

/// The tokens of each document; null where it could not be read.
///
/// Fails as [`check`] does.
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use msg_document::{Counter, StatsOptions};
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#]);
/// let options = StatsOptions::default().with_counter(Counter::Forge);
/// assert!(msg_arrow::tokens(&rows, &options)?.value(0) > 0);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn tokens(column: &dyn Array, options: &StatsOptions) -> Result<Int64Array, Error> {
    let read = of_rows(&options.read);
    let options = StatsOptions { read, ..options.clone() };
    let mut out = Int64Builder::with_capacity(column.len());
    values(
        column,
        |json| msg_document::tokens(json, &options),
        |it| {
            out.append_option(it.map(crate::output::long));
            Ok(())
        },
    )?;
    Ok(out.finish())
}

/// The messages of each document: a list of MESSAGE, null where it could not be read.
///
/// Fails as [`check`] does.
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use msg_document::ReadOptions;
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#]);
/// assert_eq!(msg_arrow::messages(&rows, &ReadOptions::default())?.value(0).len(), 1);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn messages(column: &dyn Array, read: &ReadOptions) -> Result<ListArray, Error> {
    let (read, width) = (of_rows(read), expect_documents(column.data_type())?);
    lists(column, Messages::lists(width), |json| msg_document::messages(json, &read))
}

/// The key of each document (SC-24); null where it could not be read.
///
/// Fails as [`check`] does.
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use msg_document::KeyOptions;
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#; 2]);
/// let keys = msg_arrow::key(&rows, &KeyOptions::default())?;
/// assert_eq!(keys.value(0), keys.value(1));
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn key(column: &dyn Array, options: &KeyOptions) -> Result<FixedSizeBinaryArray, Error> {
    let options = options.clone().with_read(of_rows(&options.read));
    let mut out = Keys::new();
    values(column, |json| msg_document::key(json, &options), |it| out.push(it))?;
    Ok(out.finish_keys())
}

/// The keys of the shorter beginnings of each document that end with a message of the assistant (SC-25); null where
/// it could not be read.
///
/// Fails as [`check`] does.
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use msg_document::ReadOptions;
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#]);
/// assert_eq!(msg_arrow::prefix_keys(&rows, &ReadOptions::default())?.value(0).len(), 0);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn prefix_keys(column: &dyn Array, read: &ReadOptions) -> Result<ListArray, Error> {
    let read = of_rows(read);
    lists(column, Lists::new(KEY, Keys::new()), |json| msg_document::prefix_keys(json, &read))
}

/// The format of each document; null where it could not be read.
///
/// Fails as [`check`] does.
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use msg_document::ReadOptions;
///
/// let rows = StringArray::from(vec![r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#, "no json"]);
/// let formats = msg_arrow::recognise(&rows, &ReadOptions::default())?;
/// assert!(formats.value(0) == "gemini" && formats.is_null(1));
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn recognise(column: &dyn Array, read: &ReadOptions) -> Result<StringArray, Error> {
    let read = of_rows(read);
    let mut out = Texts::small();
    values(
        column,
        |json| Document::read_unlowered(json, &read),
        |it| out.push(it.map(|it| it.format().name())),
    )?;
    Ok(out.finish().as_string().clone())
}

/// One conversation of two columns, the input and the output of an export (SC-9); null where both are.
///
/// A half that cannot be read is the answer itself, so that whoever reads the answer says what is wrong with it.
///
/// Fails as [`check`] does, and for columns of different lengths. The answers are large texts where a column has.
///
/// ```
/// use arrow_array::{Array, StringArray, cast::AsArray};
/// use msg_document::ReadOptions;
///
/// let (inputs, outputs) = (StringArray::from(vec!["hi"]), StringArray::from(vec!["hello"]));
/// let joined = msg_arrow::join(&inputs, &outputs, &ReadOptions::default())?;
/// let whole = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
/// assert_eq!(joined.as_string::<i32>().value(0), whole);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn join(
    inputs: &dyn Array,
    outputs: &dyn Array,
    read: &ReadOptions,
) -> Result<ArrayRef, Error> {
    let (left, right) = (inputs.len(), outputs.len());
    if left != right {
        return Err(Error::Lengths { left, right });
    }
    let width = expect_documents(inputs.data_type())?.max(expect_documents(outputs.data_type())?);
    let (read, mut out) = (of_rows(read), Texts::new(width));
    let (inputs, outputs) = (Column::of_documents(inputs)?, Column::of_documents(outputs)?);
    for row in 0..left {
        let (input, output) = (inputs.row(row), outputs.row(row));
        let joined = joined(input.as_ref(), output.as_ref(), &read);
        let text = joined.as_deref().map(utf8);
        out.push(text.as_deref()).map_err(|Full| Error::TooLarge { row })?;
    }
    Ok(out.finish())
}

/// The segments of model text: a list of SEGMENT (XT-…). Any text has segments, and bytes that are not UTF-8 too.
///
/// Fails for a column that holds neither text nor bytes, and with [`Error::TooLarge`].
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use msg_document::ToolsOptions;
///
/// let rows = StringArray::from(vec!["<tool><tool_name>f</tool_name><arguments></arguments></tool>"]);
/// assert_eq!(msg_arrow::tools(&rows, &ToolsOptions::default())?.value(0).len(), 1);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn tools(column: &dyn Array, options: &ToolsOptions) -> Result<ListArray, Error> {
    let width = expect_text(column.data_type())?;
    lists(column, Segments::lists(width), |text| Ok(msg_document::tools(text, options).segments))
}

/// The message of each captured stream: STREAM (OA-26).
///
/// Fails as [`tools`] does.
///
/// ```
/// use arrow_array::{Array, StringArray, cast::AsArray};
/// use msg_document::CaptureOptions;
///
/// let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
/// let streamed = msg_arrow::stream(&StringArray::from(vec![body]), &CaptureOptions::default())?;
/// let message = streamed.column_by_name("message").expect("because it is there");
/// assert_eq!(message.as_string::<i32>().value(0), r#"{"role":"assistant","content":"hi"}"#);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn stream(column: &dyn Array, options: &CaptureOptions) -> Result<StructArray, Error> {
    let width = expect_text(column.data_type())?;
    let row = |body: &[u8]| msg_document::stream(body, options).map(|it| it.row());
    report(column, Streams::new(width), row)
}

fn joined(
    input: Option<&Row<'_>>,
    output: Option<&Row<'_>>,
    read: &ReadOptions,
) -> Option<Vec<u8>> {
    let [input, output] = [input, output].map(|it| it.map(|it| &*it.json));
    let join = |input, output| answer_row(|| msg_document::join(input, output, read));
    join(input, output).unwrap_or_else(|_| {
        let torn = if join(input, None).is_err() { input } else { output };
        torn.map(<[u8]>::to_vec)
    })
}

/// A row has no name, and no Markdown is in it.
fn of_rows(read: &ReadOptions) -> ReadOptions {
    read.clone().with_accept(Accept::Json)
}

/// A column of reports.
pub(crate) fn report<T>(
    column: &dyn Array,
    out: impl Report<T>,
    answer: impl Fn(&[u8]) -> Result<T, Refusal>,
) -> Result<StructArray, Error> {
    rows(column, out, |_, json| answer(json))
}

/// As [`report`], by the number of the row too.
pub(crate) fn rows<T>(
    column: &dyn Array,
    mut out: impl Report<T>,
    answer: impl Fn(usize, &[u8]) -> Result<T, Refusal>,
) -> Result<StructArray, Error> {
    let rows = Column::of_documents(column)?;
    for row in 0..column.len() {
        let read = rows.row(row);
        let note = read.as_ref().and_then(|it| it.padding.warning());
        let answer = read.map(|it| answer_row(|| answer(row, &it.json)));
        out.push(answer, note.as_ref()).map_err(|Full| Error::TooLarge { row })?;
    }
    Ok(out.finish().as_struct().clone())
}

/// A column of values, null where there is none.
fn values<T>(
    column: &dyn Array,
    answer: impl Fn(&[u8]) -> Result<T, Refusal>,
    mut push: impl FnMut(Option<T>) -> Result<(), Full>,
) -> Result<(), Error> {
    let rows = Column::of_documents(column)?;
    for row in 0..column.len() {
        let value = rows.row(row).and_then(|it| answer_row(|| answer(&it.json)).ok());
        push(value).map_err(|Full| Error::TooLarge { row })?;
    }
    Ok(())
}

/// A column of lists, null where there is none.
pub(crate) fn lists<T, B: Build<T>>(
    column: &dyn Array,
    mut out: Lists<B>,
    answer: impl Fn(&[u8]) -> Result<Vec<T>, Refusal>,
) -> Result<ListArray, Error> {
    values(column, answer, |it| out.push(it))?;
    Ok(out.finish_list::<T>())
}

// The kernels over documents that have to fit a budget, with digests or with summaries that were written elsewhere
// (SC-20).

/// Each document as it fits a budget: FIT. Summaries are digests made without a model (SC-20). `document` is in the
/// document's own format, null where it does not fit; `status` is `applied` or `undone` where a plan was given.
///
/// Fails as [`check`](crate::check) does.
///
/// ```
/// use arrow_array::{Array, StringArray, cast::AsArray};
/// use msg_document::{FitOptions, Fitter};
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#]);
/// let fitter = Fitter::new(FitOptions::default().with_budget(100)).expect("because these are options");
/// let fitted = msg_arrow::fit(&rows, &fitter)?;
/// let status = fitted.column_by_name("status").expect("because it is there");
/// assert_eq!(status.as_string::<i32>().value(0), "not-needed");
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn fit(column: &dyn Array, fitter: &Fitter) -> Result<StructArray, Error> {
    let width = expect_documents(column.data_type())?;
    report(column, Fits::new(width), |json| {
        let mut answer = fitter.answer(json, &Digest)?;
        let document = answer.take_document();
        Ok((answer, document))
    })
}

/// What would be asked for to make each document fit: a list of texts, the lines of `msg fit --dry-run`; null where
/// the document could not be read (SC-20).
///
/// Fails as [`check`](crate::check) does.
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use msg_document::{FitOptions, Fitter};
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#]);
/// let fitter = Fitter::new(FitOptions::default().with_budget(100)).expect("because these are options");
/// assert_eq!(msg_arrow::fit_requests(&rows, &fitter)?.value(0).len(), 0);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn fit_requests(column: &dyn Array, fitter: &Fitter) -> Result<ListArray, Error> {
    let width = expect_documents(column.data_type())?;
    lists(column, Lists::new(text(width), Texts::new(width)), |json| fitter.requests(json))
}

/// Each document as it fits a budget with summaries that were written elsewhere: FIT. `answers` has a list of texts a
/// row, the first for the first of [`fit_requests`]; what has none gets a digest.
///
/// Fails as [`check`](crate::check) does, for columns of different lengths, and for answers that are not lists of texts.
///
/// ```
/// use arrow_array::{Array, ListArray, StringArray, types::Int32Type};
/// use msg_document::{FitOptions, Fitter};
///
/// let rows = StringArray::from(vec![r#"[{"role":"user","content":"hi"}]"#]);
/// let fitter = Fitter::new(FitOptions::default().with_budget(100)).expect("because these are options");
/// let answers = msg_arrow::fit_requests(&rows, &fitter)?;
/// assert_eq!(msg_arrow::fit_apply(&rows, &answers, &fitter)?, msg_arrow::fit(&rows, &fitter)?);
/// # Ok::<(), msg_arrow::Error>(())
/// ```
pub fn fit_apply(
    column: &dyn Array,
    answers: &dyn Array,
    fitter: &Fitter,
) -> Result<StructArray, Error> {
    let (left, right) = (column.len(), answers.len());
    if left != right {
        return Err(Error::Lengths { left, right });
    }
    let width = expect_documents(column.data_type())?;
    let answers = TextLists::of(answers)?;
    rows(column, Fits::new(width), |row, json| {
        let mut answer = fitter.answer(json, &answers.row(row))?;
        let document = answer.take_document();
        Ok((answer, document))
    })
}
