//! The functions over one document. Each gives plain values; the classes that people see are made in Python.

use msg_document::{
    CheckOptions, Checked, ConvertOptions, Digest, Document, FitOptions, Fitter, Format, KeyOptions,
    ReadOptions, Refusal, RepairOptions, Repaired, WriteOptions,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::errors::{guarded, refused};
use crate::input::{Input, Walked};
use crate::shortened::needs_whole_texts;
use crate::{options, output};

/// Documents of more bytes than this are worked on without the GIL: releasing it costs half a microsecond.
const RELEASE_FROM: usize = 2048;

/// The document, whether it changed, and the line of the edits.
type Repair<'py> = (Bound<'py, PyAny>, bool, Bound<'py, PyString>);

type Options<'a, 'py> = Option<&'a Bound<'py, PyDict>>;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(is_valid, module)?)?;
    module.add_function(wrap_pyfunction!(repair, module)?)?;
    module.add_function(wrap_pyfunction!(convert, module)?)?;
    module.add_function(wrap_pyfunction!(stats, module)?)?;
    module.add_function(wrap_pyfunction!(tokens, module)?)?;
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(messages, module)?)?;
    module.add_function(wrap_pyfunction!(join, module)?)?;
    module.add_function(wrap_pyfunction!(key, module)?)?;
    module.add_function(wrap_pyfunction!(prefix_keys, module)?)?;
    module.add_function(wrap_pyfunction!(recognise, module)?)?;
    module.add_function(wrap_pyfunction!(formats, module)?)
}

/// Works on a document, without the GIL if it is large; a panic is an `InternalError`.
fn work<T: Send>(
    py: Python<'_>,
    json: &[u8],
    act: impl FnOnce(&[u8]) -> Result<T, Refusal> + Send,
) -> PyResult<T> {
    let answer = guarded(py, || {
        Ok(if json.len() > RELEASE_FROM { py.detach(|| act(json)) } else { act(json) })
    })?;
    answer.map_err(|it| refused(py, &it))
}

fn text<'py>(py: Python<'py>, json: &[u8]) -> Bound<'py, PyString> {
    PyString::new(py, &String::from_utf8_lossy(json))
}

/// `(ok, format, messages, line)`; the line is `None` where nothing was found.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn check<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<(bool, &'static str, usize, Option<Bound<'py, PyString>>)> {
    let options = options::of::<CheckOptions>(options, py)?;
    // The rules of single messages count characters.
    let short = options.messages.is_none().then(|| short(document, &options.read)).transpose()?;
    let short = short.flatten().map(|(_, it)| it.check(&options)).map(|it| (said(&it), it));
    let (line, it) = match short.filter(|it| !it.0.as_deref().is_some_and(needs_whole_texts)) {
        Some(answer) => answer,
        None => {
            let input = Input::of(document)?;
            let it = work(py, input.json(), |json| msg_document::check(json, &options))?;
            (said(&it), it)
        }
    };
    Ok((it.ok, it.format.name(), it.messages, line.map(|it| PyString::new(py, &it))))
}

/// The line of a check, where anything was found.
fn said(checked: &Checked) -> Option<String> {
    (!checked.diagnostics.is_empty())
        .then(|| String::from_utf8_lossy(&checked.to_json()).into_owned())
}

/// Objects without the middles of their long texts, and the document that they are. Nothing where only whole texts can
/// be judged: where texts hold calls, and where reading fails, which says at which byte.
fn short<'py>(
    document: &Bound<'py, PyAny>,
    read: &ReadOptions,
) -> PyResult<Option<(Walked<'py>, Document)>> {
    let Some(walked) = Walked::shortened(document, read.max_bytes)? else { return Ok(None) };
    let Ok(mut document) = Document::read(&walked.json, read) else { return Ok(None) };
    document.say_who_made_it(read.made_by.as_ref());
    Ok(Some((walked, document)).filter(|it| !it.1.has_text_calls()))
}

/// Whether a check would find no error; stops at the first.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn is_valid(
    py: Python<'_>,
    document: &Bound<'_, PyAny>,
    options: Options<'_, '_>,
) -> PyResult<bool> {
    let options = options::of::<CheckOptions>(options, py)?;
    let input = Input::of(document)?;
    work(py, input.json(), |json| msg_document::is_valid(json, &options))
}

/// `(document, changed, line)`: the document is of the kind of the input, and the input itself where nothing
/// changed.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn repair<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<Repair<'py>> {
    let options = options::of::<RepairOptions>(options, py)?;
    if let Some(answer) = short_repair(py, document, &options)? {
        return Ok(answer);
    }
    let input = Input::of(document)?;
    let it = work(py, input.json(), |json| msg_document::repair(json, &options))?;
    let line = text(py, &it.report_json());
    if !it.changed {
        return Ok((document.clone(), false, line));
    }
    Ok((output::like(py, &input, &it.document)?, true, line))
}

/// As [`repair`], without the middles of long texts, if that can be done.
fn short_repair<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: &RepairOptions,
) -> PyResult<Option<Repair<'py>>> {
    let Some((walked, mut read)) = short(document, &options.read)? else { return Ok(None) };
    let edits = read.repair(options);
    if edits.is_empty() {
        return Ok(Some((document.clone(), false, PyString::new(py, "{\"edits\":[]}"))));
    }
    let mut json = Vec::with_capacity(walked.json.len());
    read.write(&WriteOptions::default(), &mut json);
    let messages = read.messages().len();
    let line = Repaired { document: json, changed: true, messages, edits };
    let report = String::from_utf8_lossy(&line.report_json()).into_owned();
    if needs_whole_texts(&report) {
        return Ok(None);
    }
    let mended = output::objects(py, &line.document, Some(&walked))?;
    Ok(Some((mended, true, PyString::new(py, &report))))
}

/// `(document, line)` in another format.
#[pyfunction]
#[pyo3(signature = (document, to, options=None))]
fn convert<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    to: &str,
    options: Options<'_, 'py>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyString>)> {
    let options = options::of::<ConvertOptions>(options, py)?;
    let to: Format = to.parse().map_err(|it| refused(py, &it))?;
    let input = Input::of(document)?;
    let it = work(py, input.json(), |json| msg_document::convert(json, to, &options))?;
    Ok((output::like(py, &input, &it.document)?, text(py, &it.report_json())))
}

/// The line of `msg stats --json`.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn stats<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<Bound<'py, PyString>> {
    let options = options::of::<FitOptions>(options, py)?;
    let input = Input::of(document)?;
    let it = work(py, input.json(), |json| msg_document::stats(json, &options))?;
    Ok(text(py, &it.to_json()))
}

/// How many tokens a document costs.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn tokens(
    py: Python<'_>,
    document: &Bound<'_, PyAny>,
    options: Options<'_, '_>,
) -> PyResult<u64> {
    let options = options::of::<FitOptions>(options, py)?;
    let input = Input::of(document)?;
    work(py, input.json(), |json| msg_document::tokens(json, &options))
}

/// `(document, fits, line)`; no document where it does not fit. Summaries are digests: no model is asked.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn fit<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<(Option<Bound<'py, PyAny>>, bool, Bound<'py, PyString>)> {
    let fitter = options::of::<Fitter>(options, py)?;
    let input = Input::of(document)?;
    let mut it = work(py, input.json(), |json| fitter.answer(json, &Digest))?;
    let line = text(py, &it.to_json());
    let fits = it.is_clean();
    let fitted = it.take_document().map(|json| output::like(py, &input, &json)).transpose()?;
    Ok((fitted, fits, line))
}

/// The messages as rows, each the JSON of one.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn messages<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<Bound<'py, PyList>> {
    let options = options::of::<CheckOptions>(options, py)?;
    let input = Input::of(document)?;
    let rows = work(py, input.json(), |json| msg_document::messages(json, &options.read))?;
    let list = PyList::empty(py);
    for row in &rows {
        list.append(output::objects(py, &row.to_json(), None)?)?;
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
    let (first, second) =
        (input.map(|it| Input::of(it)).transpose()?, answer.map(|it| Input::of(it)).transpose()?);
    let (a, b) = (first.as_ref().map(|it| it.json()), second.as_ref().map(|it| it.json()));
    let joined = guarded(py, || Ok(msg_document::join(a, b, &ReadOptions::default())))?;
    let joined = joined.map_err(|it| refused(py, &it))?;
    let Some(kind) = first.as_ref().or(second.as_ref()) else { return Ok(None) };
    joined.map(|json| output::like(py, kind, &json)).transpose()
}

/// The key of a conversation for deduplication: 16 bytes.
#[pyfunction]
#[pyo3(signature = (document, options=None))]
fn key<'py>(
    py: Python<'py>,
    document: &Bound<'py, PyAny>,
    options: Options<'_, 'py>,
) -> PyResult<Bound<'py, PyBytes>> {
    let options = options::of::<KeyOptions>(options, py)?;
    let input = Input::of(document)?;
    let key = work(py, input.json(), |json| msg_document::key(json, &options))?;
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
    let options = options::of::<KeyOptions>(options, py)?;
    let input = Input::of(document)?;
    let keys = work(py, input.json(), |json| msg_document::prefix_keys(json, &options.read))?;
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
