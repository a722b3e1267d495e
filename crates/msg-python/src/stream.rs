//! What comes in pieces (PY-16): model text with tool calls, and captured or live streams of providers. No I/O, so
//! that asynchronous code can use it too.

use std::sync::Arc;

use msg_core::{CountingIds, StreamEvent};
use msg_document::{CaptureOptions, StreamRun, ToolsOptions};
use msg_xml::{Event, ParseOptions, StreamParser};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::input::{Input, is_mapping, is_model};
use crate::options::{Act, guarded, refused};
use crate::{known, objects, options};

pub(crate) const TOOLS: Act = Act::new("tools", known::TOOLS);
const TOOL_PARSER: Act = Act::new("ToolParser", known::TOOLS);
pub(crate) const STREAM: Act = Act::new("stream", known::STREAM);
const STREAM_ASSEMBLER: Act = Act::new("StreamAssembler", known::STREAM);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(tools, module)?)?;
    module.add_function(wrap_pyfunction!(stream, module)?)?;
    module.add_class::<ToolParser>()?;
    module.add_class::<StreamAssembler>()
}

/// The line of `msg tools --jsonl` about a text.
#[pyfunction]
#[pyo3(signature = (text, options=None))]
fn tools<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options::of::<ToolsOptions>(TOOLS, options, py)?;
    let input = piece_of(text, TEXT)?;
    let read = guarded(py, || Ok(msg_document::tools(input.json(), &options).to_json()))?;
    objects::objects(py, &read, None)
}

/// The line of `msg stream --jsonl` about a captured stream.
#[pyfunction]
#[pyo3(signature = (body, options=None))]
fn stream<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options::of::<CaptureOptions>(STREAM, options, py)?;
    // An iterator of an SDK, a list of its events, or one of them.
    let is_events =
        ["model_dump", "__iter__", "__aiter__"].iter().any(|it| body.hasattr(*it).unwrap_or(false));
    if is_events && Input::of_text(body)?.is_none() {
        let text = "expected str or bytes of a whole stream; StreamAssembler().feed(event) takes its events";
        return Err(PyTypeError::new_err(text));
    }
    let input = piece_of(body, TEXT)?;
    let read = guarded(py, || Ok(msg_document::stream(input.json(), &options)))?;
    objects::objects(py, &read.map_err(|it| refused(py, &it))?.to_json(), None)
}

/// What a piece of text may be.
const TEXT: &str = "str or bytes";

fn piece_of<'a, 'py>(value: &'a Bound<'py, PyAny>, expected: &str) -> PyResult<Input<'a, 'py>> {
    match Input::of_text(value)? {
        Some(text) => Ok(text),
        None => {
            let found = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("expected {expected}, found {found}")))
        }
    }
}

/// An event that a client has parsed, as the provider sent it.
fn event(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if !is_mapping(value) && !is_model(value)? {
        let expected = "str, bytes, dict or an object with model_dump";
        piece_of(value, expected)?;
    }
    let input = Input::of(value)?;
    Ok([b"data: ", input.json(), b"\n\n"].concat())
}

fn over() -> PyErr {
    PyRuntimeError::new_err("it is finished: make a new one for the next text")
}

fn events<'py, 'a>(
    py: Python<'py>,
    events: impl Iterator<Item = StreamEvent<'a>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for event in events {
        let json =
            serde_json::to_vec(&event).map_err(|it| PyRuntimeError::new_err(it.to_string()))?;
        list.append(objects::objects(py, &json, None)?)?;
    }
    Ok(list)
}

/// Reads model text while it arrives. Any cutting of the text gives the same events.
#[pyclass(module = "msg._msg")]
struct ToolParser {
    parser: Option<StreamParser>,
    ids: CountingIds,
}

#[pymethods]
impl ToolParser {
    #[new]
    #[pyo3(signature = (options=None))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = options::of::<ToolsOptions>(TOOL_PARSER, options, py)?;
        let read: Arc<ParseOptions> = Arc::clone(&options.read);
        let parser = Some(StreamParser::shared(read));
        Ok(Self { parser, ids: CountingIds::default() })
    }

    /// The events that this piece completes; `None` is nothing, as providers send it (RE-13).
    fn feed<'py>(
        &mut self,
        py: Python<'py>,
        piece: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let parser = self.parser.as_mut().ok_or_else(over)?;
        if piece.is_none() {
            return Ok(PyList::empty(py));
        }
        let input = piece_of(piece, TEXT)?;
        let read: Vec<Event<'_>> = parser.feed(input.json()).collect();
        let ids = &mut self.ids;
        let read: Vec<_> = read.into_iter().flat_map(|it| it.into_stream_events(ids)).collect();
        events(py, read.into_iter())
    }

    /// The rest; the text has ended.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut parser = self.parser.take().ok_or_else(over)?;
        let read: Vec<Event<'_>> = parser.finish(None).collect();
        let ids = &mut self.ids;
        let read: Vec<_> = read.into_iter().flat_map(|it| it.into_stream_events(ids)).collect();
        events(py, read.into_iter())
    }
}

/// Assembles a provider's stream into its final message. Any chunking gives the same message.
#[pyclass(module = "msg._msg")]
struct StreamAssembler {
    run: Option<StreamRun>,
}

#[pymethods]
impl StreamAssembler {
    #[new]
    #[pyo3(signature = (options=None))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = options::of::<CaptureOptions>(STREAM_ASSEMBLER, options, py)?;
        let options = CaptureOptions { events: true, ..CaptureOptions::clone(&options) };
        Ok(Self { run: Some(StreamRun::new(&options)) })
    }

    /// The events that this chunk completes: some bytes of the stream, or one event as an object (RE-13).
    fn feed<'py>(
        &mut self,
        py: Python<'py>,
        chunk: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let run = self.run.as_mut().ok_or_else(over)?;
        if chunk.is_none() {
            return Ok(PyList::empty(py));
        }
        match Input::of_text(chunk)? {
            Some(bytes) => run.feed(bytes.json()),
            None => run.feed(&event(chunk)?),
        };
        events(py, run.take_events().into_iter())
    }

    /// The final message and what was odd: the line of `msg stream --jsonl`, as a dict; `events` are those that the
    /// end completes.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let streamed = self.run.take().ok_or_else(over)?.finish();
        objects::objects(py, &streamed.to_json(), None)
    }
}
