//! Sessions that agents left on disk, diagnosed and mended without a file: the records in, the records out (RE-22).

use msg_core::Diagnostic;
use msg_session::{Blob, Dialect, Session, SessionOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::errors::{bad_option, guarded, unreadable};
use crate::input::Input;
use crate::options::{self, Act};
use crate::{findings, known, output};

const DOCTOR: Act = Act::new("doctor", known::DOCTOR);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(doctor, module)?)
}

/// `(agent, document, changed, findings)`. Findings have `fix` in the past where it was done.
#[pyfunction]
#[pyo3(signature = (session, agent=None, options=None))]
fn doctor<'py>(
    py: Python<'py>,
    session: &Bound<'py, PyAny>,
    agent: Option<&str>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<(&'static str, Bound<'py, PyAny>, bool, Bound<'py, PyTuple>)> {
    let options = options::of::<SessionOptions>(DOCTOR, options, py)?;
    let input = Input::of(session)?;
    let bytes = match &input {
        Input::Objects(walked) if session.is_instance_of::<PyList>() => walked.lines(),
        other => other.json().to_vec(),
    };
    let blobs = vec![Blob::new("session.jsonl", bytes.clone())];
    let opened = match agent.map(|it| (it, it.parse::<Dialect>())) {
        Some((name, Err(_))) => {
            return Err(bad_option(py, &format!("agent: no agent is called {name:?}")));
        }
        Some((_, Ok(dialect))) => Session::named(dialect, blobs),
        None => Session::recognise(blobs),
    };
    let mended = guarded(py, || {
        Ok(py.detach(|| {
            let mut session = opened?;
            let found = session.repair(&options)?;
            Ok::<_, msg_session::Error>((session.dialect().name(), found, session.into_blobs()))
        }))
    })?;
    let (name, found, blobs) = mended.map_err(|it| unreadable(py, &it.to_string()))?;
    let written = blobs.into_iter().next().map(|it| it.bytes).unwrap_or_default();
    let changed = written != bytes;
    let found: Vec<_> = found.iter().map(Diagnostic::from).collect();
    let found = findings::tuple(py, &found)?;
    let document = match changed {
        false => session.clone(),
        true => records(py, &input, &written)?,
    };
    Ok((name, document, changed, found))
}

/// A mended session, of the kind of the input: unchanged records are the caller's own objects.
fn records<'py>(
    py: Python<'py>,
    input: &Input<'_, 'py>,
    written: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let Input::Objects(walked) = input else { return output::like(py, input, written) };
    if walked.elements.is_empty() {
        return output::like(py, input, written);
    }
    let lines: Vec<&[u8]> =
        written.split(|it| *it == b'\n').filter(|it| !it.trim_ascii().is_empty()).collect();
    output::objects(py, &[b"[", lines.join(&b","[..]).as_slice(), b"]"].concat(), Some(walked))
}
