//! The compiled half of the Python package (PY-1): text or objects in, answers of `msg-document` out. It holds no
//! logic; the face that people see is `python/msg`.
//!
//! ```text
//! str, bytes ─┐                              ┌─ str
//! list, dict ─┼─ input ▶ msg_document ▶ output ┼─ objects, unchanged ones shared
//!             └─ objects (skeletons of chat)   ┘
//! Arrow      ─┘  (without the GIL)           └─ Arrow
//! ```

mod answers;
mod arrow;
mod column;
mod findings;
mod input;
mod kernels;
mod known;
mod objects;
mod options;
mod reports;
mod stream;

use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// For what is not an object of Python.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The private module `msg._msg`.
#[pymodule(gil_used = false)]
fn _msg(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("version", env!("CARGO_PKG_VERSION"))?;
    answers::register(module)?;
    findings::register(module)?;
    reports::register(module)?;
    arrow::register(module)?;
    stream::register(module)
}
