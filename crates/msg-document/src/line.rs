//! Lines of `--jsonl` that are not documents: their bytes in base64, and their refusal.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use msg_core::{Code, Diagnostic};

use crate::refusal::Refusal;

/// A line that is not understood.
pub(crate) fn bad_line(text: impl Into<String>) -> Refusal {
    Diagnostic::error(Code::new("cli::bad-line"), text.into()).into()
}

/// The bytes of a member in base64.
pub(crate) fn decoded(member: &str, base64: &str) -> Result<Vec<u8>, Refusal> {
    let decoded = BASE64_STANDARD.decode(base64);
    decoded.map_err(|it| bad_line(format!("{member} is not base64: {it}")))
}
