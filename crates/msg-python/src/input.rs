//! What a caller hands in (PY-5): text as it is, objects walked into JSON text without `json.dumps`.
//!
//! ```text
//! [{"role": "user", …}, …]  ->  json: [{"role":"user",…},…]   elements: (span, object) …
//! ```
//!
//! Most lists of chat messages are judged without it (`objects`).

use std::borrow::Cow;
use std::ops::Range;

use msg_json::write_str;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple,
};

use crate::errors::unreadable;

/// Objects nest at most this deep.
const MAX_DEPTH: usize = 256;

/// A document as bytes, and what it was made of.
pub(crate) enum Input<'a, 'py> {
    /// A `str`: answers are `str` too.
    Text(&'a str),
    /// Bytes of some kind.
    Bytes(Cow<'a, [u8]>),
    /// Objects, walked.
    Objects(Walked<'py>),
}

/// Objects as JSON text.
#[derive(Default)]
pub(crate) struct Walked<'py> {
    pub(crate) json: Vec<u8>,
    /// The elements of the outermost list, or of lists that are members of the outermost dict: what an answer
    /// shares where it did not change.
    pub(crate) elements: Vec<(Range<usize>, Bound<'py, PyAny>)>,
}

impl<'a, 'py> Input<'a, 'py> {
    /// Reads a value.
    ///
    /// Fails for values that are no JSON: `ParseError` for numbers and texts, `TypeError` for types.
    pub(crate) fn of(value: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            return match text.to_str() {
                Ok(text) => Ok(Input::Text(text)),
                Err(_) => Err(unreadable(value.py(), "the text holds half of a surrogate pair")),
            };
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Input::Bytes(Cow::Borrowed(bytes.as_bytes())));
        }
        if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
            let copy = value.py().import("builtins")?.getattr("bytes")?.call1((value,))?;
            return Ok(Input::Bytes(Cow::Owned(copy.cast::<PyBytes>()?.as_bytes().to_vec())));
        }
        let mut walked = Walked::default();
        walked.walk(value, 0)?;
        Ok(Input::Objects(walked))
    }

    pub(crate) fn json(&self) -> &[u8] {
        match self {
            Input::Text(text) => text.as_bytes(),
            Input::Bytes(bytes) => bytes,
            Input::Objects(walked) => &walked.json,
        }
    }
}

/// The JSON array of some items of a list.
pub(crate) fn list_of(list: &Bound<'_, PyAny>, ats: &[usize]) -> PyResult<Vec<u8>> {
    let items = ats.iter().map(|at| list.get_item(at)).collect::<PyResult<Vec<_>>>()?;
    let mut walked = Walked::default();
    walked.list(items.into_iter(), 0)?;
    Ok(walked.json)
}

impl<'py> Walked<'py> {
    fn walk(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        if depth > MAX_DEPTH {
            return Err(unreadable(value.py(), "the objects nest more than 256 deep"));
        }
        if let Ok(text) = value.cast_exact::<PyString>() {
            self.text(text)
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.dict(dict, depth)
        } else if let Ok(list) = value.cast::<PyList>() {
            self.list(list.iter(), depth)
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.list(tuple.iter(), depth)
        } else {
            self.other(value, depth)
        }
    }

    fn other(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        if value.is_none() {
            self.json.extend_from_slice(b"null");
        } else if let Ok(flag) = value.cast::<PyBool>() {
            self.json.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
        } else if value.is_instance_of::<PyInt>() {
            // `int.__repr__`: an enum that is an int prints its name otherwise.
            let digits = value.py().get_type::<PyInt>().call_method1("__repr__", (value,))?;
            self.json.extend_from_slice(digits.cast::<PyString>()?.to_str()?.as_bytes());
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number)?;
        } else if let Ok(text) = value.cast::<PyString>() {
            self.text(text)?;
        } else {
            return self.model(value, depth);
        }
        Ok(())
    }

    fn float(&mut self, number: &Bound<'py, PyFloat>) -> PyResult<()> {
        if !number.value().is_finite() {
            return Err(unreadable(number.py(), "a number is not finite, which JSON cannot say"));
        }
        let digits = number.repr()?;
        self.json.extend_from_slice(digits.to_str()?.as_bytes());
        Ok(())
    }

    fn text(&mut self, text: &Bound<'py, PyString>) -> PyResult<()> {
        match text.to_str() {
            Ok(text) => write_str(&mut self.json, text),
            Err(_) => self.json.extend_from_slice(dumped(text)?.as_bytes()),
        }
        Ok(())
    }

    fn dict(&mut self, dict: &Bound<'py, PyDict>, depth: usize) -> PyResult<()> {
        self.json.push(b'{');
        for (at, (key, value)) in dict.iter().enumerate() {
            if at > 0 {
                self.json.push(b',');
            }
            let Ok(key) = key.cast::<PyString>() else {
                let found = key.get_type().name()?;
                return Err(PyTypeError::new_err(format!("a key of a dict is {found}, not str")));
            };
            self.text(key)?;
            self.json.push(b':');
            self.walk(&value, depth + 1)?;
        }
        self.json.push(b'}');
        Ok(())
    }

    fn list(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        depth: usize,
    ) -> PyResult<()> {
        self.json.push(b'[');
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.json.push(b',');
            }
            let start = self.json.len();
            self.walk(&item, depth + 1)?;
            if depth <= 1 {
                self.elements.push((start..self.json.len(), item));
            }
        }
        self.json.push(b']');
        Ok(())
    }

    /// A model of pydantic, or whatever says its members as one does.
    fn model(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        let py = value.py();
        if !value.hasattr("model_dump")? {
            let name = value.get_type().name()?;
            let expected = "expected str, bytes, list, dict or a model with model_dump";
            return Err(PyTypeError::new_err(format!("found {name}, {expected}")));
        }
        let options = PyDict::new(py);
        options.set_item("exclude_unset", true)?;
        options.set_item("mode", "json")?;
        let members = value.call_method("model_dump", (), Some(&options))?;
        self.walk(&members, depth + 1)
    }
}

/// A text with half of a surrogate pair, as `json.dumps` spells it.
fn dumped(text: &Bound<'_, PyString>) -> PyResult<String> {
    text.py().import("json")?.call_method1("dumps", (text,))?.extract()
}
