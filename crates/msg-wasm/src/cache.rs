//! A list of requests: where the prompt cache broke, why, and what it cost.

use msg_cache::{Error, Ledger, LedgerOptions};
use msg_document::{ObjectWriter, Refusal, to_json};
use serde_json::value::RawValue;

/// The rows of a JSON array of requests, and their totals.
pub(crate) fn log(json: &[u8], options: &LedgerOptions) -> Result<Vec<u8>, Refusal> {
    let requests: Vec<&RawValue> = serde_json::from_slice(json)
        .map_err(|it| Refusal::bad_option(format!("expected a list of requests: {it}")))?;
    let mut ledger = Ledger::new(options.clone());
    let mut rows = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        if at > 0 {
            rows.push(b',');
        }
        match ledger.push(request.get().as_bytes()) {
            Ok(row) => rows.extend(to_json(&row)),
            Err(error) => rows.extend(bad_row(at, &error)),
        }
    }
    let rows = [&b"["[..], &rows, b"]"].concat();
    Ok(ObjectWriter::new().raw("rows", &rows).with("totals", &ledger.totals()).finish())
}

fn bad_row(at: usize, error: &Error) -> Vec<u8> {
    let error = ObjectWriter::new().with("code", &error.code()).with("message", &error.to_string());
    ObjectWriter::new().with("line", &(at + 1)).raw("error", &error.finish()).finish()
}
