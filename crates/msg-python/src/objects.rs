//! Objects of Python, both ways: those of a caller as the source of a skeleton (PY-5), judged in place, without a text of
//! them; and JSON text as objects (PY-6), with integers of any size, where objects that did not change are the caller's own.
//! Rows of answers are objects too, for those who have no library of Arrow.
//!
//! ```text
//! [{"role": "user", "content": "Please read the … and tell me"}, …]  ->  user "␟0␟", …
//! ```
//!
//! It knows what `json.loads` makes, exactly. For any other class, and for values that JSON cannot say, it gives
//! nothing, and the objects are walked whole (`input`). No code of the caller runs in between.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use arrow_array::{
    Array, ArrayRef, StructArray,
    cast::AsArray,
    types::{Int32Type, Int64Type},
};
use arrow_schema::DataType;
use msg_document::{Cursor, MendedMessage, ReadOptions, Skeleton};
use msg_json::{JsonError, JsonStr, Kind, Reader};
use pyo3::{
    exceptions::PyTypeError,
    intern,
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString},
};

use crate::input::{Input, Walked};
use crate::options::unreadable;

/// Members that no rule looks at nest at most this deep.
const MAX_DEPTH: usize = 32;

/// A place in objects.
struct Objects<'py> {
    value: Bound<'py, PyAny>,
    /// How many more bytes of JSON are allowed.
    room: u64,
}

/// The skeleton of a list of messages, or of a request; nothing where the objects have to be walked whole.
pub(crate) fn skeleton(document: &Bound<'_, PyAny>, options: &ReadOptions) -> Option<Skeleton> {
    let mut source = Objects { value: document.clone(), room: options.max_bytes };
    Skeleton::read(&mut source, options)
}

/// The messages of a document that has a skeleton.
pub(crate) fn messages<'py>(document: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if document.is_instance_of::<PyDict>() {
        document.get_item(intern!(document.py(), "messages"))
    } else {
        Ok(document.clone())
    }
}

/// The document with the messages of a mended list; `own` are those that it has.
pub(crate) fn mended<'py>(
    document: &Bound<'py, PyAny>,
    own: &Bound<'py, PyAny>,
    messages: &[MendedMessage],
) -> PyResult<Bound<'py, PyAny>> {
    let list = PyList::empty(document.py());
    for it in messages {
        match it {
            MendedMessage::Kept(at) => list.append(own.get_item(at)?)?,
            MendedMessage::Changed(at, changes) => {
                list.append(changed(own.get_item(at)?, changes)?)?;
            }
            MendedMessage::Texts(texts) => list.append(of_texts(document.py(), texts)?)?,
            MendedMessage::New(json) => {
                for new in objects(document.py(), json, None)?.try_iter()? {
                    list.append(new?)?;
                }
            }
        }
    }
    let Ok(request) = document.cast::<PyDict>() else { return Ok(list.into_any()) };
    let request = request.copy()?;
    request.set_item(intern!(request.py(), "messages"), list)?;
    Ok(request.into_any())
}

/// A message all of whose members are texts.
fn of_texts<'py>(py: Python<'py>, texts: &[(&str, String)]) -> PyResult<Bound<'py, PyDict>> {
    let message = PyDict::new(py);
    texts.iter().try_for_each(|(name, text)| message.set_item(PyString::intern(py, name), text))?;
    Ok(message)
}

/// A message with texts at some places; all that they are not in is the caller's.
fn changed<'py>(
    message: Bound<'py, PyAny>,
    changes: &[(String, String)],
) -> PyResult<Bound<'py, PyAny>> {
    changes.iter().try_fold(message, |message, (place, text)| {
        let steps: Vec<&str> = place.split('/').skip(1).collect();
        with_text(&message, &steps, text)
    })
}

/// A copy of a value with a text at a place in it; steps lead into members and items.
fn with_text<'py>(
    value: &Bound<'py, PyAny>,
    steps: &[&str],
    text: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let Some((step, rest)) = steps.split_first() else {
        return Ok(PyString::new(value.py(), text).into_any());
    };
    if let Ok(list) = value.cast::<PyList>() {
        let (list, at) = (list.get_slice(0, list.len()), step.parse::<usize>()?);
        list.set_item(at, with_text(&list.get_item(at)?, rest, text)?)?;
        return Ok(list.into_any());
    }
    let object = value.cast::<PyDict>()?.copy()?;
    let name = PyString::new(value.py(), step);
    // A value that the text replaces is not needed.
    let member = if rest.is_empty() { None } else { object.get_item(&name)? };
    let member = member.unwrap_or_else(|| value.py().None().into_bound(value.py()));
    object.set_item(name, with_text(&member, rest, text)?)?;
    Ok(object.into_any())
}

impl Cursor for Objects<'_> {
    fn kind(&mut self) -> Option<Kind> {
        let it = &self.value;
        Some(if it.is_exact_instance_of::<PyString>() {
            Kind::String
        } else if it.is_exact_instance_of::<PyDict>() {
            Kind::Object
        } else if it.is_exact_instance_of::<PyList>() {
            Kind::Array
        } else if it.is_none() {
            Kind::Null
        } else if it.is_exact_instance_of::<PyBool>() {
            Kind::Bool
        } else if it.is_exact_instance_of::<PyInt>() || it.is_exact_instance_of::<PyFloat>() {
            Kind::Number
        } else {
            return None;
        })
    }

    fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        let dict = self.value.cast_exact::<PyDict>().ok()?.clone();
        for (name, value) in dict.iter() {
            let name = name.cast_exact::<PyString>().ok()?;
            let name = name.to_str().ok()?;
            take_room(&mut self.room, name.len())?;
            self.value = value;
            member(self, name)?;
        }
        Some(())
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let list = self.value.cast_exact::<PyList>().ok()?.clone();
        for value in list.iter() {
            take_room(&mut self.room, 0)?;
            self.value = value;
            item(self)?;
        }
        Some(())
    }

    fn text(&mut self) -> Option<Cow<'_, str>> {
        let Objects { value, room } = self;
        let text = value.cast_exact::<PyString>().ok()?.to_str().ok()?;
        take_room(room, text.len())?;
        Some(Cow::Borrowed(text))
    }

    fn brief(&mut self) -> Option<Cow<'_, str>> {
        self.text()
    }

    fn skip(&mut self) -> Option<()> {
        self.skip_nested(0)
    }
}

impl Objects<'_> {
    fn skip_nested(&mut self, depth: usize) -> Option<()> {
        match self.kind().filter(|_| depth < MAX_DEPTH)? {
            Kind::Object => self.object(|it, _| it.skip_nested(depth + 1)),
            Kind::Array => self.list(|it| it.skip_nested(depth + 1)),
            Kind::String => self.text().map(|_| ()),
            Kind::Number => self.is_number().then_some(()),
            Kind::Bool | Kind::Null => Some(()),
        }
    }

    /// Whether a number is one of JSON, and not longer than others.
    fn is_number(&self) -> bool {
        match self.value.cast_exact::<PyFloat>() {
            Ok(number) => number.value().is_finite(),
            Err(_) => self.value.extract::<i64>().is_ok(),
        }
    }
}

/// Takes the room of a value: a byte of a text is at most six of JSON.
fn take_room(room: &mut u64, text: usize) -> Option<()> {
    *room = room.checked_sub(6 * text as u64 + 32)?;
    Some(())
}

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
            Kind::String => self
                .text(|it| it.string().map(Some))?
                .unwrap_or_else(|| PyString::new(py, ""))
                .into_any(),
            Kind::Number => number(py, self.read(|it| it.number())?)?,
            Kind::Bool => self.read(|it| it.boolean())?.into_pyobject(py)?.to_owned().into_any(),
            Kind::Null => {
                self.read(|it| it.null())?;
                py.None().into_bound(py)
            }
        })
    }

    /// The next text; one with half of a surrogate pair, which no text of Rust holds, as `json.loads` reads it.
    fn text(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<Option<JsonStr<'a>>, JsonError>,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        let start = self.reader.offset();
        let Some(text) = self.read(read)? else { return Ok(None) };
        if !text.lone_surrogate {
            return Ok(Some(PyString::new(self.py, &text.text)));
        }
        let source = self.reader.source(start, self.reader.offset());
        let quoted =
            source.find('"').zip(source.rfind('"')).map_or("", |(from, to)| &source[from..=to]);
        let text = self.py.import("json")?.call_method1("loads", (quoted,))?;
        Ok(Some(text.cast_into::<PyString>()?))
    }

    fn object(&mut self, depth: usize) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(self.py);
        self.read(|it| it.begin_object())?;
        while let Some(key) = self.text(|it| it.next_key())? {
            dict.set_item(key, self.value(depth + 1)?)?;
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
