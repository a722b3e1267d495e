//! The objects of a caller as the source of a skeleton (PY-5): judged in place, without a text of them.
//!
//! ```text
//! [{"role": "user", "content": "Please read the … and tell me"}, …]  ->  user "␟0␟", …
//! ```
//!
//! It knows what `json.loads` makes, exactly. For any other class, and for values that JSON cannot say, it gives
//! nothing, and the objects are walked whole (`input`). No code of the caller runs in between.

use std::borrow::Cow;

use msg_document::{Cursor, MendedMessage, ReadOptions, Skeleton};
use msg_json::Kind;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::output;

/// Members that no rule looks at nest at most this deep.
const MAX_DEPTH: usize = 32;

/// A place in objects.
struct Objects<'py> {
    value: Bound<'py, PyAny>,
    /// So many bytes of JSON may follow.
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
                for new in output::objects(document.py(), json, None)?.try_iter()? {
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
    // What a text takes the place of says nothing.
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
