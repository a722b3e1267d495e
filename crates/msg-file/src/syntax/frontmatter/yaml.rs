//! The values of the interpreted keys, from the events of a YAML parser.
//!
//! No document is loaded: other keys are passed over event by event, nothing is expanded, and depth
//! is counted, so anchors, aliases and nesting cannot make it costly.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::KEYS;
use crate::limits::Limits;

/// A code and its sentence: why nothing is interpreted.
pub(super) type Refusal = (&'static str, &'static str);

/// A value of an interpreted key.
#[derive(Debug)]
pub(super) enum Node {
    Scalar { text: String, plain: bool },
    Seq(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Nothing, `~` or `null`.
    pub(super) fn absent(&self) -> bool {
        matches!(self, Node::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }
}

/// A top-level key and its value; none if the value may not be read (an anchor, alias, tag or
/// odd key in it).
pub(super) type Entry = (String, Option<Node>);

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
    /// How many values were kept.
    kept: usize,
}

/// Values kept at most: each takes many times its bytes, and nobody has so many agents.
const MAX_KEPT: usize = 10_000;

/// The interpreted keys with their values, in order.
pub(super) fn entries(text: &[u8], limits: &Limits) -> Result<Vec<Entry>, Refusal> {
    if text.len() > limits.max_frontmatter {
        return Err(TOO_LARGE);
    }
    const BAD: Refusal = (
        "msgfile::frontmatter-invalid-yaml",
        "the frontmatter is no valid YAML and is not interpreted",
    );
    let text = std::str::from_utf8(text).map_err(|_| BAD)?;
    if text.bytes().any(|b| (b < b' ' && !matches!(b, b'\t' | b'\n' | b'\r')) || b == 0x7F) {
        return Err(BAD);
    }
    let mut reader = Reader {
        entries: Vec::new(),
        depth: 0,
        key: None,
        frames: Vec::new(),
        refused: false,
        kept: 0,
    };
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
            Event::MappingEnd | Event::SequenceEnd => self.close(),
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

    fn close(&mut self) -> Result<(), Refusal> {
        self.depth -= 1;
        // Depth is bounded, so dropping or placing a finished node is cheap.
        match self.frames.pop() {
            Some(Frame::Seq(items)) => self.place(Node::Seq(items)),
            Some(Frame::Map(items, _)) => self.place(Node::Map(items)),
            None => Ok(()),
        }
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
        self.kept += usize::from(wanted);
        if self.kept > MAX_KEPT {
            return Err(TOO_LARGE);
        }
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

const TOO_LARGE: Refusal =
    ("msgfile::frontmatter-too-large", "the frontmatter is too large and is not interpreted");
const TOO_DEEP: Refusal = (
    "msgfile::frontmatter-too-deep",
    "the frontmatter is nested too deeply and is not interpreted",
);
const NOT_MAPPING: Refusal =
    ("msgfile::frontmatter-not-mapping", "the frontmatter is no mapping and is not interpreted");
