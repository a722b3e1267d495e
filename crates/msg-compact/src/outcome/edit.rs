//! One edit of a compaction as a small value (CP-5); its sentence is written when somebody reads it.

use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

use msg_chainast::MessageOrigin;
use msg_core::{Code, Diagnostic};

use crate::codes;

/// A change that was made, or a summary that was not used.
///
/// ```
/// use msg_chainast::ChainAst;
/// use msg_compact::{Budget, Outcome, Preset, SummaryError, TokenIndex, compact_with, count};
/// use msg_core::{Message, SeededIds};
///
/// let talk = ["a", "b", "c", "d"].iter();
/// let talk = talk.flat_map(|it| [Message::user(*it), Message::assistant("word ".repeat(50))]);
/// let ast = ChainAst::parse(talk.collect())?;
/// let index = TokenIndex::of(&ast, Box::new(count::Script::new()), &[]);
/// let (budget, pipeline) = (Budget::tokens(150), Preset::Window.pipeline());
/// let nobody = |_: &_| Err(SummaryError::new("a window asks nobody"));
/// let outcome =
///     compact_with(&ast, &index, Some(&budget), &pipeline, &mut SeededIds::new(1), nobody)?;
/// let Outcome::Compacted(it) = outcome else { panic!("it fits when compacted") };
/// assert_eq!(it.edits[0].code(), "compact::messages-dropped");
/// assert_eq!(it.edits[0].to_string(), "messages 1 to 3 are outside the window");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Edit {
    message: u32,
    kind: EditKind,
}

#[derive(Debug, Clone)]
pub(crate) enum EditKind {
    ReasoningDropped,
    /// Outputs of a message became a placeholder.
    Replaced {
        code: &'static str,
        placeholder: Arc<str>,
    },
    InputsCleared,
    Truncated {
        tool: Box<str>,
    },
    Summarized {
        code: &'static str,
        what: &'static str,
        messages: usize,
    },
    Dropped {
        messages: usize,
        runs: Vec<Range<u32>>,
    },
    /// An answer was not used.
    Refused {
        code: &'static str,
        reason: Cow<'static, str>,
    },
}

impl Edit {
    pub(crate) fn new(message: u32, kind: EditKind) -> Self {
        Self { message, kind }
    }

    /// The first input message that it names.
    pub fn message(&self) -> usize {
        self.message as usize
    }

    /// The edit as it is said of the list that a repaired chain came from.
    pub(crate) fn at_origins(mut self, origins: &[MessageOrigin]) -> Self {
        let of = |at: u32| {
            let origin = origins.get(at as usize).map(|it| it.message);
            origin.and_then(|it| u32::try_from(it).ok()).unwrap_or(at)
        };
        self.message = of(self.message);
        if let EditKind::Dropped { runs, .. } = &mut self.kind {
            runs.iter_mut().for_each(|it| *it = of(it.start)..of(it.end - 1) + 1);
        }
        self
    }

    /// Its code, one of [`CODES`](crate::CODES).
    pub fn code(&self) -> &'static str {
        match self.kind {
            EditKind::ReasoningDropped => "compact::reasoning-dropped",
            EditKind::InputsCleared => "compact::tool-use-cleared",
            EditKind::Truncated { .. } => "compact::tool-output-truncated",
            EditKind::Dropped { .. } => "compact::messages-dropped",
            EditKind::Replaced { code, .. }
            | EditKind::Summarized { code, .. }
            | EditKind::Refused { code, .. } => code,
        }
    }

    /// Whether something was changed; else an answer was not used.
    pub fn is_change(&self) -> bool {
        !matches!(self.kind, EditKind::Refused { .. })
    }

    /// The edit as a diagnostic, with its sentence and what was done.
    pub fn diagnostic(&self) -> Diagnostic {
        let code: Code = codes::of(self.code());
        let found = if self.is_change() { Diagnostic::info } else { Diagnostic::warning };
        let found = found(code, self.to_string()).at_message(self.message());
        match self.fix() {
            Some(fix) => found.with_fix(fix),
            None => found,
        }
    }

    fn fix(&self) -> Option<String> {
        Some(match &self.kind {
            EditKind::ReasoningDropped => "removed reasoning parts and call signatures".to_owned(),
            EditKind::Replaced { placeholder, .. } => format!("replaced it by {placeholder:?}"),
            EditKind::InputsCleared => "set them to {}".to_owned(),
            EditKind::Truncated { .. } => "left out its middle".to_owned(),
            EditKind::Summarized { messages, .. } => format!("summarised {}", counted(*messages)),
            EditKind::Dropped { messages, .. } => format!("dropped {}", counted(*messages)),
            EditKind::Refused { .. } => return None,
        })
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            EditKind::ReasoningDropped => f.write_str("reasoning of an earlier turn was dropped"),
            EditKind::Replaced { .. } => f.write_str("an old tool output was cut out"),
            EditKind::InputsCleared => f.write_str("arguments of a cleared call were cut out"),
            EditKind::Truncated { tool } => {
                write!(f, "a long output of {tool:?} was cut to its head and tail")
            }
            EditKind::Summarized { what, .. } => write!(f, "a summary stands for {what}"),
            EditKind::Dropped { runs, .. } => write_dropped(f, runs),
            EditKind::Refused { reason, .. } => f.write_str(reason),
        }
    }
}

/// Names the input messages that were dropped: several messages may stand for one of them.
fn write_dropped(f: &mut fmt::Formatter<'_>, runs: &[Range<u32>]) -> fmt::Result {
    let is_one = runs.iter().map(|it| it.len()).sum::<usize>() == 1;
    f.write_str(if is_one { "message " } else { "messages " })?;
    for (number, run) in runs.iter().enumerate() {
        f.write_str(if number == 0 { "" } else { ", " })?;
        match (run.start, run.end - 1) {
            (first, last) if first == last => write!(f, "{first}")?,
            (first, last) => write!(f, "{first} to {last}")?,
        }
    }
    f.write_str(if is_one { " is outside the window" } else { " are outside the window" })
}

fn counted(messages: usize) -> String {
    if messages == 1 { "1 message".to_owned() } else { format!("{messages} messages") }
}
