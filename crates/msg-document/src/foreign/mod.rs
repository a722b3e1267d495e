//! Formats that are known and not read: what is recognised so is refused by its name, never read as
//! something else.
//!
//! A row goes when its format comes: `formats` has a file for it then.
//!
//! ```text
//! {"modelId":"m","messages":[{"content":[{"toolUse":{…}}]}]}   ─▶ message::foreign-format: "this looks like …; msg reads …"
//! ```

mod data;
mod sessions;
mod wires;

use msg_core::{Code, Diagnostic};

use crate::codec::Likelihood;
use crate::format::Format;
use crate::outline::Outline;
use crate::refusal::Refusal;

/// A format that is not read.
pub(crate) struct Foreign {
    /// What a document of it is called: `an Anthropic Messages body`.
    pub(crate) what: &'static str,
    /// How much speaks for it. What is certain is refused even if another format is named.
    pub(crate) likelihood: fn(&Outline<'_>) -> Likelihood,
}

/// The tables, in the order in which they are asked.
static TABLES: &[&[Foreign]] = &[wires::TABLE, sessions::TABLE, data::TABLE];

/// The row that speaks most for itself.
pub(crate) fn recognise(outline: &Outline<'_>) -> Option<(&'static Foreign, Likelihood)> {
    let rows = TABLES.iter().copied().flatten();
    let found = rows.map(|it| (it, (it.likelihood)(outline)));
    let mut best = None;
    for (row, likelihood) in found.filter(|it| it.1 > Likelihood::No) {
        if best.is_none_or(|(_, it)| likelihood > it) {
            best = Some((row, likelihood));
        }
    }
    best
}

impl Foreign {
    const fn new(what: &'static str, likelihood: fn(&Outline<'_>) -> Likelihood) -> Self {
        Foreign { what, likelihood }
    }

    /// The refusal of a document of this format.
    pub(crate) fn refusal(&self) -> Refusal {
        // Of JSON: what is refused here is, and a build without message files says the same.
        let known = Format::all().filter(|it| it.is_json() || it.is_session());
        let known: Vec<_> = known.map(Format::name).collect();
        let known = known.join(", ");
        foreign(format!("this looks like {}; msg reads {known}", self.what)).into()
    }
}

/// A refusal of a document for what it is (MS-9).
pub(crate) fn foreign(text: impl Into<std::borrow::Cow<'static, str>>) -> Diagnostic {
    Diagnostic::error(Code::new("message::foreign-format"), text)
}

/// [`Likelihood::Certain`] if it is so.
pub(crate) fn certain_if(it: bool) -> Likelihood {
    if it { Likelihood::Certain } else { Likelihood::No }
}
