//! Rows of answers as objects of Python, for those who have no library of Arrow; and the last member of structs.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString};

/// A row as an object. It recurses as deep as the type, which is one of the answers.
pub(crate) fn value<'py>(
    py: Python<'py>,
    array: &dyn Array,
    row: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match array.data_type() {
        DataType::Boolean => PyBool::new(py, array.as_boolean().value(row)).to_owned().into_any(),
        DataType::Int32 => {
            array.as_primitive::<Int32Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Int64 => {
            array.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Utf8 => PyString::new(py, array.as_string::<i32>().value(row)).into_any(),
        DataType::LargeUtf8 => PyString::new(py, array.as_string::<i64>().value(row)).into_any(),
        DataType::FixedSizeBinary(_) => {
            PyBytes::new(py, array.as_fixed_size_binary().value(row)).into_any()
        }
        DataType::Struct(_) => members(py, array.as_struct(), row)?.into_any(),
        DataType::List(_) => items(py, &array.as_list::<i32>().value(row))?.into_any(),
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let dict = PyDict::new(py);
            for at in 0..entries.len() {
                let [key, it] = [0, 1].map(|it| value(py, entries.column(it), at));
                dict.set_item(key?, it?)?;
            }
            dict.into_any()
        }
        other => return Err(PyTypeError::new_err(format!("answers have no columns of {other}"))),
    })
}

fn members<'py>(
    py: Python<'py>,
    structs: &StructArray,
    row: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, column) in structs.column_names().into_iter().zip(structs.columns()) {
        dict.set_item(name, value(py, column, row)?)?;
    }
    Ok(dict)
}

fn items<'py>(py: Python<'py>, list: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    let items = (0..list.len()).map(|it| value(py, list, it));
    PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)
}

/// Answers with a last member that says what judged them (RE-39).
///
/// Fails for answers that are not structs.
pub(crate) fn with_key(answers: &ArrayRef, key: [u8; 16]) -> PyResult<ArrayRef> {
    match answers.as_struct_opt() {
        Some(it) => Ok(std::sync::Arc::new(msg_arrow::with_key(it, key))),
        None => Err(PyTypeError::new_err("key=True is for functions that give structs")),
    }
}
