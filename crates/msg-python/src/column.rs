//! Columns that a caller hands over through the PyCapsule interface (RE-20), as arrays.
//!
//! Polars gives arrays of nulls a buffer, which the interface does not have for them, and the importer of `arrow-array`
//! refuses: such a member of a struct (`tool_calls` of a batch without calls) is read as a type that has that buffer.
//!
//! ```text
//! Struct{role: Utf8, tool_calls: Null}  read as  Struct{role: Utf8, tool_calls: Struct{}}
//! ```
#![allow(unsafe_code, reason = "the interface hands over raw pointers")]

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, LargeStringArray, OffsetSizeTrait, make_array, new_null_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyString, PyTuple};

fn bad(err: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(err.to_string())
}

/// The chunks of a column, and its type. A column of nulls, or of lists of nothing else, has no type of its own: it is one
/// of texts.
pub(crate) fn taken(column: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let (chunks, of) = arrays_of(column)?;
    let texts_of: fn(&ArrayRef) -> ArrayRef = match &of {
        DataType::Null => |it| new_null_array(&DataType::LargeUtf8, it.len()),
        DataType::List(it) if *it.data_type() == DataType::Null => lists_as_texts::<i32>,
        DataType::LargeList(it) if *it.data_type() == DataType::Null => lists_as_texts::<i64>,
        _ => return Ok((chunks, of)),
    };
    Ok((chunks.iter().map(texts_of).collect(), DataType::LargeUtf8))
}

/// `[]` for a list that is empty, which is most of them.
fn lists_as_texts<O: OffsetSizeTrait>(lists: &ArrayRef) -> ArrayRef {
    let lists = lists.as_list::<O>();
    let text = |nulls: ArrayRef| format!("[{}]", vec!["null"; nulls.len()].join(","));
    Arc::new(lists.iter().map(|it| it.map(text)).collect::<LargeStringArray>())
}

fn arrays_of(column: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let py = column.py();
    if column.hasattr(intern!(py, "__arrow_c_array__"))? {
        let array = one_array(column)?;
        let of = array.data_type().clone();
        return Ok((vec![array], of));
    }
    if column.hasattr(intern!(py, "__arrow_c_stream__"))? {
        match column.call_method0("__arrow_c_stream__") {
            Ok(capsule) => return chunks_of(&capsule),
            // A pandas Series asks pyarrow for its stream, which need not be installed.
            Err(err) if !err.is_instance_of::<pyo3::exceptions::PyImportError>(py) => {
                return Err(err);
            }
            Err(_) => {}
        }
    }
    if column.hasattr(intern!(py, "to_numpy"))? {
        return texts_of(column);
    }
    let name = column.get_type().name()?;
    let expected = "expected an Arrow column (pyarrow, polars, pandas, nanoarrow or duckdb)";
    Err(PyTypeError::new_err(format!("{expected}, found {name}")))
}

fn one_array(value: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let pair = value.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let (schema, array) = (pair.get_item(0)?, pair.get_item(1)?);
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: capsules of these names hold these structs, by the interface. They are moved out of the capsules,
    // which are left released, and no Python code runs in between.
    let (schema, array) = unsafe {
        let schema = FFI_ArrowSchema::from_raw(schema.cast().as_ptr());
        (schema, FFI_ArrowArray::from_raw(array.cast().as_ptr()))
    };
    let of = DataType::try_from(&schema).map_err(bad)?;
    imported(array, &of).map_err(bad)
}

fn chunks_of(capsule: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let stream = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds this struct, by the interface. It is moved out of the capsule, which is left
    // released.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.cast().as_ptr()) };
    let (Some(schema_of), Some(next_of)) = (stream.get_schema(), stream.get_next()) else {
        return Err(bad("the stream of the column is released"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and the callback is its own.
    let status = unsafe { schema_of(&raw mut stream, &raw mut schema) };
    expect_ok(&mut stream, status)?;
    let of = DataType::try_from(&schema).map_err(bad)?;
    let mut chunks = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above.
        let status = unsafe { next_of(&raw mut stream, &raw mut array) };
        expect_ok(&mut stream, status)?;
        if array.is_released() {
            return Ok((chunks, of));
        }
        chunks.push(imported(array, &of).map_err(bad)?);
    }
}

/// Fails with what the producer says about a call that failed.
fn expect_ok(stream: &mut FFI_ArrowArrayStream, status: i32) -> PyResult<()> {
    if status == 0 {
        return Ok(());
    }
    let said = stream.get_last_error().and_then(|error_of| {
        // SAFETY: the stream is not released; its text lives until the next call.
        unsafe {
            let text = error_of(&raw mut *stream);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    });
    Err(bad(said.unwrap_or_else(|| format!("the column cannot be read (error {status})"))))
}

fn imported(array: FFI_ArrowArray, of: &DataType) -> Result<ArrayRef, ArrowError> {
    let read_as = stand_in(of, &array);
    // SAFETY: the array is of this type, by the interface; a stand-in has the buffers that the array has.
    let data = unsafe { from_ffi_and_data_type(array, read_as.clone()) }?;
    Ok(make_array(if read_as == *of { data } else { restored(data, of)? }))
}

/// The type by which an array is read: itself, with a struct without members for nulls that have a buffer.
fn stand_in(of: &DataType, array: &FFI_ArrowArray) -> DataType {
    let inner = |field: &Arc<Field>, at: usize| {
        let of = stand_in(field.data_type(), array.child(at));
        Arc::new(field.as_ref().clone().with_data_type(of))
    };
    match of {
        DataType::Null if array.num_buffers() > 0 => DataType::Struct(Fields::empty()),
        DataType::List(it) => DataType::List(inner(it, 0)),
        DataType::LargeList(it) => DataType::LargeList(inner(it, 0)),
        DataType::FixedSizeList(it, n) => DataType::FixedSizeList(inner(it, 0), *n),
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().enumerate().map(|(at, it)| inner(it, at)).collect())
        }
        other => other.clone(),
    }
}

/// An array that was read by a stand-in, as what it is.
fn restored(data: ArrayData, of: &DataType) -> Result<ArrayData, ArrowError> {
    if data.data_type() == of {
        return Ok(data);
    }
    let fields: Vec<&DataType> = match of {
        DataType::Null => return Ok(ArrayData::new_null(of, data.len())),
        DataType::List(it) | DataType::LargeList(it) | DataType::FixedSizeList(it, _) => {
            vec![it.data_type()]
        }
        DataType::Struct(fields) => fields.iter().map(|it| it.data_type()).collect(),
        _ => Vec::new(),
    };
    let children = data.child_data().iter().cloned().zip(fields);
    let children = children.map(|(it, of)| restored(it, of)).collect::<Result<_, _>>()?;
    data.into_builder().data_type(of.clone()).child_data(children).build()
}

/// A column of a data frame whose library cannot hand over Arrow here: its texts are copied.
fn texts_of(column: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let mut texts: Vec<Option<String>> = Vec::new();
    for it in column.call_method0("tolist")?.try_iter()? {
        let it = it?;
        if let Ok(text) = it.cast::<PyString>() {
            texts.push(Some(text.to_str()?.to_owned()));
        } else if is_missing(&it)? {
            texts.push(None);
        } else {
            let name = it.get_type().name()?;
            return Err(PyTypeError::new_err(format!("expected a column of texts, found {name}")));
        }
    }
    Ok((vec![Arc::new(LargeStringArray::from(texts))], DataType::LargeUtf8))
}

/// Whether a value is a null of these columns: `None`, `NaN` or `pandas.NA`, which answers no comparison.
fn is_missing(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.is_none() || value.get_type().name()? == "NAType" || value.ne(value)?)
}
