//! The functions over one document, over the log of a program's requests (what a prompt cache still reads of each, and what
//! that costs), and over the session that an agent left on disk: its records in, its records out (RE-22).
//!
//! Each gives plain values; the classes that people see are made in Python.

use msg_cache::{Error, Ledger, LedgerOptions};
use msg_core::Diagnostic;
use msg_document::{
    CheckOptions, ConvertOptions, Fitter, Format, KeyOptions, ObjectWriter, ReadOptions, Refusal,
    RepairOptions, StatsOptions, to_json,
};
use msg_json::RawJson;
use msg_session::{Blob, Dialect, Session, SessionOptions};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyList, PyString, PyTuple},
};

use crate::input::Input;
use crate::options::{Act, bad_option, guarded, refused, unreadable};
use crate::reports::{Checked, Converted, Repaired};
use crate::{findings, input, known, objects, options};

/// Documents of more bytes than this are worked on without the GIL: releasing it costs half a microsecond.
const RELEASE_FROM: usize = 2048;

type Options<'a, 'py> = Option<&'a Bound<'py, PyDict>>;

pub(crate) const CHECK: Act = Act::new("check", known::CHECK);
pub(crate) const IS_VALID: Act = Act::new("is_valid", known::CHECK);
pub(crate) const REPAIR: Act = Act::new("repair", known::REPAIR);
pub(crate) const CONVERT: Act = Act::new("convert", known::CONVERT);
pub(crate) const STATS: Act = Act::new("stats", known::STATS);
pub(crate) const TOKENS: Act = Act::new("tokens", known::STATS);
pub(crate) const FIT: Act = Act::new("fit", known::FIT);
pub(crate) const FIT_REQUESTS: Act = Act::new("fit_requests", known::FIT);
pub(crate) const MESSAGES: Act = Act::new("messages", known::READ);
pub(crate) const KEY: Act = Act::new("key", known::KEY);
pub(crate) const PREFIX_KEYS: Act = Act::new("prefix_keys", known::READ);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(is_valid, module)?)?;
    module.add_function(wrap_pyfunction!(repair, module)?)?;
    module.add_function(wrap_pyfunction!(convert, module)?)?;
    module.add_function(wrap_pyfunction!(stats, module)?)?;
    module.add_function(wrap_pyfunction!(tokens, module)?)?;
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(fit_requests, module)?)?;
    module.add_function(wrap_pyfunction!(messages, module)?)?;
    module.add_function(wrap_pyfunction!(join, module)?)?;
    module.add_function(wrap_pyfunction!(key, module)?)?;
    module.add_function(wrap_pyfunction!(prefix_keys, module)?)?;
    module.add_function(wrap_pyfunction!(recognise, module)?)?;
    module.add_function(wrap_pyfunction!(formats, module)?)?;
    module.add_function(wrap_pyfunction!(doctor, module)?)?;
    module.add_class::<CacheLedger>()
}

/// Works on a document, without the GIL if it is large; a panic is an `InternalError`.
fn work<T: Send>(
    py: Python<'_>,
    input: &Input<'_, '_>,
    act: impl FnOnce(&[u8]) -> Result<T, Refusal> + Send,
) -> PyResult<T> {
    let json = input.json();
    let answer = guarded(py, || {
        Ok(if json.len() > RELEASE_FROM { py.detach(|| act(json)) } else { act(json) })
    })?;
    answer.map_err(|it| refused_input(py, it, input))
}

/// A refusal of objects names no bytes: the caller has written none.
fn refused_input(py: Python<'_>, refusal: Refusal, input: &Input<'_, '_>) -> PyErr {
    match input {
        Input::Objects(_) => refused(py, &without_bytes(refusal)),
        Input::Text(_) | Input::Bytes(_) => refused(py, &refusal),
    }
}

fn without_bytes(refusal: Refusal) -> Refusal {
    let mut it = refusal.into_diagnostic();
    (it.at.start, it.at.end, it.at.line, it.at.column) = (None, None, None, None);
    let message = it.message();
    if let Some((before, rest)) = message.split_once(" at byte ") {
        it.set_message(format!(
            "{before}{}",
            rest.trim_start_matches(|it: char| it.is_ascii_digit())
        ));
    }
    it.into()
}

fn text<'py>(py: Python<'py>, json: &[u8]) -> Bound<'py, PyString> {
    PyString::new(py, &String::from_utf8_lossy(json))
}

/// Every problem of a document.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn check(
    py: Python<'_>,
    document: &Bound<'_, PyAny>,
    options: Options<'_, '_>,
) -> PyResult<Checked> {
    let options = options::of::<CheckOptions>(CHECK, options, py)?;
    let judge = || objects::skeleton(document, &options.read)?.check(&options);
    if let Some(checked) = guarded(py, || Ok(judge()))? {
        return Ok(checked.into());
    }
    let input = Input::of(document)?;
    Ok(work(py, &input, |json| msg_document::check(json, &options))?.into())
}

/// Whether a check would find no error; stops at the first.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn is_valid(
    py: Python<'_>,
    document: &Bound<'_, PyAny>,
    options: Options<'_, '_>,
) -> PyResult<bool> {
    let options = options::of::<CheckOptions>(IS_VALID, options, py)?;
    let input = Input::of(document)?;
    work(py, &input, |json| msg_document::is_valid(json, &options))
}

/// The mended document, of the kind of the input, and the input itself where nothing changed.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn repair(
    py: Python<'_>,
    document: &Bound<'_, PyAny>,
    options: Options<'_, '_>,
) -> PyResult<Repaired> {
    let options = options::of::<RepairOptions>(REPAIR, options, py)?;
    if let Some(answer) = guarded(py, || repair_in_place(document, &options))? {
        return Ok(answer);
    }
    let input = Input::of(document)?;
    let it = work(py, &input, |json| msg_document::repair(json, &options))?;
    let mended = match it.changed {
        true => objects::like(py, &input, &it.document)?,
        false => document.clone(),
    };
    Ok(Repaired::of(mended, it))
}

/// As [`repair`], without a text of the objects, if that can be done.
fn repair_in_place(
    document: &Bound<'_, PyAny>,
    options: &RepairOptions,
) -> PyResult<Option<Repaired>> {
    let Some(it) = objects::skeleton(document, &options.read) else { return Ok(None) };
    let own = objects::messages(document)?;
    let whole = |ats: &[usize]| input::list_of(&own, ats).ok();
    let Some((messages, edits)) = it.repair(options, whole) else { return Ok(None) };
    if edits.is_empty() {
        return Ok(Some(Repaired::unchanged(document)));
    }
    let document = objects::mended(document, &own, &messages)?;
    Ok(Some(Repaired::mended(document, edits)))
}

/// The document in another format, of the kind of the input.
#[pyfunction]
#[pyo3(signature = (document, to, options=None))]
fn convert<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    to: &str,
    options: Options<'_, 'py>,
) -> PyResult<Converted> {
    let options = options::of::<ConvertOptions>(CONVERT, options, py)?;
    let to: Format = to.parse().map_err(|it| refused(py, &it))?;
    let input = Input::of(document)?;
    let it = work(py, &input, |json| msg_document::convert(json, to, &options))?;
    Ok(Converted::of(objects::like(py, &input, &it.document)?, it))
}

/// The line of `msg stats --json`.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn stats<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<Bound<'py, PyString>> {
    let options = options::of::<StatsOptions>(STATS, options, py)?;
    let input = Input::of(document)?;
    let it = work(py, &input, |json| msg_document::stats(json, &options))?;
    Ok(text(py, &it.to_json()))
}

/// How many tokens a document costs.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn tokens(py: Python<'_>, document: &Bound<'_, PyAny>, options: Options<'_, '_>) -> PyResult<u64> {
    let options = options::of::<StatsOptions>(TOKENS, options, py)?;
    let input = Input::of(document)?;
    work(py, &input, |json| msg_document::tokens(json, &options))
}

/// `(document, fits, report)`; no document where it does not fit. Summaries are the answers that are given, else
/// digests: no model is asked.
#[pyfunction]
#[pyo3(signature = (document, options=None, answers=Vec::new()))]
fn fit<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
    answers: Vec<Option<String>>,
) -> PyResult<(Option<Bound<'py, PyAny>>, bool, Bound<'py, PyString>)> {
    let fitter = options::of::<Fitter>(FIT, options, py)?;
    let input = Input::of(document)?;
    let mut it = work(py, &input, |json| fitter.answer(json, &answers))?;
    let report = text(py, &without_document(&it.to_json()));
    let fits = it.is_clean();
    let fitted = it.take_document().map(|json| objects::like(py, &input, &json)).transpose()?;
    Ok((fitted, fits, report))
}

/// The line of `msg fit --jsonl` without the conversation, which the answer has as a document: it may nest deeper than a
/// reader of Python goes.
fn without_document(line: &[u8]) -> Vec<u8> {
    let members = RawJson::new(String::from_utf8_lossy(line)).ok().and_then(|it| it.members());
    let Some(members) = members else { return line.to_vec() };
    let rest = members.iter().filter(|it| !matches!(it.0.as_str(), "messages" | "document"));
    rest.fold(ObjectWriter::new(), |out, it| out.raw(&it.0, it.1.text().as_bytes())).finish()
}

/// What would be asked for to make a document fit.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn fit_requests<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<Bound<'py, PyList>> {
    let fitter = options::of::<Fitter>(FIT_REQUESTS, options, py)?;
    let input = Input::of(document)?;
    let requests = work(py, &input, |json| fitter.requests(json))?;
    let list = PyList::empty(py);
    for it in &requests {
        list.append(objects::objects(py, it.as_bytes(), None)?)?;
    }
    Ok(list)
}

/// The messages as rows, each the JSON of one.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn messages<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<Bound<'py, PyList>> {
    let options = options::of::<ReadOptions>(MESSAGES, options, py)?;
    let input = Input::of(document)?;
    let rows = work(py, &input, |json| msg_document::messages(json, &options))?;
    let list = PyList::empty(py);
    for row in &rows {
        list.append(objects::objects(py, &row.to_json(), None)?)?;
    }
    Ok(list)
}

/// One conversation of a request and its answer, in the kind of the first that is given.
#[pyfunction]
#[pyo3(signature = (input, answer))]
fn join<'py>(
    py: Python<'py>,
    input: Option<&Bound<'py, PyAny>>,
    answer: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (first, second) = (input.map(Input::of).transpose()?, answer.map(Input::of).transpose()?);
    let (a, b) = (first.as_ref().map(|it| it.json()), second.as_ref().map(|it| it.json()));
    let joined = guarded(py, || Ok(msg_document::join(a, b, &ReadOptions::default())))?;
    let Some(kind) = first.as_ref().or(second.as_ref()) else { return Ok(None) };
    let joined = joined.map_err(|it| refused_input(py, it, kind))?;
    joined.map(|json| objects::like(py, kind, &json)).transpose()
}

/// The key of a conversation for deduplication: 16 bytes.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn key<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<Bound<'py, PyBytes>> {
    let options = options::of::<KeyOptions>(KEY, options, py)?;
    let input = Input::of(document)?;
    let key = work(py, &input, |json| msg_document::key(json, &options))?;
    Ok(PyBytes::new(py, &key.bytes()))
}

/// The keys of all prefixes that end with an assistant message.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn prefix_keys<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<Bound<'py, PyList>> {
    let options = options::of::<ReadOptions>(PREFIX_KEYS, options, py)?;
    let input = Input::of(document)?;
    let keys = work(py, &input, |json| msg_document::prefix_keys(json, &options))?;
    PyList::new(py, keys.iter().map(|it| PyBytes::new(py, &it.bytes())))
}

/// The format of a document; none where it is none.
#[pyfunction]
fn recognise(document: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    let input = Input::of(document)?;
    // Recognition says what a document would be; whether it is one, reading says.
    Ok(msg_document::check(input.json(), &CheckOptions::default()).ok().map(|it| it.format.name()))
}

/// The names of the formats that are read.
#[pyfunction]
fn formats() -> Vec<&'static str> {
    Format::all().map(|it| it.name()).collect()
}

const LEDGER: Act = Act::new("CacheLedger", known::CACHE);

/// Compares each request with the one that it goes on from.
#[pyclass(module = "msg._msg")]
struct CacheLedger {
    ledger: Ledger,
    line: usize,
}

#[pymethods]
impl CacheLedger {
    #[new]
    #[pyo3(signature = (options=None))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = options::of::<LedgerOptions>(LEDGER, options, py)?;
        Ok(Self { ledger: Ledger::new((*options).clone()), line: 0 })
    }

    /// The row of a request, as `msg cache --json` prints it.
    fn push<'py>(
        &mut self,
        py: Python<'py>,
        request: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let input = Input::of(request)?;
        self.line += 1;
        let row = guarded(py, || Ok(self.ledger.push(input.json())))?;
        let row = row.map_or_else(|it| bad_row(self.line, &it), |it| to_json(&it));
        objects::objects(py, &row, None)
    }

    /// What the requests so far add up to.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        objects::objects(py, &to_json(&self.ledger.totals()), None)
    }
}

fn bad_row(line: usize, error: &Error) -> Vec<u8> {
    let error = ObjectWriter::new().with("code", &error.code()).with("message", &error.to_string());
    ObjectWriter::new().with("line", &line).raw("error", &error.finish()).finish()
}

const DOCTOR: Act = Act::new("doctor", known::DOCTOR);

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
            let known = Dialect::ALL.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
            let text = format!("agent: no agent is called {name:?}, expected {known}");
            return Err(bad_option(py, &text));
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
    let Input::Objects(walked) = input else { return objects::like(py, input, written) };
    if walked.elements.is_empty() {
        return objects::like(py, input, written);
    }
    let lines: Vec<&[u8]> =
        written.split(|it| *it == b'\n').filter(|it| !it.trim_ascii().is_empty()).collect();
    objects::objects(py, &[b"[", lines.join(&b","[..]).as_slice(), b"]"].concat(), Some(walked))
}
