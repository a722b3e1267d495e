//! Frontmatter: four keys read from the events of a YAML parser (MF-4, MF-16).
//!
//! No document is loaded: other keys are passed over event by event, nothing is expanded, and depth
//! is counted, so anchors, aliases and nesting cannot make it costly.

use crate::agents::{AgentConfig, Taken};
use crate::diag::Findings;
use crate::limits::Limits;
use crate::line::{Line, is_blank};
use crate::span::Span;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::HashSet;

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
    match events(inner.of(bytes), limits).and_then(|nodes| interpret(nodes, &mut front, found)) {
        Ok(()) => {}
        Err((code, message)) => {
            front = Frontmatter { span, close: inner.end, broken: true, ..Frontmatter::default() };
            found.error(0, code, message);
        }
    }
    front
}

type Refusal = (&'static str, &'static str);

/// A value of an interpreted key.
#[derive(Debug)]
enum Node {
    Scalar { text: String, plain: bool },
    Seq(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    fn absent(&self) -> bool {
        matches!(self, Node::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }
}

/// A top-level key and its value; none if the value may not be read (an anchor, alias, tag or
/// odd key in it).
type Entry = (String, Option<Node>);

const KEYS: [&str; 4] = ["agents", "default_agent", "message_section", "message_format"];

/// A stack frame of the value that is being built.
enum Frame {
    Seq(Vec<Node>),
    Map(Vec<(Node, Node)>, Option<Node>),
}

/// What is being read at the top level.
struct Reader {
    entries: Vec<Entry>,
    depth: usize,
    /// The top-level key whose value comes next or is being read.
    key: Option<String>,
    frames: Vec<Frame>,
    /// The value being read may not be used.
    refused: bool,
}

fn events(text: &[u8], limits: &Limits) -> Result<Vec<Entry>, Refusal> {
    if text.len() > limits.max_frontmatter {
        return Err((
            "msgfile::frontmatter-too-large",
            "the frontmatter is too large and is not interpreted",
        ));
    }
    const BAD: Refusal = (
        "msgfile::frontmatter-invalid-yaml",
        "the frontmatter is no valid YAML and is not interpreted",
    );
    let text = std::str::from_utf8(text).map_err(|_| BAD)?;
    if text.bytes().any(|b| (b < b' ' && !matches!(b, b'\t' | b'\n' | b'\r')) || b == 0x7F) {
        return Err(BAD);
    }
    let mut reader =
        Reader { entries: Vec::new(), depth: 0, key: None, frames: Vec::new(), refused: false };
    let mut documents = 0;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        // The parser looks ahead and counts flow nesting up to 255 before it gives the first event.
        let (event, _) =
            event.map_err(|e| if e.info().contains("recursion limit") { TOO_DEEP } else { BAD })?;
        if matches!(event, Event::DocumentStart(_)) {
            documents += 1;
            if documents > 1 {
                return Err(BAD);
            }
        }
        reader.event(event, limits.max_yaml_depth)?;
    }
    Ok(reader.entries)
}

impl Reader {
    fn event(&mut self, event: Event<'_>, max_depth: usize) -> Result<(), Refusal> {
        match event {
            Event::MappingStart(anchor, ref tag) => {
                self.open(anchor > 0 || tag.is_some(), Frame::Map(Vec::new(), None), max_depth)
            }
            Event::SequenceStart(anchor, ref tag) => {
                self.open(anchor > 0 || tag.is_some(), Frame::Seq(Vec::new()), max_depth)
            }
            Event::MappingEnd | Event::SequenceEnd => {
                self.close();
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refused |= anchor > 0 || tag.is_some();
                self.value(Node::Scalar {
                    text: text.into_owned(),
                    plain: style == ScalarStyle::Plain,
                })
            }
            Event::Alias(_) => {
                self.refused = true;
                self.value(Node::Scalar { text: String::new(), plain: false })
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, odd: bool, frame: Frame, max_depth: usize) -> Result<(), Refusal> {
        self.depth += 1;
        if self.depth > max_depth {
            return Err(TOO_DEEP);
        }
        if self.depth == 1 {
            return match frame {
                Frame::Map(..) => Ok(()),
                Frame::Seq(_) => Err(NOT_MAPPING),
            };
        }
        self.refused |= odd;
        // Below keys that nobody reads nothing is built, only depth is counted.
        self.frames.push(frame);
        Ok(())
    }

    fn close(&mut self) {
        self.depth -= 1;
        let node = match self.frames.pop() {
            Some(Frame::Seq(items)) => Node::Seq(items),
            Some(Frame::Map(items, _)) => Node::Map(items),
            None => return,
        };
        // Depth is bounded, so dropping or placing a finished node is cheap.
        let _ = self.place(node);
    }

    fn value(&mut self, node: Node) -> Result<(), Refusal> {
        if self.depth == 0 {
            return Err(NOT_MAPPING);
        }
        self.place(node)
    }

    /// Puts a finished value where it belongs: into the frame above, or at the top level.
    fn place(&mut self, node: Node) -> Result<(), Refusal> {
        let wanted = self.key.as_deref().is_some_and(|k| KEYS.contains(&k));
        match self.frames.last_mut() {
            Some(_) if self.key.is_some() && !wanted => {}
            Some(Frame::Seq(items)) => items.push(node),
            Some(Frame::Map(items, key)) => match key.take() {
                Some(k) => items.push((k, node)),
                None => {
                    self.refused |= !matches!(node, Node::Scalar { .. });
                    *key = Some(node);
                }
            },
            None => match self.key.take() {
                Some(key) => {
                    let refused = std::mem::take(&mut self.refused);
                    if KEYS.contains(&key.as_str()) {
                        self.entries.push((key, (!refused).then_some(node)));
                    }
                }
                None => {
                    let odd = std::mem::take(&mut self.refused);
                    self.key = Some(match node {
                        Node::Scalar { text, .. } => text,
                        _ => String::new(),
                    });
                    // An anchor or tag on an interpreted key itself refuses that key.
                    self.refused = odd;
                }
            },
        }
        Ok(())
    }
}

const TOO_DEEP: Refusal = (
    "msgfile::frontmatter-too-deep",
    "the frontmatter is nested too deeply and is not interpreted",
);
const NOT_MAPPING: Refusal =
    ("msgfile::frontmatter-not-mapping", "the frontmatter is no mapping and is not interpreted");

fn interpret(
    entries: Vec<Entry>,
    front: &mut Frontmatter,
    found: &mut Findings,
) -> Result<(), Refusal> {
    let mut seen: Vec<&str> = Vec::new();
    for (key, value) in &entries {
        if seen.contains(&key.as_str()) {
            found.warning(
                0,
                "msgfile::yaml-duplicate-key",
                format!("the frontmatter has `{key}` twice; the first one counts"),
            );
            continue;
        }
        seen.push(key);
        let Some(value) = value else {
            found.error(
                0,
                "msgfile::yaml-refused",
                format!("`{key}` holds an anchor, alias, tag or odd key and is not read"),
            );
            continue;
        };
        if value.absent() {
            continue;
        }
        match key.as_str() {
            "agents" => agents(value, front, found),
            "default_agent" => default_agent(value, front, found),
            "message_section" => message_section(value, front, found),
            _ => message_format(value, front, found),
        }
    }
    Ok(())
}

fn bad_value(key: &str, found: &mut Findings) {
    found.error(
        0,
        "msgfile::frontmatter-bad-value",
        format!("`{key}` of the frontmatter has a value of the wrong shape"),
    );
}

fn default_agent(value: &Node, front: &mut Frontmatter, found: &mut Findings) {
    match value {
        Node::Scalar { text, .. } if !text.is_empty() => front.default_agent = Some(text.clone()),
        _ => bad_value("default_agent", found),
    }
}

fn message_section(value: &Node, front: &mut Frontmatter, found: &mut Findings) {
    match value {
        Node::Scalar { text, plain: true } if matches!(text.as_str(), "true" | "True" | "TRUE") => {
            front.message_section = Some("Discussion".to_owned());
        }
        Node::Scalar { text, plain: true }
            if matches!(text.as_str(), "false" | "False" | "FALSE") =>
        {
            front.switched_off = true;
        }
        Node::Scalar { text, .. } if !text.trim().is_empty() => {
            front.message_section = Some(text.trim().to_owned());
        }
        _ => bad_value("message_section", found),
    }
}

fn message_format(value: &Node, front: &mut Frontmatter, found: &mut Findings) {
    let number = match value {
        Node::Scalar { text, .. } if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    };
    match number {
        Some(0) | None => bad_value("message_format", found),
        Some(n) => {
            front.message_format = Some(n);
            if n > 1 {
                found.warning(
                    0,
                    "msgfile::newer-format",
                    format!("the file is of format {n}, this program knows format 1"),
                );
            }
        }
    }
}

fn agents(value: &Node, front: &mut Frontmatter, found: &mut Findings) {
    match value {
        Node::Map(items) => {
            let mut names = HashSet::new();
            for (key, attrs) in items {
                if let Node::Scalar { text, .. } = key {
                    if !names.insert(text) {
                        found.warning(
                            0,
                            "msgfile::yaml-duplicate-key",
                            format!("agent `{text}` is there twice; the first one counts"),
                        );
                    } else {
                        agent(text, attrs, None, front, found);
                    }
                }
            }
        }
        Node::Seq(items) => {
            let mut names = HashSet::new();
            items.iter().for_each(|item| listed_agent(item, &mut names, front, found));
        }
        Node::Scalar { .. } => found.warning(
            0,
            "msgfile::agents-bad-shape",
            "`agents` is neither a mapping nor a list",
        ),
    }
}

fn listed_agent<'a>(
    item: &'a Node,
    names: &mut HashSet<&'a str>,
    front: &mut Frontmatter,
    found: &mut Findings,
) {
    let name = match item {
        Node::Scalar { text, .. } => Some(text),
        Node::Map(items) => items.iter().find_map(|(k, v)| match (k, v) {
            (Node::Scalar { text: key, .. }, Node::Scalar { text, .. }) if key == "name" => {
                Some(text)
            }
            _ => None,
        }),
        Node::Seq(_) => None,
    };
    match name.filter(|n| !n.is_empty() && !item.absent()) {
        Some(name) if !names.insert(name) => {
            found.warning(
                0,
                "msgfile::yaml-duplicate-key",
                format!("agent `{name}` is there twice; the first one counts"),
            );
        }
        Some(name) => {
            let empty = Node::Map(Vec::new());
            let attrs = if matches!(item, Node::Map(_)) { item } else { &empty };
            agent(name, attrs, Some("name"), front, found);
        }
        None => found.warning(0, "msgfile::agents-bad-shape", "an item of `agents` has no name"),
    }
}

fn agent(
    name: &str,
    attrs: &Node,
    skip: Option<&str>,
    front: &mut Frontmatter,
    found: &mut Findings,
) {
    let mut config = AgentConfig::default();
    match attrs {
        Node::Map(items) => {
            let mut seen: Vec<&str> = Vec::new();
            for (key, value) in items {
                let Node::Scalar { text: key, .. } = key else { continue };
                if Some(key.as_str()) == skip {
                    continue;
                }
                if seen.contains(&key.as_str()) {
                    found.warning(
                        0,
                        "msgfile::yaml-duplicate-key",
                        format!("agent `{name}` has `{key}` twice; the first one counts"),
                    );
                    continue;
                }
                // Only keys that mean something are remembered, so that this stays linear.
                if config_key(key) {
                    seen.push(key);
                }
                attribute(name, key, value, &mut config, found);
            }
        }
        node if node.absent() => {}
        _ => found.warning(
            0,
            "msgfile::agents-bad-shape",
            format!("the attributes of agent `{name}` are no mapping"),
        ),
    }
    front.agents.push((name.to_owned(), config));
}

fn config_key(key: &str) -> bool {
    AgentConfig::default().take(key, "") != Taken::UnknownKey
}

fn attribute(name: &str, key: &str, value: &Node, config: &mut AgentConfig, found: &mut Findings) {
    if config_key(key) && value.absent() {
        return;
    }
    let taken = match value {
        Node::Scalar { text, .. } => config.take(key, text),
        Node::Seq(items) if key == "models" => {
            let names: Option<Vec<String>> = items
                .iter()
                .map(|n| match n {
                    Node::Scalar { text, .. } => Some(text.clone()),
                    _ => None,
                })
                .collect();
            config.models.clone_from(&names);
            if names.is_some() { Taken::Yes } else { Taken::BadValue }
        }
        _ if config_key(key) => Taken::BadValue,
        _ => Taken::UnknownKey,
    };
    match taken {
        Taken::Yes => {}
        Taken::BadValue => found.warning(
            0,
            "msgfile::agent-bad-value",
            format!("`{key}` of agent `{name}` has a wrong value"),
        ),
        Taken::UnknownKey => found.info(
            0,
            "msgfile::agent-unknown-key",
            format!("`{key}` of agent `{name}` is not known"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(inner: &str) -> (Frontmatter, Vec<String>) {
        let text = format!("---\n{inner}---\n");
        let mut found = Findings::default();
        let (span, body) = find(text.as_bytes(), 0, text.len(), &mut found)
            .unwrap_or_else(|| panic!("no frontmatter"));
        let front = read(text.as_bytes(), span, body, &Limits::default(), &mut found);
        let codes = found.finish(text.as_bytes(), 100).iter().map(|d| d.code.to_string()).collect();
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
