//! Frontmatter: where it is, and the four keys of it that mean something here (MF-4, MF-16).

mod agents;
mod keys;
mod yaml;

use crate::diag::Findings;
use crate::limits::Limits;
use crate::model::agents::AgentConfig;
use crate::span::Span;
use crate::syntax::line::{Line, is_blank};

/// The frontmatter of a file: its place and the keys that mean something here (MF-4).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frontmatter {
    /// The lines from `---` to `---`, a byte order mark before them included.
    pub span: Span,
    /// Name of the section that holds the record of an `.md` file; `true` means `Discussion`.
    pub message_section: Option<String>,
    /// Name of the agent that answers unless the record says otherwise.
    pub default_agent: Option<String>,
    /// Version of the format, absent in most files.
    pub message_format: Option<u64>,
    /// Preset agents, in order.
    pub agents: Vec<(String, AgentConfig)>,
    /// `message_section` is there and is `false`.
    pub(crate) switched_off: bool,
    /// Something was wrong with it as a whole, so nothing was interpreted.
    pub(crate) broken: bool,
    /// Where a line may be put before the closing one.
    pub(crate) close: usize,
}

/// Finds the frontmatter: the span of its lines and the offset of the closing one. `before` is the
/// first strong heading, behind which it cannot close.
pub(crate) fn find(
    bytes: &[u8],
    from: usize,
    before: usize,
    found: &mut Findings,
) -> Option<(Span, Span)> {
    let first = Line::at(bytes, from, bytes.len());
    if fence_text(&first, bytes) != b"---" {
        return None;
    }
    let mut at = first.next;
    while at < before {
        let line = Line::at(bytes, at, bytes.len());
        if matches!(fence_text(&line, bytes), b"---" | b"...") {
            return Some((Span::new(0, line.next), Span::new(first.next, line.start)));
        }
        at = line.next;
    }
    found.add(from, "msgfile::frontmatter-unclosed");
    None
}

fn fence_text<'a>(line: &Line, bytes: &'a [u8]) -> &'a [u8] {
    let text = line.text(bytes);
    let end = text.iter().rposition(|&b| !is_blank(b)).map_or(0, |n| n + 1);
    &text[..end]
}

/// Interprets the text between the frontmatter's lines.
pub(crate) fn read(
    bytes: &[u8],
    span: Span,
    inner: Span,
    limits: &Limits,
    found: &mut Findings,
) -> Frontmatter {
    let mut front = Frontmatter { span, close: inner.end, ..Frontmatter::default() };
    match yaml::entries(inner.of(bytes), limits) {
        Ok(entries) => keys::interpret(&entries, &mut front, found),
        Err(code) => {
            front.broken = true;
            found.add(0, code);
        }
    }
    front
}

/// The keys that are interpreted.
const KEYS: [&str; 4] = ["agents", "default_agent", "message_section", "message_format"];
