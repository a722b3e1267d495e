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
    found.warning(
        from,
        "msgfile::frontmatter-unclosed",
        "the frontmatter has no closing line and is read as text",
    );
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
        Err((code, message)) => {
            front.broken = true;
            found.error(0, code, message);
        }
    }
    front
}

/// The keys that are interpreted.
const KEYS: [&str; 4] = ["agents", "default_agent", "message_section", "message_format"];

#[cfg(test)]
mod tests {
    use super::*;

    fn front(inner: &str) -> (Frontmatter, Vec<String>) {
        let text = format!("---\n{inner}---\n");
        let mut found = Findings::of(&text.as_bytes().into(), 100);
        let (span, body) = find(text.as_bytes(), 0, text.len(), &mut found)
            .unwrap_or_else(|| panic!("no frontmatter"));
        let front = read(text.as_bytes(), span, body, &Limits::default(), &mut found);
        let codes = found.finish().iter().map(|d| d.code.to_string()).collect();
        (front, codes)
    }

    #[test]
    fn interpreted_keys() {
        let (f, codes) =
            front("title: {a: [1]}\nmessage_section: true\nmessage_format: 1\ndefault_agent: x\n");
        assert_eq!(f.message_section.as_deref(), Some("Discussion"));
        assert_eq!((f.default_agent.as_deref(), f.message_format), (Some("x"), Some(1)));
        assert!(codes.is_empty());
        assert_eq!(front("message_section: 'true'\n").0.message_section.as_deref(), Some("true"));
        assert!(front("message_section: false\n").0.switched_off);
        assert_eq!(front("message_section: ~\n").0.message_section, None);
    }

    #[test]
    fn agents_are_mapping_or_list() {
        let (f, codes) = front("agents: [a, {name: b, models: [m]}, {models: x}]\n");
        assert_eq!(f.agents.iter().map(|a| a.0.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(codes, ["msgfile::agents-bad-shape"]);
    }

    #[test]
    fn refusals() {
        assert_eq!(front("agents: &x {a: {}}\n").1, ["msgfile::yaml-refused"]);
        assert_eq!(front("x: &x 1\ndefault_agent: *x\n").1, ["msgfile::yaml-refused"]);
        assert_eq!(
            front("x: &x [1, *x]\ndefault_agent: a\n").0.default_agent.as_deref(),
            Some("a")
        );
        assert_eq!(front("- a\n").1, ["msgfile::frontmatter-not-mapping"]);
        assert_eq!(front("text\n").1, ["msgfile::frontmatter-not-mapping"]);
        assert_eq!(front("a: b: c\n").1, ["msgfile::frontmatter-invalid-yaml"]);
        assert_eq!(front("a: \u{1}\n").1, ["msgfile::frontmatter-invalid-yaml"]);
        assert_eq!(front("message_format: x\n").1, ["msgfile::frontmatter-bad-value"]);
        assert_eq!(front("message_format: 2\n").1, ["msgfile::newer-format"]);
        assert_eq!(
            front(&format!("a: {}\n", "[".repeat(5000))).1,
            ["msgfile::frontmatter-too-deep"]
        );
        assert_eq!(front("agents: {a: {}}\nagents: {b: {}}\n").1, ["msgfile::yaml-duplicate-key"]);
        assert!(front("").1.is_empty());
    }
}
