//! The kernels over documents that have to fit a budget, with digests or with summaries that were written elsewhere
//! (SC-20).

use arrow_array::{Array, ListArray, StructArray};
use msg_document::{Digest, Fitter};

use crate::error::Error;
use crate::input::{TextLists, expect_documents};
use crate::kernels::{lists, report, rows};
use crate::output::{Lists, Texts};
use crate::reports::Fits;
use crate::types::text;

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
