//! The kernels of `msg-arrow` by name, and the threads that may share a column (PY-14).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use arrow_array::{Array, ArrayRef};
use msg_arrow::{Error, SummaryOptions};
use msg_cache::CacheOptions;
use msg_document::{CaptureOptions, ConvertOptions, Fitter, Format, ReadOptions, ToolsOptions};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::input::options_json;
use crate::options::refused;
use crate::options::{self, Act, Understood};
use crate::{answers, known, stream};

const FIT_APPLY: Act = Act::new("fit_apply", known::FIT);
const RECOGNISE: Act = Act::new("recognise", known::READ);
const JOIN: Act = Act::new("join", known::READ);
const CACHE: Act = Act::new("cache", known::COMPARE);
const SUMMARY: Act = Act::new("summary", known::SUMMARY);
const MERGE: Act = Act::new("merge", &[]);
const TO_TEXT: Act = Act::new("to_text", &[]);

/// Pieces of a column a thread: rows are uneven, and whoever is free takes the next piece.
const PIECES: usize = 8;

/// An act with its options, over columns of the same length.
pub(crate) type Run = Box<dyn Fn(&[ArrayRef]) -> Result<ArrayRef, Error> + Send + Sync>;

type Given<'a, 'py> = Option<&'a Bound<'py, PyDict>>;

/// The kernel of a name.
///
/// Fails for a name, an option or a target that does not exist.
pub(crate) fn of(
    py: Python<'_>,
    act: &str,
    given: Given<'_, '_>,
    to: Option<&str>,
) -> PyResult<Run> {
    match act {
        "check" => run(py, answers::CHECK, given, msg_arrow::check),
        "is_valid" => run(py, answers::IS_VALID, given, msg_arrow::is_valid),
        "repair" => run(py, answers::REPAIR, given, msg_arrow::repair),
        "stats" => run(py, answers::STATS, given, msg_arrow::stats),
        "tokens" => run(py, answers::TOKENS, given, msg_arrow::tokens),
        "fit" => run::<Fitter, _>(py, answers::FIT, given, msg_arrow::fit),
        "fit_requests" => {
            run::<Fitter, _>(py, answers::FIT_REQUESTS, given, msg_arrow::fit_requests)
        }
        "fit_apply" => {
            let fitter = options::of::<Fitter>(FIT_APPLY, given, py)?;
            Ok(Box::new(move |it| Ok(Arc::new(msg_arrow::fit_apply(&it[0], &it[1], &fitter)?))))
        }
        "cache" => {
            let options = options::of::<CacheOptions>(CACHE, given, py)?;
            Ok(Box::new(move |it| Ok(Arc::new(msg_arrow::cache(&it[0], &it[1], &options)?))))
        }
        "key" => run(py, answers::KEY, given, msg_arrow::key),
        "tools" => run::<ToolsOptions, _>(py, stream::TOOLS, given, msg_arrow::tools),
        "stream" => run::<CaptureOptions, _>(py, stream::STREAM, given, msg_arrow::stream),
        "messages" => run(py, answers::MESSAGES, given, msg_arrow::messages),
        "recognise" => run(py, RECOGNISE, given, msg_arrow::recognise),
        "prefix_keys" => run(py, answers::PREFIX_KEYS, given, msg_arrow::prefix_keys),
        "summary" => run::<SummaryOptions, _>(py, SUMMARY, given, msg_arrow::summary),
        "convert" => {
            let to: Format = to.unwrap_or_default().parse().map_err(|it| refused(py, &it))?;
            let convert =
                move |it: &dyn Array, options: &ConvertOptions| msg_arrow::convert(it, to, options);
            run(py, answers::CONVERT, given, convert)
        }
        "join" => {
            let read = options::of::<ReadOptions>(JOIN, given, py)?;
            Ok(Box::new(move |it| msg_arrow::join(&it[0], &it[1], &read)))
        }
        "merge" | "to_text" => {
            let act = if act == "merge" { MERGE } else { TO_TEXT };
            options::of::<ReadOptions>(act, given, py)?;
            Ok(match act.name {
                "merge" => Box::new(|it| Ok(Arc::new(msg_arrow::merge(&it[0])?))),
                _ => Box::new(|it| msg_arrow::to_text(&it[0])),
            })
        }
        other => Err(PyTypeError::new_err(format!("no function is called {other:?}"))),
    }
}

/// Whether an act gives one row for all rows of a column.
pub(crate) fn sums_up(act: &str) -> bool {
    matches!(act, "summary" | "merge")
}

/// What judged the rows of an act (RE-39).
pub(crate) fn judged_by(act: &str, given: Given<'_, '_>, to: Option<&str>) -> PyResult<[u8; 16]> {
    let json = match given {
        Some(given) => options_json(given)?,
        None => b"{}".to_vec(),
    };
    let json = match to {
        Some(to) => with_target(&json, to),
        None => json,
    };
    msg_arrow::judged_by(act, &json).map_err(PyTypeError::new_err)
}

/// An object of options with the target of a conversion, as `options_key("convert", to=…)` has it.
fn with_target(json: &[u8], to: &str) -> Vec<u8> {
    let mut res = br#"{"to":"#.to_vec();
    msg_json::write_str(&mut res, to);
    if json.len() > 2 {
        res.push(b',');
    }
    res.extend_from_slice(&json[1..]);
    res
}

fn run<O: Understood, A: Array + 'static>(
    py: Python<'_>,
    act: Act,
    given: Given<'_, '_>,
    kernel: impl Fn(&dyn Array, &O) -> Result<A, Error> + Send + Sync + 'static,
) -> PyResult<Run> {
    let options = options::of::<O>(act, given, py)?;
    Ok(Box::new(move |it| Ok(Arc::new(kernel(&it[0], &options)?))))
}

/// The answers to columns, in one array or in several that follow each other.
pub(crate) fn answers(
    columns: &[ArrayRef],
    run: &Run,
    threads: usize,
) -> Result<Vec<ArrayRef>, Error> {
    let rows = columns[0].len();
    let several = columns.iter().all(|it| it.len() == rows) && rows > 1;
    if threads <= 1 || !several {
        return Ok(vec![run(columns)?]);
    }
    let step = rows.div_ceil(threads * PIECES);
    let next = AtomicUsize::new(0);
    let work = || {
        let starts = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed) * step));
        starts.take_while(|it| *it < rows).map(|it| (it, piece(columns, run, it, step))).collect()
    };
    let mut pieces: Vec<(usize, _)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = |it: thread::ScopedJoinHandle<'_, Vec<_>>| {
            it.join().unwrap_or_else(|it| std::panic::resume_unwind(it))
        };
        workers.into_iter().flat_map(joined).collect()
    });
    pieces.sort_by_key(|it| it.0);
    pieces.into_iter().map(|it| it.1).collect()
}

fn piece(columns: &[ArrayRef], run: &Run, start: usize, step: usize) -> Result<ArrayRef, Error> {
    let len = step.min(columns[0].len() - start);
    let slices: Vec<_> = columns.iter().map(|it| it.slice(start, len)).collect();
    run(&slices).map_err(|it| match it {
        Error::TooLarge { row } => Error::TooLarge { row: row + start },
        other => other,
    })
}
