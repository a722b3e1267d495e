//! What is raised (PY-9): `ParseError` for a document that cannot be read, `OptionError` for a bad option,
//! `InternalError` for a panic. The classes are Python's, so that `ParseError` is a `ValueError` too.

use std::panic::{AssertUnwindSafe, catch_unwind};

use msg_document::Refusal;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::options::in_python;

static CLASSES: PyOnceLock<[Py<PyType>; 3]> = PyOnceLock::new();

fn classes<'py>(py: Python<'py>) -> PyResult<[Bound<'py, PyType>; 3]> {
    let classes = CLASSES.get_or_try_init(py, || -> PyResult<_> {
        let module = py.import("msg.errors")?;
        let class = |name: &str| -> PyResult<Py<PyType>> {
            Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
        };
        Ok([class("ParseError")?, class("OptionError")?, class("InternalError")?])
    })?;
    Ok([0, 1, 2].map(|it| classes[it].bind(py).clone()))
}

/// The exception that a refusal is, in words of Python: what is wrong, and what would mend it (RE-17).
pub(crate) fn refused(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let diagnostic = refusal.diagnostic();
    let fix = diagnostic.fix.as_deref().map(|it| format!("; {it}")).unwrap_or_default();
    let text = in_python(&format!("{}{fix}", diagnostic.message()));
    if refusal.is_bad_option() {
        return bad_option(py, &text);
    }
    let line = String::from_utf8_lossy(&refusal.to_json()).into_owned();
    match classes(py) {
        Ok([parse, ..]) => PyErr::from_type(parse, (text, line)),
        Err(err) => err,
    }
}

/// A value that an option cannot have.
pub(crate) fn bad_option(py: Python<'_>, text: &str) -> PyErr {
    match classes(py) {
        Ok([_, option, _]) => PyErr::from_type(option, in_python(text)),
        Err(err) => err,
    }
}

/// A bad document that never became one.
pub(crate) fn unreadable(py: Python<'_>, message: &str) -> PyErr {
    match classes(py) {
        Ok([parse, ..]) => PyErr::from_type(parse, (message.to_owned(), String::new())),
        Err(err) => err,
    }
}

/// Runs what must not panic; a panic is an `InternalError`, not PyO3's exception, which `except Exception` misses.
pub(crate) fn guarded<T>(py: Python<'_>, run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| match classes(py) {
        Ok([_, _, internal]) => Err(PyErr::from_type(internal, "a bug in msg, please report it")),
        Err(err) => Err(err),
    })
}
