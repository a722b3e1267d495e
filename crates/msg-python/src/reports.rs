//! The answers of a check, a repair and a conversion as classes of Python (PY-7, PY-8). One is made for every document, so that
//! no finding becomes an object before it is read.
//!
//! ```text
//! Checked(ok=False, format='openai', messages=3)   .diagnostics ─▶ (Diagnostic(…), …)   made once
//! ```

use std::borrow::Cow;

use msg_core::Diagnostic;
use pyo3::PyTypeInfo;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::findings;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Checked>()?;
    module.add_class::<Converted>()?;
    module.add_class::<Repaired>()
}

/// Findings, and their Python objects once they were requested.
struct Findings {
    report: Report,
    objects: PyOnceLock<Py<PyTuple>>,
}

enum Report {
    Check(msg_document::Checked),
    Repair(msg_document::Repaired),
    Convert(msg_document::Converted),
    /// The line that one of them is, of an answer that was pickled.
    Line(Option<String>),
}

impl Findings {
    fn of(report: Report) -> Self {
        Findings { report, objects: PyOnceLock::new() }
    }

    /// The line of the command line; none where nothing was found.
    fn line(&self) -> Option<String> {
        let (found, line) = match &self.report {
            Report::Line(line) => return line.clone(),
            Report::Check(it) => (&it.diagnostics, it.to_json()),
            Report::Repair(it) if it.edits.is_empty() => (&it.remaining, it.report_json()),
            Report::Repair(it) => (&it.edits, it.report_json()),
            Report::Convert(it) => (&it.edits, it.report_json()),
        };
        (!found.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned())
    }

    /// A tuple of diagnostics: those that the line has in the member `name`.
    fn objects(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyTuple>> {
        let made = self.objects.get_or_try_init(py, || self.made(py, name));
        made.map(|it| it.clone_ref(py))
    }

    /// As [`Findings::objects`], made each time: of a member that few ask for.
    fn made(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyTuple>> {
        let found = match &self.report {
            Report::Line(None) => &[][..],
            Report::Line(Some(line)) => {
                return Ok(findings::diagnostics(py, line, name)?.unbind());
            }
            Report::Check(it) => &it.diagnostics,
            Report::Repair(it) if name == "remaining" => &it.remaining,
            Report::Repair(it) => &it.edits,
            Report::Convert(it) => &it.edits,
        };
        Ok(findings::tuple(py, found)?.unbind())
    }
}

/// The answer of `check`. True iff no finding is an error.
#[pyclass(module = "msg", frozen)]
pub(crate) struct Checked {
    /// No finding is an error.
    #[pyo3(get)]
    ok: bool,
    /// The format that was read.
    #[pyo3(get)]
    format: Cow<'static, str>,
    /// How many messages were read.
    #[pyo3(get)]
    messages: usize,
    findings: Findings,
}

impl From<msg_document::Checked> for Checked {
    fn from(it: msg_document::Checked) -> Self {
        let (ok, format, messages) = (it.ok, it.format.name().into(), it.messages);
        Checked { ok, format, messages, findings: Findings::of(Report::Check(it)) }
    }
}

#[pymethods]
impl Checked {
    /// What `case Checked(…)` compares, in order.
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("ok", "format", "messages")
    }

    #[new]
    #[pyo3(signature = (ok, format, messages, line=None))]
    fn new(ok: bool, format: String, messages: usize, line: Option<String>) -> Self {
        Checked { ok, format: format.into(), messages, findings: Findings::of(Report::Line(line)) }
    }

    /// The findings, in the order of the document.
    #[getter]
    fn diagnostics(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        self.findings.objects(py, "diagnostics")
    }

    /// The line of `msg check --jsonl --json`; none where nothing was found.
    #[getter]
    fn _line(&self) -> Option<String> {
        self.findings.line()
    }

    /// What `msg check --jsonl --json` prints: plain values, for logs.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = self.diagnostics(py)?.into_bound(py);
        let found = found.iter().map(|it| it.call_method0("to_dict"));
        let dict = PyDict::new(py);
        dict.set_item("ok", self.ok)?;
        dict.set_item("format", &*self.format)?;
        dict.set_item("messages", self.messages)?;
        dict.set_item("diagnostics", found.collect::<PyResult<Vec<_>>>()?)?;
        Ok(dict.into_any())
    }

    fn __bool__(&self) -> bool {
        self.ok
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let found = self.diagnostics(py)?.into_bound(py);
        let lines: Vec<String> =
            found.try_iter()?.map(|it| Ok(it?.str()?.to_string())).collect::<PyResult<_>>()?;
        Ok(match lines.is_empty() {
            true => format!("{} messages, nothing wrong", self.messages),
            false => lines.join("\n"),
        })
    }

    fn __repr__(&self) -> String {
        let ok = if self.ok { "True" } else { "False" };
        format!("Checked(ok={ok}, format='{}', messages={})", self.format, self.messages)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Checked>().is_ok_and(|it| self.fields() == it.get().fields())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.fields().into_pyobject(py)?.hash()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        Ok((Checked::type_object(py).into_any(), self.fields().into_pyobject(py)?))
    }
}

impl Checked {
    fn fields(&self) -> (bool, &str, usize, Option<String>) {
        (self.ok, &self.format, self.messages, self._line())
    }
}

/// The answer of `repair`.
#[pyclass(module = "msg", frozen, generic)]
pub(crate) struct Repaired {
    /// The mended document, of the kind of the one that was given.
    #[pyo3(get)]
    document: Py<PyAny>,
    /// Whether anything was mended.
    #[pyo3(get)]
    changed: bool,
    findings: Findings,
}

impl Repaired {
    /// The input itself, for nothing was mended.
    pub(crate) fn unchanged(document: &Bound<'_, PyAny>) -> Self {
        Repaired::new(document.clone().unbind(), false, None)
    }

    /// A document that was mended so.
    pub(crate) fn mended(document: Bound<'_, PyAny>, edits: Vec<Diagnostic>) -> Self {
        let (empty, remaining) = (Vec::new(), Vec::new());
        let changed = true;
        let format = msg_document::Format::default();
        let it = msg_document::Repaired {
            document: empty,
            format,
            changed,
            messages: 0,
            edits,
            remaining,
        };
        Repaired::of(document, it)
    }

    /// What a repair gave, with the document as an object.
    pub(crate) fn of(document: Bound<'_, PyAny>, it: msg_document::Repaired) -> Self {
        let changed = it.changed;
        if !changed && it.remaining.is_empty() {
            return Repaired::unchanged(&document);
        }
        let it = msg_document::Repaired { document: Vec::new(), ..it };
        Repaired {
            document: document.unbind(),
            changed,
            findings: Findings::of(Report::Repair(it)),
        }
    }
}

#[pymethods]
impl Repaired {
    /// What `case Repaired(…)` compares, in order.
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("document", "changed")
    }

    #[new]
    #[pyo3(signature = (document, changed, line=None))]
    fn new(document: Py<PyAny>, changed: bool, line: Option<String>) -> Self {
        Repaired { document, changed, findings: Findings::of(Report::Line(line)) }
    }

    /// What was changed, and why.
    #[getter]
    fn edits(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        self.findings.objects(py, "edits")
    }

    /// The errors that stay, because nothing mends them.
    #[getter]
    fn remaining(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        self.findings.made(py, "remaining")
    }

    /// The line of `msg repair --jsonl --report`; none where nothing was changed.
    #[getter]
    fn _line(&self) -> Option<String> {
        self.findings.line()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let changed = if self.changed { "True" } else { "False" };
        Ok(format!("Repaired(document={}, changed={changed})", self.document.bind(py).repr()?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Repaired>() else { return Ok(false) };
        let it = other.get();
        Ok((self.changed, self._line()) == (it.changed, it._line())
            && self.document.bind(other.py()).eq(&it.document)?)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let fields = (&self.document, self.changed, self._line());
        Ok((Repaired::type_object(py).into_any(), fields.into_pyobject(py)?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.document)
    }
}

/// The answer of `convert`.
#[pyclass(module = "msg", frozen, generic)]
pub(crate) struct Converted {
    /// The document in the other format, of the kind of the one that was given.
    #[pyo3(get)]
    document: Py<PyAny>,
    findings: Findings,
}

impl Converted {
    /// What a conversion gave, with the document as an object.
    pub(crate) fn of(document: Bound<'_, PyAny>, it: msg_document::Converted) -> Self {
        let it = msg_document::Converted { document: Vec::new(), ..it };
        Converted { document: document.unbind(), findings: Findings::of(Report::Convert(it)) }
    }
}

#[pymethods]
impl Converted {
    /// What `case Converted(…)` compares, in order.
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("document",)
    }

    #[new]
    #[pyo3(signature = (document, line=None))]
    fn new(document: Py<PyAny>, line: Option<String>) -> Self {
        Converted { document, findings: Findings::of(Report::Line(line)) }
    }

    /// What the other format cannot hold.
    #[getter]
    fn edits(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        self.findings.objects(py, "edits")
    }

    /// The line of `msg convert --jsonl --report`; none where nothing was lost.
    #[getter]
    fn _line(&self) -> Option<String> {
        self.findings.line()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let edits = self.edits(py)?.bind(py).len();
        Ok(format!("Converted(document={}, edits={edits})", self.document.bind(py).repr()?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Converted>() else { return Ok(false) };
        let it = other.get();
        Ok(self._line() == it._line() && self.document.bind(other.py()).eq(&it.document)?)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let fields = (&self.document, self._line());
        Ok((Converted::type_object(py).into_any(), fields.into_pyobject(py)?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.document)
    }
}
