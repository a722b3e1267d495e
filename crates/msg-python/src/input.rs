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
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple,
    PyType,
};
use pyo3::{PyTypeInfo, intern};

use crate::options::unreadable;

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
    /// Reads a document.
    ///
    /// Fails with `TypeError` for a value that is not one of its types, with `ParseError` for numbers and texts that
    /// JSON cannot say.
    pub(crate) fn of(value: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if let Some(text) = Self::of_text(value)? {
            return Ok(text);
        }
        if !is_document(value)? {
            return Err(wrong_type(value)?);
        }
        let mut walked = Walked::default();
        walked.walk(value, 0)?;
        Ok(Input::Objects(walked))
    }

    /// Text or bytes; nothing for any other value.
    ///
    /// Fails for a text with half of a surrogate pair.
    pub(crate) fn of_text(value: &'a Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(text) = value.cast::<PyString>() {
            return match text.to_str() {
                Ok(text) => Ok(Some(Input::Text(text))),
                Err(_) => Err(unreadable(value.py(), "the text holds half of a surrogate pair")),
            };
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Some(Input::Bytes(Cow::Borrowed(bytes.as_bytes()))));
        }
        if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
            let copy = value.py().import("builtins")?.getattr("bytes")?.call1((value,))?;
            return Ok(Some(Input::Bytes(Cow::Owned(copy.cast::<PyBytes>()?.as_bytes().to_vec()))));
        }
        Ok(None)
    }

    pub(crate) fn json(&self) -> &[u8] {
        match self {
            Input::Text(text) => text.as_bytes(),
            Input::Bytes(bytes) => bytes,
            Input::Objects(walked) => &walked.json,
        }
    }
}

/// What a document may be.
const DOCUMENT: &str = "str, bytes, list, dict or an object with model_dump";

/// Whether a value that is not a text is of a type of documents: a list, an object with members, or a model.
fn is_document(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_list = || value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    Ok(is_list()
        || is_mapping(value)
        || is_model(value)?
        || (is_of_numpy(value)? && value.len().is_ok())
        || is_sequence(value)?)
}

/// Whether a value is a model, and not the class of one.
pub(crate) fn is_model(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.hasattr(intern!(value.py(), "model_dump"))? && !value.is_instance_of::<PyType>())
}

/// Whether a value is another sequence than a list; that of a `UserString` are texts of its own class.
fn is_sequence(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_a(value, "Sequence") && !value.hasattr("casefold")?)
}

/// Whether a value is an array or a number of numpy, which is what a row of Parquet holds in pandas.
fn is_of_numpy(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.hasattr(intern!(value.py(), "__array_interface__"))
}

fn wrong_type(value: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    let found = value.get_type().fully_qualified_name()?;
    let advice = advice(value)?;
    Ok(PyTypeError::new_err(format!("expected {DOCUMENT}, found {found}{advice}")))
}

/// How to get a document, or a part of one, from what holds it and is none.
fn advice(value: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    const ADVICE: [(&str, &str); 17] = [
        ("mro", "; take an object of this class"),
        ("casefold", "; `str(it)` is its text"),
        ("decode", "; `it.decode()` is its text"),
        ("tobytes", "; `it.tobytes().decode()` is its text"),
        ("__arrow_c_stream__", "; `msg.arrow` and `msg.polars` take columns"),
        ("__arrow_c_array__", "; `msg.arrow` takes columns"),
        ("__await__", "; await it first"),
        ("__dataclass_fields__", "; `dataclasses.asdict(it)` is a dict"),
        ("_asdict", "; `it._asdict()` is a dict"),
        ("_value_", "; `it.value` is its value"),
        ("isoformat", "; `it.isoformat()` is its text"),
        ("as_integer_ratio", "; `float(it)` is a number, `str(it)` its text"),
        ("urn", "; `str(it)` is its text"),
        ("read_text", "; `it.read_text()` is its text"),
        ("read", "; `it.read()` is its text"),
        ("__iter__", "; `list(it)` is a list"),
        ("__dict__", "; `vars(it)` is a dict"),
    ];
    for (member, advice) in ADVICE {
        if value.hasattr(member)? {
            return Ok(advice);
        }
    }
    Ok("")
}

/// Where a value is of which only what comes before it is written: `[0].content[1].image`.
fn place(written: &[u8]) -> String {
    let mut open: Vec<(Option<usize>, &[u8])> = Vec::new();
    let mut at = 0;
    while let Some(byte) = written.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'[' => open.push((Some(0), b"")),
            b'{' => open.push((None, b"")),
            b']' | b'}' => drop(open.pop()),
            b'"' => {
                at = end_of_string(written, at);
                if let (Some((None, name)), Some(b':')) = (open.last_mut(), written.get(at)) {
                    *name = &written[start + 1..at - 1];
                }
            }
            b',' => {
                if let Some((Some(index), _)) = open.last_mut() {
                    *index += 1;
                }
            }
            _ => {}
        }
    }
    let steps = open.iter().map(|(index, name)| match index {
        Some(index) => format!("[{index}]"),
        None => format!(".{}", String::from_utf8_lossy(name)),
    });
    let path: String = steps.collect();
    if path.is_empty() { "it".to_owned() } else { path.trim_start_matches('.').to_owned() }
}

/// After the quote that ends a string; `at` is in the string.
fn end_of_string(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

/// Whether a value has members by name: a dict, or another mapping.
pub(crate) fn is_mapping(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyDict>() || is_a(value, "Mapping")
}

/// Whether a value is an instance of an abstract class of `collections.abc`.
fn is_a(value: &Bound<'_, PyAny>, class: &str) -> bool {
    let class = value.py().import("collections.abc").and_then(|it| it.getattr(class));
    class.and_then(|it| value.is_instance(&it)).unwrap_or(false)
}

/// The JSON object of keyword arguments: without those that are `None`, and `from_` under the name that it has.
pub(crate) fn options_json(options: &Bound<'_, PyDict>) -> PyResult<Vec<u8>> {
    let mut walked = Walked::default();
    walked.json.push(b'{');
    for (name, value) in options.iter().filter(|it| !it.1.is_none()) {
        if walked.json.len() > 1 {
            walked.json.push(b',');
        }
        let name = name.cast::<PyString>()?.to_str()?.to_owned();
        write_str(&mut walked.json, if name == "from_" { "from" } else { &name });
        walked.json.push(b':');
        walked.walk(&value, 1)?;
    }
    walked.json.push(b'}');
    Ok(walked.json)
}

/// The JSON array of some items of a list.
pub(crate) fn list_of(list: &Bound<'_, PyAny>, ats: &[usize]) -> PyResult<Vec<u8>> {
    let items = ats.iter().map(|at| list.get_item(at)).collect::<PyResult<Vec<_>>>()?;
    let mut walked = Walked::default();
    walked.list(items.into_iter(), 0)?;
    Ok(walked.json)
}

impl<'py> Walked<'py> {
    /// The elements of the outermost list, a line each.
    pub(crate) fn lines(&self) -> Vec<u8> {
        let mut lines = Vec::with_capacity(self.json.len());
        for (span, _) in self.outermost() {
            lines.extend_from_slice(&self.json[span.clone()]);
            lines.push(b'\n');
        }
        lines
    }

    /// The elements that are not inside of another: an inner one comes before the element that it is in.
    fn outermost(&self) -> impl Iterator<Item = &(Range<usize>, Bound<'py, PyAny>)> {
        let mut outer: Vec<&(Range<usize>, Bound<'py, PyAny>)> = Vec::new();
        for it in &self.elements {
            while outer.last().is_some_and(|last| last.0.start >= it.0.start) {
                outer.pop();
            }
            outer.push(it);
        }
        outer.into_iter()
    }

    fn walk(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        if depth > MAX_DEPTH {
            let at: String = place(&self.json).chars().take(40).collect();
            let text = format!("{at}… nests more than 256 deep, or leads back to itself");
            return Err(unreadable(value.py(), &text));
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
            self.digits::<PyInt>(value)?;
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
            let what = format!("{} is {number}, which JSON cannot hold", place(&self.json));
            return Err(unreadable(number.py(), &what));
        }
        self.digits::<PyFloat>(number)
    }

    /// A number as the type that it is of writes it: what is derived from it (an enum, a number of numpy) prints otherwise.
    fn digits<T: PyTypeInfo>(&mut self, number: &Bound<'py, PyAny>) -> PyResult<()> {
        let digits = number.py().get_type::<T>().call_method1("__repr__", (number,));
        // Python limits the digits that it writes.
        let digits = digits.map_err(|it| {
            let (at, why) = (place(&self.json), it.value(number.py()).to_string());
            unreadable(number.py(), &format!("{at} cannot be written: {why}"))
        })?;
        self.json.extend_from_slice(digits.cast::<PyString>()?.to_str()?.as_bytes());
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
        let (len, start) = (dict.len(), self.json.len());
        self.json.push(b'{');
        for (at, (key, value)) in dict.iter().enumerate() {
            if at > 0 {
                self.json.push(b',');
            }
            let Ok(key) = key.cast::<PyString>() else {
                let (at, found) = (place(&self.json[..start]), key.get_type().name()?);
                return Err(PyTypeError::new_err(format!("a key of {at} is {found}, not str")));
            };
            self.text(key)?;
            self.json.push(b':');
            self.walk(&value, depth + 1)?;
            // A `model_dump` may change what it is in.
            if dict.len() != len {
                return Err(PyRuntimeError::new_err("a dict changed while it was read"));
            }
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
        if !is_model(value)? {
            return self.collection(value, depth);
        }
        let options = PyDict::new(py);
        for name in ["exclude_unset", "by_alias"] {
            options.set_item(name, true)?;
        }
        options.set_item("mode", "json")?;
        let dumped = value.call_method("model_dump", (), Some(&options));
        // Some models that are not of pydantic know fewer arguments.
        let members = match dumped {
            Err(err) if err.is_instance_of::<PyTypeError>(py) => {
                value.call_method0("model_dump")?
            }
            dumped => dumped?,
        };
        self.walk(&members, depth + 1)
    }

    /// Another kind of mapping or of sequence than `json.loads` makes.
    fn collection(&mut self, value: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        let builtins = value.py().import("builtins")?;
        if is_a(value, "Mapping") {
            return self.walk(&builtins.getattr("dict")?.call1((value,))?, depth);
        }
        if is_sequence(value)? && Input::of_text(value)?.is_none() {
            return self.walk(&builtins.getattr("list")?.call1((value,))?, depth);
        }
        if is_of_numpy(value)? {
            return self.walk(&value.call_method0("tolist")?, depth + 1);
        }
        let (at, found) = (place(&self.json), value.get_type().fully_qualified_name()?);
        let advice = advice(value)?;
        Err(PyTypeError::new_err(format!("{at} is {found}, which JSON cannot hold{advice}")))
    }
}

/// A text with half of a surrogate pair, as `json.dumps` spells it.
fn dumped(text: &Bound<'_, PyString>) -> PyResult<String> {
    text.py().import("json")?.call_method1("dumps", (text,))?.extract()
}
