//! The log of a program's requests: what a prompt cache still reads of each, and what that costs.

use msg_cache::{Error, Ledger, LedgerOptions};
use msg_document::{ObjectWriter, to_json};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::guarded;
use crate::input::Input;
use crate::options::Act;
use crate::{known, options, output};

const LEDGER: Act = Act::new("CacheLedger", known::CACHE);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CacheLedger>()
}

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
        output::objects(py, &row, None)
    }

    /// What the requests so far add up to.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        output::objects(py, &to_json(&self.ledger.totals()), None)
    }
}

fn bad_row(line: usize, error: &Error) -> Vec<u8> {
    let error = ObjectWriter::new().with("code", &error.code()).with("message", &error.to_string());
    ObjectWriter::new().with("line", &line).raw("error", &error.finish()).finish()
}
