//! The kernels of `msg-arrow` by name, and the threads that may share a column (PY-14).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use arrow_array::{Array, ArrayRef};
use msg_arrow::Error;
use msg_document::{
    CheckOptions, ConvertOptions, Fitter, Format, KeyOptions, StreamOptions, ToolsOptions,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::refused;
use crate::options::{self, Understood};

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
        "check" => run(py, given, msg_arrow::check),
        "is_valid" => run(py, given, msg_arrow::is_valid),
        "repair" => run(py, given, msg_arrow::repair),
        "stats" => run(py, given, msg_arrow::stats),
        "tokens" => run(py, given, msg_arrow::tokens),
        "fit" => run::<Fitter, _>(py, given, msg_arrow::fit),
        "fit_requests" => run::<Fitter, _>(py, given, msg_arrow::fit_requests),
        "fit_apply" => {
            let fitter = options::of::<Fitter>(given, py)?;
            Ok(Box::new(move |it| Ok(Arc::new(msg_arrow::fit_apply(&it[0], &it[1], &fitter)?))))
        }
        "key" => run(py, given, msg_arrow::key),
        "tools" => run::<ToolsOptions, _>(py, given, msg_arrow::tools),
        "stream" => run::<StreamOptions, _>(py, given, msg_arrow::stream),
        "messages" => {
            run(py, given, |it, options: &CheckOptions| msg_arrow::messages(it, &options.read))
        }
        "recognise" => {
            run(py, given, |it, options: &CheckOptions| msg_arrow::recognise(it, &options.read))
        }
        "prefix_keys" => {
            run(py, given, |it, options: &KeyOptions| msg_arrow::prefix_keys(it, &options.read))
        }
        "convert" => {
            let to: Format = to.unwrap_or_default().parse().map_err(|it| refused(py, &it))?;
            run(py, given, move |it, options: &ConvertOptions| msg_arrow::convert(it, to, options))
        }
        "join" => {
            let read = options::of::<CheckOptions>(given, py)?.read.clone();
            Ok(Box::new(move |it| msg_arrow::join(&it[0], &it[1], &read)))
        }
        "to_text" => Ok(Box::new(|it| msg_arrow::to_text(&it[0]))),
        other => Err(PyTypeError::new_err(format!("no act is called {other:?}"))),
    }
}

fn run<O: Understood, A: Array + 'static>(
    py: Python<'_>,
    given: Given<'_, '_>,
    kernel: impl Fn(&dyn Array, &O) -> Result<A, Error> + Send + Sync + 'static,
) -> PyResult<Run> {
    let options = options::of::<O>(given, py)?;
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
