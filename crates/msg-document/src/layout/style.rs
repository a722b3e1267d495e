//! How a document is laid out, as far as that can be seen, and new values in that style.

use memchr::memchr;
use msg_json::tokens;

/// Deeper lines are indented no further, so that deep nesting stays linear.
const MAX_INDENT: usize = 64;

/// The white space of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style<'a> {
    line_end: &'a str,
    /// One step of indentation; nothing for a document on one line.
    unit: Option<&'a str>,
    pub(super) colon: &'a str,
    /// Behind a comma, where what follows is on the same line.
    pub(super) gap: &'a str,
}

impl<'a> Style<'a> {
    /// As [`super::pretty`] writes.
    pub(super) const PRETTY: Style<'static> =
        Style { line_end: "\n", unit: Some("  "), colon: ": ", gap: " " };

    /// The style of a document: what its first indented line and its first colon show.
    pub(super) fn of(source: &'a str) -> Self {
        let colon = first_colon(source).unwrap_or(":");
        let has_lines = memchr(b'\n', source.as_bytes()).is_some();
        let is_of_windows = has_lines && source.contains("\r\n");
        Style {
            line_end: if is_of_windows { "\r\n" } else { "\n" },
            unit: has_lines.then(|| first_indent(source)),
            colon,
            gap: if colon.ends_with(' ') { " " } else { "" },
        }
    }

    /// Writes a value whose first line is indented by `indent`; on one line without an indentation.
    pub(super) fn write(&self, value: &str, indent: Option<&str>, out: &mut Vec<u8>) {
        match indent.zip(self.unit) {
            Some((indent, unit)) => self.write_lines(value, indent, unit, out),
            None => self.write_line(value, out),
        }
    }

    fn write_line(&self, value: &str, out: &mut Vec<u8>) {
        for token in tokens(value) {
            out.extend_from_slice(if token == ":" { self.colon } else { token }.as_bytes());
            if token == "," {
                out.extend_from_slice(self.gap.as_bytes());
            }
        }
    }

    fn write_lines(&self, value: &str, indent: &str, unit: &str, out: &mut Vec<u8>) {
        let mut depth = 0_usize;
        let mut all = tokens(value).peekable();
        while let Some(token) = all.next() {
            let is_empty = matches!(all.peek(), Some(&"}" | &"]"));
            match token {
                "{" | "[" if !is_empty => depth += 1,
                "}" | "]" if !ends_with_open(out) => {
                    depth = depth.saturating_sub(1);
                    self.new_line(indent, unit, depth, out);
                }
                _ => {}
            }
            out.extend_from_slice(if token == ":" { self.colon } else { token }.as_bytes());
            if token == "," || matches!(token, "{" | "[") && !is_empty {
                self.new_line(indent, unit, depth, out);
            }
        }
    }

    fn new_line(&self, indent: &str, unit: &str, depth: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.line_end.as_bytes());
        out.extend_from_slice(indent.as_bytes());
        for _ in 0..depth.min(MAX_INDENT) {
            out.extend_from_slice(unit.as_bytes());
        }
    }
}

/// A bracket closes right after the one that opened, since nothing else ends with an opening one here.
fn ends_with_open(out: &[u8]) -> bool {
    matches!(out.last(), Some(b'{' | b'['))
}

/// What the first indented line has in front.
fn first_indent(source: &str) -> &str {
    let lines = source.split('\n').skip(1);
    let indents = lines.map(|it| &it[..it.len() - it.trim_start_matches([' ', '\t']).len()]);
    indents.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
}

/// From the first name of a member to its value.
fn first_colon(source: &str) -> Option<&str> {
    let offset = |token: &str| token.as_ptr() as usize - source.as_ptr() as usize;
    let mut name_end = 0;
    let mut all = tokens(source);
    loop {
        let token = all.next()?;
        if token == ":" {
            let value = all.next()?;
            return source.get(name_end..offset(value));
        }
        name_end = offset(token) + token.len();
    }
}
