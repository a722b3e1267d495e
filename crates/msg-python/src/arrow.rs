//! Arrow arrays through the PyCapsule interface (PY-2, PY-12): no buffer is copied on the way in or out. The only
//! file with `unsafe`.
#![allow(unsafe_code, reason = "the interface hands over raw pointers")]

use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::{Array, ArrayRef, make_array};
use msg_arrow::Error;
use msg_document::{CheckOptions, ConvertOptions, FitOptions, Fitter, Format, KeyOptions, RepairOptions};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::errors::{guarded, refused};
use crate::options;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(over_array, module)?)?;
    module.add_class::<ArrowArray>()
}

/// An array of answers; whoever speaks the interface takes it.
#[pyclass(module = "msg._msg", frozen)]
struct ArrowArray {
    array: ArrayRef,
}

#[pymethods]
impl ArrowArray {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// The two capsules of the interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // A type that is wished for is a wish; there is one type of answers.
        let _ = requested_schema;
        let (array, schema) = to_ffi(&self.array.to_data()).map_err(bad)?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        PyTuple::new(py, [schema, array])
    }
}

fn bad(err: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(err.to_string())
}

fn taken(value: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if !value.hasattr("__arrow_c_array__")? {
        let name = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} is no Arrow array")));
    }
    let pair = value.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let (schema, array) = (pair.get_item(0)?, pair.get_item(1)?);
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: capsules of these names hold these structs, by the interface. They are moved out of the capsules,
    // which are left released, and no Python code runs in between.
    let data = unsafe {
        let schema = FFI_ArrowSchema::from_raw(schema.cast().as_ptr());
        from_ffi(FFI_ArrowArray::from_raw(array.cast().as_ptr()), &schema)
    };
    Ok(make_array(data.map_err(bad)?))
}

/// Runs an act over the rows of an array, without the GIL.
#[pyfunction]
#[pyo3(signature = (act, array, options=None, to=None))]
fn over_array(
    py: Python<'_>,
    act: &str,
    array: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
    to: Option<&str>,
) -> PyResult<ArrowArray> {
    let rows = taken(array)?;
    let run: Box<dyn FnOnce(&dyn Array) -> Result<ArrayRef, Error> + Send> = match act {
        "check" => {
            let options = options::of::<CheckOptions>(options, py)?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::check(it, &options)?)))
        }
        "is_valid" => {
            let options = options::of::<CheckOptions>(options, py)?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::is_valid(it, &options)?)))
        }
        "messages" => {
            let options = options::of::<CheckOptions>(options, py)?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::messages(it, &options.read)?)))
        }
        "repair" => {
            let options = options::of::<RepairOptions>(options, py)?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::repair(it, &options)?)))
        }
        "convert" => {
            let options = options::of::<ConvertOptions>(options, py)?;
            let to: Format = to.unwrap_or_default().parse().map_err(|it| refused(py, &it))?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::convert(it, to, &options)?)))
        }
        "stats" => {
            let options = options::of::<FitOptions>(options, py)?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::stats(it, &options)?)))
        }
        "tokens" => {
            let options = options::of::<FitOptions>(options, py)?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::tokens(it, &options)?)))
        }
        "fit" => {
            let fitter = options::of::<Fitter>(options, py)?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::fit(it, &fitter)?)))
        }
        "key" => {
            let options = options::of::<KeyOptions>(options, py)?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::key(it, &options)?)))
        }
        "prefix_keys" => {
            let options = options::of::<KeyOptions>(options, py)?;
            Box::new(move |it| Ok(Arc::new(msg_arrow::prefix_keys(it, &options.read)?)))
        }
        other => return Err(PyTypeError::new_err(format!("no act is called {other:?}"))),
    };
    let answers = guarded(py, || Ok(py.detach(|| run(&rows))))?;
    Ok(ArrowArray { array: answers.map_err(|it| PyTypeError::new_err(it.to_string()))? })
}
