//! The time of day, as files write it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in UTC, as RFC 3339 has it: `2026-05-30T12:00:00Z`.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    msg_file::rfc3339(since.map_or(0, |it| it.as_secs()))
}
