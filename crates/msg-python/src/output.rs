//! JSON text as Python objects (PY-6): integers of any size, objects that did not change are the caller's own;
//! and rows of answers as objects of Python, for those who have no library of Arrow, with the last member of structs.

use std::collections::{HashMap, VecDeque};

use arrow_array::{
    Array, ArrayRef, StructArray,
    cast::AsArray,
    types::{Int32Type, Int64Type},
};
use arrow_schema::DataType;
use msg_json::{JsonError, Kind, Reader};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString},
};

use crate::input::{Input, Walked};
use crate::options::unreadable;

/// The caller's own objects, by their text.
type Own<'a, 'py> = HashMap<&'a str, VecDeque<&'a Bound<'py, PyAny>>>;

/// An answer of the kind of the input: text for text, objects for objects.
pub(crate) fn like<'py>(
    py: Python<'py>,
    input: &Input<'_, 'py>,
    json: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    match input {
        Input::Text(_) => Ok(PyString::new(py, text(py, json)?).into_any()),
        Input::Bytes(_) => Ok(PyBytes::new(py, json).into_any()),
        Input::Objects(walked) => objects(py, json, Some(walked)),
    }
}

/// JSON text as objects, JSON lines as a list of them; elements whose text is one of the walked ones are these objects again.
pub(crate) fn objects<'py>(
    py: Python<'py>,
    json: &[u8],
    walked: Option<&Walked<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    let text = text(py, json)?;
    let mut own = Own::new();
    for (span, object) in walked.into_iter().flat_map(|it| &it.elements) {
        let source = std::str::from_utf8(&walked.map_or(&[][..], |it| &it.json)[span.clone()])
            .map_err(|err| unreadable(py, &err.to_string()))?;
        own.entry(source).or_default().push_back(object);
    }
    let mut builder = Builder { py, reader: Reader::from_text(text), own };
    let value = builder.value(0)?;
    match builder.read(|it| it.finish()) {
        Ok(()) => Ok(value),
        // Sessions are records, a line each.
        Err(_) if text.trim_end().contains('\n') => {
            let records: PyResult<Vec<_>> =
                text.lines().map(|it| objects(py, it.as_bytes(), None)).collect();
            Ok(PyList::new(py, records?)?.into_any())
        }
        Err(err) => Err(err),
    }
}

fn text<'a>(py: Python<'_>, json: &'a [u8]) -> PyResult<&'a str> {
    std::str::from_utf8(json).map_err(|err| unreadable(py, &err.to_string()))
}

struct Builder<'a, 'py> {
    py: Python<'py>,
    reader: Reader<'a>,
    own: Own<'a, 'py>,
}

impl<'a, 'py> Builder<'a, 'py> {
    fn read<T>(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, JsonError>,
    ) -> PyResult<T> {
        read(&mut self.reader).map_err(|err| unreadable(self.py, &err.to_string()))
    }

    /// The next value. It recurses no deeper than the reader allows a document to nest.
    fn value(&mut self, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match self.read(|it| it.peek())? {
            Kind::Object => self.object(depth)?.into_any(),
            Kind::Array => self.array(depth)?.into_any(),
            Kind::String => PyString::new(py, &self.read(|it| it.string())?.text).into_any(),
            Kind::Number => number(py, self.read(|it| it.number())?)?,
            Kind::Bool => self.read(|it| it.boolean())?.into_pyobject(py)?.to_owned().into_any(),
            Kind::Null => {
                self.read(|it| it.null())?;
                py.None().into_bound(py)
            }
        })
    }

    fn object(&mut self, depth: usize) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(self.py);
        self.read(|it| it.begin_object())?;
        while let Some(key) = self.read(|it| it.next_key())? {
            dict.set_item(&*key.text, self.value(depth + 1)?)?;
        }
        Ok(dict)
    }

    fn array(&mut self, depth: usize) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(self.py);
        self.read(|it| it.begin_array())?;
        while self.read(|it| it.next_element())? {
            if depth <= 1 && !self.own.is_empty() {
                let source = self.read(|it| it.raw())?;
                list.append(self.shared(source)?)?;
            } else {
                list.append(self.value(depth + 1)?)?;
            }
        }
        Ok(list)
    }

    /// The caller's own object of this text, or a new one.
    fn shared(&mut self, source: &'a str) -> PyResult<Bound<'py, PyAny>> {
        if let Some(own) = self.own.get_mut(source).and_then(VecDeque::pop_front) {
            return Ok(own.clone());
        }
        Builder { py: self.py, reader: Reader::from_text(source), own: Own::new() }.value(0)
    }
}

fn number<'py>(py: Python<'py>, digits: &str) -> PyResult<Bound<'py, PyAny>> {
    if digits.contains(['.', 'e', 'E']) {
        let number: f64 = digits.parse().map_err(|_| unreadable(py, "a number cannot be read"))?;
        return Ok(PyFloat::new(py, number).into_any());
    }
    match digits.parse::<i64>() {
        Ok(number) => Ok(number.into_pyobject(py)?.into_any()),
        Err(_) => py.get_type::<PyInt>().call1((digits,)),
    }
}

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
