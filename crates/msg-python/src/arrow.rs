//! Arrow arrays through the PyCapsule interface (PY-2, PY-12): no buffer is copied on the way in or out. The only
//! file with `unsafe`.
#![allow(unsafe_code, reason = "the interface hands over raw pointers")]

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::{Array, ArrayRef, make_array};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::errors::guarded;
use crate::kernels;

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

/// Runs an act over the rows of an array, without the GIL; `other` is the second column of `join` and `fit_apply`, or the target
/// of `convert`. One array of answers, or several that follow each other where threads share the work.
#[pyfunction]
#[pyo3(signature = (act, array, options=None, other=None, threads=1))]
fn over_array(
    py: Python<'_>,
    act: &str,
    array: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
    other: Option<&Bound<'_, PyAny>>,
    threads: usize,
) -> PyResult<Vec<ArrowArray>> {
    let mut columns = vec![taken(array)?];
    if let Some(other) = other.filter(|_| matches!(act, "join" | "fit_apply")) {
        columns.push(taken(other)?);
    }
    let to = other.filter(|_| act == "convert").map(|it| it.extract::<String>()).transpose()?;
    let kernel = kernels::of(py, act, options, to.as_deref())?;
    let answers = guarded(py, || Ok(py.detach(|| kernels::answers(&columns, &kernel, threads))))?;
    let answers = answers.map_err(|it| PyTypeError::new_err(it.to_string()))?;
    Ok(answers.into_iter().map(|array| ArrowArray { array }).collect())
}
