//! Arrow columns through the PyCapsule interface (PY-2, PY-12, RE-20): arrays and streams of arrays, in and out. No buffer
//! is copied and no library of Arrow is imported. Only this file and `column`, which takes columns, have `unsafe`.
//!
//! ```text
//! pyarrow.Array, nanoarrow      __arrow_c_array__    one chunk
//! polars.Series, ChunkedArray   __arrow_c_stream__   chunks
//! ```
#![allow(unsafe_code, reason = "the interface hands over raw pointers")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, Field};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyTuple};

use crate::column::taken;
use crate::options::guarded;
use crate::{kernels, objects};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(over_column, module)?)?;
    module.add_function(wrap_pyfunction!(options_key, module)?)?;
    module.add_class::<Answers>()
}

/// One answer per row, in the chunks of the column. Whatever speaks the PyCapsule interface takes it: `pyarrow.array`,
/// `polars.Series`, `pandas.DataFrame.from_arrow`.
#[pyclass(module = "msg.arrow", frozen)]
pub(crate) struct Answers {
    chunks: Vec<ArrayRef>,
    of: DataType,
}

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.chunks.iter().map(|it| it.len()).sum()
    }

    /// The chunks, each as answers of its own.
    #[getter]
    fn chunks(&self) -> Vec<Answers> {
        self.chunks
            .iter()
            .map(|it| Answers { chunks: vec![Arc::clone(it)], of: self.of.clone() })
            .collect()
    }

    /// The two capsules of the interface for one array.
    ///
    /// Fails if the column has several chunks.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // A requested type is a wish; answers have one type.
        let _ = requested_schema;
        let [array] = &self.chunks[..] else {
            let text = "the column has several chunks: take `chunks`, `to_pyarrow()` or `__arrow_c_stream__`";
            return Err(PyValueError::new_err(text));
        };
        let (array, schema) = to_ffi(&array.to_data()).map_err(bad)?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        PyTuple::new(py, [schema, array])
    }

    /// The capsule of the interface for a stream of arrays.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        PyCapsule::new_with_value(
            py,
            stream_of(self.of.clone(), self.chunks.clone()),
            c"arrow_array_stream",
        )
    }

    /// The capsule of the interface for the type.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&self.of).map_err(bad)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// A pyarrow array, or a chunked array where the column was chunked.
    fn to_pyarrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pyarrow = py.import("pyarrow")?;
        if let [_] = self.chunks[..] {
            let one = Answers { chunks: self.chunks.clone(), of: self.of.clone() };
            return pyarrow.call_method1("array", (one,));
        }
        let all = Answers { chunks: self.chunks.clone(), of: self.of.clone() };
        pyarrow.call_method1("chunked_array", (all,))
    }

    /// The answers as objects of Python, without a library of Arrow: a dict for a struct and for a map, a list for a list.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for chunk in &self.chunks {
            for row in 0..chunk.len() {
                list.append(objects::value(py, chunk, row)?)?;
            }
        }
        Ok(list)
    }

    fn __repr__(&self) -> String {
        format!("Answers(rows={}, type={})", self.__len__(), self.of)
    }
}

fn bad(err: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(err.to_string())
}

/// A stream that is given away: the arrays that are left, and their type.
struct Given {
    of: DataType,
    rest: std::vec::IntoIter<ArrayRef>,
    error: Option<CString>,
}

fn stream_of(of: DataType, chunks: Vec<ArrayRef>) -> FFI_ArrowArrayStream {
    let given = Box::new(Given { of, rest: chunks.into_iter(), error: None });
    let data = Box::into_raw(given).cast::<c_void>();
    // SAFETY: the callbacks below keep the contract of the interface; `release` frees the data once.
    unsafe {
        FFI_ArrowArrayStream::new_unchecked(
            Some(give_schema),
            Some(give_next),
            Some(give_error),
            Some(release),
            data,
        )
    }
}

/// # Safety
/// `stream` is one of [`stream_of`] that was not released.
unsafe fn given<'a>(stream: *mut FFI_ArrowArrayStream) -> &'a mut Given {
    // SAFETY: the data is a `Given` from its creation until the release, and a consumer calls one callback at a time.
    unsafe { &mut *(*stream).private_data().cast::<Given>() }
}

impl Given {
    /// Zero, or the code of the error, whose text is kept.
    fn code<E: std::fmt::Display>(&mut self, result: Result<(), E>) -> c_int {
        match result {
            Ok(()) => 0,
            Err(err) => {
                self.error = CString::new(err.to_string()).ok();
                22 // EINVAL
            }
        }
    }
}

unsafe extern "C" fn give_schema(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowSchema,
) -> c_int {
    // SAFETY: by the interface the stream is one of ours, and `out` is valid for a write.
    unsafe {
        let given = given(stream);
        let field = Field::new("", given.of.clone(), true);
        let written = FFI_ArrowSchema::try_from(field).map(|it| ptr::write(out, it));
        given.code(written)
    }
}

unsafe extern "C" fn give_next(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowArray,
) -> c_int {
    // SAFETY: as above. An empty array says that the stream has ended.
    unsafe {
        let given = given(stream);
        match given.rest.next() {
            None => ptr::write(out, FFI_ArrowArray::empty()),
            Some(array) => ptr::write(out, FFI_ArrowArray::new(&array.to_data())),
        }
        0
    }
}

unsafe extern "C" fn give_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: as above; the text lives until the next call.
    unsafe { given(stream).error.as_ref().map_or(ptr::null(), |it| it.as_ptr()) }
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: called once, by the consumer or by the drop; the data came out of a box.
    unsafe {
        let stream = &mut *stream;
        drop(Box::from_raw(stream.private_data().cast::<Given>()));
        stream.set_private_data(ptr::null_mut());
        stream.set_release(None);
    }
}

/// Runs an act over the rows of a column, without the GIL; `other` is the second column of `join`, `cache` and `fit_apply`, or the
/// target of `convert`. `key` adds what judged the rows.
#[pyfunction]
#[pyo3(signature = (act, column, options=None, other=None, threads=1, key=false))]
fn over_column(
    py: Python<'_>,
    act: &str,
    column: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
    other: Option<&Bound<'_, PyAny>>,
    threads: usize,
    key: bool,
) -> PyResult<Answers> {
    let to = other.filter(|_| act == "convert").map(|it| it.extract::<String>()).transpose()?;
    let kernel = kernels::of(py, act, options, to.as_deref())?;
    let key = key.then(|| kernels::judged_by(act, options, to.as_deref())).transpose()?;
    let (chunks, of) = taken(column)?;
    let second =
        other.filter(|_| matches!(act, "join" | "fit_apply" | "cache")).map(taken).transpose()?;
    let inputs = match &second {
        None => chunks.into_iter().map(|it| vec![it]).collect(),
        Some((others, _)) => paired(chunks, others)?,
    };
    let wrong = |it: msg_arrow::Error| PyTypeError::new_err(it.to_string());
    let run = || -> Result<Vec<ArrayRef>, msg_arrow::Error> {
        let answers = |it: &Vec<ArrayRef>| kernels::answers(it, &kernel, threads).and_then(whole);
        inputs.iter().map(answers).collect()
    };
    let mut answers = guarded(py, || Ok(py.detach(run)))?.map_err(wrong)?;
    if kernels::sums_up(act) || answers.is_empty() {
        // A column without rows has answers of a type, and a sum.
        let summed = !answers.is_empty() && kernels::sums_up(act);
        let merge = if act == "merge" || summed { "merge" } else { act };
        let merge = kernels::of(py, merge, if summed { None } else { options }, to.as_deref())?;
        let empty = arrow_array::new_empty_array(&of);
        let columns = match (summed, &second) {
            (true, _) => vec![whole(std::mem::take(&mut answers)).map_err(wrong)?],
            (false, None) => vec![empty],
            (false, Some((_, of))) => vec![empty, arrow_array::new_empty_array(of)],
        };
        answers = vec![merge(&columns).map_err(wrong)?];
    }
    if let Some(key) = key {
        answers = answers.iter().map(|it| objects::with_key(it, key)).collect::<PyResult<_>>()?;
    }
    let of = answers[0].data_type().clone();
    Ok(Answers { chunks: answers, of })
}

/// What judged rows: 16 bytes of the version, the function and its options.
#[pyfunction]
#[pyo3(signature = (function, options=None))]
fn options_key<'py>(
    py: Python<'py>,
    function: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &kernels::judged_by(function, options, None)?))
}

/// Chunks of two columns, cut where either is.
///
/// Fails for columns of different lengths.
fn paired(left: Vec<ArrayRef>, right: &[ArrayRef]) -> PyResult<Vec<Vec<ArrayRef>>> {
    let len = |it: &[ArrayRef]| it.iter().map(|it| it.len()).sum::<usize>();
    if len(&left) != len(right) {
        let text = format!(
            "expected columns of the same length, found {} and {} rows",
            len(&left),
            len(right)
        );
        return Err(PyValueError::new_err(text));
    }
    let (mut res, mut rest) = (Vec::new(), right.iter().filter(|it| !it.is_empty()));
    let (mut other, mut from) = (rest.next(), 0);
    for chunk in left {
        let mut at = 0;
        while let Some(it) = other.filter(|_| at < chunk.len()) {
            let step = (chunk.len() - at).min(it.len() - from);
            res.push(vec![chunk.slice(at, step), it.slice(from, step)]);
            (at, from) = (at + step, from + step);
            if from == it.len() {
                (other, from) = (rest.next(), 0);
            }
        }
    }
    Ok(res)
}

/// The pieces that threads worked on as one array.
fn whole(mut pieces: Vec<ArrayRef>) -> Result<ArrayRef, msg_arrow::Error> {
    if pieces.len() == 1 {
        return Ok(pieces.swap_remove(0));
    }
    let data: Vec<_> = pieces.iter().map(|it| it.to_data()).collect();
    let rows = data.iter().map(|it| it.len()).sum();
    let mut all = MutableArrayData::new(data.iter().collect(), false, rows);
    for (at, it) in data.iter().enumerate() {
        // Offsets that have no place are those of answers that have none (SC-15).
        all.try_extend(at, 0, it.len()).map_err(|_| msg_arrow::Error::TooLarge { row: rows })?;
    }
    Ok(make_array(all.freeze()))
}
