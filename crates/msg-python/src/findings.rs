//! Findings as objects, made in Rust of the findings of a check: nothing goes through JSON (PY-7).
//!
//! ```text
//! Diagnostic(code='chain::orphan-tool-result', severity='error', at=Position(message=1), …)
//! ```

use msg_core::{Code, Severity};
use pyo3::PyTypeInfo;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::objects;
use crate::options::unreadable;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Position>()?;
    module.add_class::<Diagnostic>()?;
    module.add_function(wrap_pyfunction!(diagnostics, module)?)
}

/// Where a finding is; members that do not apply are `None`. Messages and parts count from 0, lines and columns from
/// 1; `start` and `end` are bytes.
#[pyclass(module = "msg", frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Position(msg_core::Position);

type Number = Option<usize>;
type Fields<'a> = (
    Number,
    Number,
    Number,
    Number,
    Option<&'a str>,
    Number,
    Number,
    Number,
    Number,
    Option<&'a str>,
);

const PLACES: [&str; 10] = [
    "message",
    "part",
    "other_message",
    "section",
    "tool_call_id",
    "line",
    "column",
    "start",
    "end",
    "pointer",
];

#[pymethods]
impl Position {
    /// What `case Position(…)` compares, in order.
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Py<PyTuple>> {
        Ok(PyTuple::new(py, PLACES)?.unbind())
    }

    #[new]
    #[pyo3(signature = (
        message=None, part=None, other_message=None, section=None, tool_call_id=None,
        line=None, column=None, start=None, end=None, pointer=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        message: Number,
        part: Number,
        other_message: Number,
        section: Number,
        tool_call_id: Option<String>,
        line: Number,
        column: Number,
        start: Number,
        end: Number,
        pointer: Option<String>,
    ) -> Self {
        let mut at = msg_core::Position::default();
        (at.message, at.part, at.other_message, at.section) =
            (message, part, other_message, section);
        (at.line, at.column, at.start, at.end) = (line, column, start, end);
        (at.tool_call_id, at.pointer) = (tool_call_id, pointer);
        Position(at)
    }

    /// Index of the message.
    #[getter]
    fn message(&self) -> Number {
        self.0.message
    }

    /// Index of the part in its message.
    #[getter]
    fn part(&self) -> Number {
        self.0.part
    }

    /// Index of the other message that the sentence names.
    #[getter]
    fn other_message(&self) -> Number {
        self.0.other_message
    }

    /// Index of the section in the tree.
    #[getter]
    fn section(&self) -> Number {
        self.0.section
    }

    /// Id of the tool call concerned.
    #[getter]
    fn tool_call_id(&self) -> Option<&str> {
        self.0.tool_call_id.as_deref()
    }

    /// Line of the document.
    #[getter]
    fn line(&self) -> Number {
        self.0.line
    }

    /// Column in characters.
    #[getter]
    fn column(&self) -> Number {
        self.0.column
    }

    /// First byte.
    #[getter]
    fn start(&self) -> Number {
        self.0.start
    }

    /// The byte after the last.
    #[getter]
    fn end(&self) -> Number {
        self.0.end
    }

    /// Place in the document, as a JSON Pointer.
    #[getter]
    fn pointer(&self) -> Option<&str> {
        self.0.pointer.as_deref()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let fields = self.fields().into_pyobject(py)?;
        let known = PLACES.iter().zip(fields.iter()).filter(|it| !it.1.is_none());
        let known: Vec<_> = known
            .map(|(name, it)| Ok(format!("{name}={}", it.repr()?)))
            .collect::<PyResult<_>>()?;
        Ok(format!("Position({})", known.join(", ")))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Position>().is_ok_and(|it| self.0 == it.get().0)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.fields().into_pyobject(py)?.hash()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        Ok((Position::type_object(py).into_any(), self.fields().into_pyobject(py)?))
    }
}

impl Position {
    /// In the order of [`PLACES`].
    fn fields(&self) -> Fields<'_> {
        let it = &self.0;
        (
            it.message,
            it.part,
            it.other_message,
            it.section,
            it.tool_call_id.as_deref(),
            it.line,
            it.column,
            it.start,
            it.end,
            it.pointer.as_deref(),
        )
    }
}

/// A finding: what is wrong, where, and what would mend it.
#[pyclass(module = "msg", frozen)]
pub(crate) struct Diagnostic(msg_core::Diagnostic);

#[pymethods]
impl Diagnostic {
    /// What `case Diagnostic(…)` compares, in order.
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("code", "severity", "message", "at")
    }

    #[new]
    #[pyo3(signature = (code, severity, message, at=None, fix=None, answer=None))]
    fn new(
        code: String,
        severity: &str,
        message: String,
        at: Option<Position>,
        fix: Option<String>,
        answer: Option<String>,
    ) -> PyResult<Self> {
        let severity = match severity {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            "info" => Severity::Info,
            other => {
                let text = format!("expected error, warning or info, found {other:?}");
                return Err(PyValueError::new_err(text));
            }
        };
        let mut it = msg_core::Diagnostic::new(severity, Code::from(code), message);
        it.at = at.map(|it| it.0).unwrap_or_default();
        (it.fix, it.answer) = (fix.map(Into::into), answer.map(Into::into));
        Ok(Diagnostic(it))
    }

    /// The stable name of the finding: `area::kebab-case`.
    #[getter]
    fn code<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::intern(py, self.0.code.as_str())
    }

    /// `error`, `warning` or `info`.
    #[getter]
    fn severity<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::intern(py, self.0.severity.as_str())
    }

    /// One sentence for people.
    #[getter]
    fn message<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.message())
    }

    /// Where it is.
    #[getter]
    fn at(&self) -> Position {
        Position(self.0.at.clone())
    }

    /// The edit that was made, or that would mend it.
    #[getter]
    fn fix(&self) -> Option<&str> {
        self.0.fix.as_deref()
    }

    /// What the provider would answer, in its own words.
    #[getter]
    fn answer(&self) -> Option<&str> {
        self.0.answer.as_deref()
    }

    /// What the program prints with `--json`: plain values, for logs.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let json = serde_json::to_vec(&self.0).map_err(|it| unreadable(py, &it.to_string()))?;
        objects::objects(py, &json, None)
    }

    fn __str__(&self) -> String {
        let it = &self.0;
        let place = it.at.message.map(|it| format!(" (message {it})")).unwrap_or_default();
        let fix = it.fix.as_deref().map(|it| format!("; {it}")).unwrap_or_default();
        format!("{it}{place}{fix}")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (code, severity) = (self.code(py).repr()?, self.severity(py).repr()?);
        let (message, at) = (self.message(py).repr()?, self.at().__repr__(py)?);
        let fix = self.fix().into_pyobject(py)?;
        let fix = if fix.is_none() { String::new() } else { format!(", fix={}", fix.repr()?) };
        Ok(format!("Diagnostic(code={code}, severity={severity}, message={message}, at={at}{fix})"))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Diagnostic>().is_ok_and(|it| self.0 == it.get().0)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.code(py), self.message(py), self.at().__hash__(py)?).into_pyobject(py)?.hash()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let it = (
            self.code(py),
            self.severity(py),
            self.message(py),
            self.at(),
            self.fix(),
            self.answer(),
        );
        Ok((Diagnostic::type_object(py).into_any(), it.into_pyobject(py)?))
    }
}

/// Findings as a tuple of objects.
pub(crate) fn tuple<'py>(
    py: Python<'py>,
    found: &[msg_core::Diagnostic],
) -> PyResult<Bound<'py, PyTuple>> {
    let objects = found.iter().map(|it| Bound::new(py, Diagnostic(it.clone())));
    PyTuple::new(py, objects.collect::<PyResult<Vec<_>>>()?)
}

/// The findings that a line of the command line has in a member: a list, or one.
#[pyfunction]
pub(crate) fn diagnostics<'py>(
    py: Python<'py>,
    line: &str,
    member: &str,
) -> PyResult<Bound<'py, PyTuple>> {
    let bad = |err: serde_json::Error| unreadable(py, &err.to_string());
    let mut line: serde_json::Value = serde_json::from_str(line).map_err(bad)?;
    let found = match line.get_mut(member).map(serde_json::Value::take) {
        None => Vec::new(),
        Some(serde_json::Value::Array(list)) => list,
        Some(one) => vec![one],
    };
    let found = found.into_iter().map(serde_json::from_value).collect::<Result<Vec<_>, _>>();
    tuple(py, &found.map_err(bad)?)
}
