//! JSON text as Python objects (PY-6): integers of any size, objects that did not change are the caller's own.

use std::collections::{HashMap, VecDeque};

use msg_json::{JsonError, Kind, Reader};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::unreadable;
use crate::input::{Input, Walked};

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
