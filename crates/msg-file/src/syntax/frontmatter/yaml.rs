//! The values of the interpreted keys, from the events of a YAML parser.
//!
//! No document is loaded: other keys are passed over event by event, nothing is expanded, and depth
//! is counted, so anchors, aliases and nesting cannot make it costly.

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};

use super::KEYS;
use crate::limits::Limits;

/// The code that says why nothing is interpreted.
pub(super) type Refusal = &'static str;

const INVALID: Refusal = "msgfile::frontmatter-invalid-yaml";
const TOO_LARGE: Refusal = "msgfile::frontmatter-too-large";
const TOO_DEEP: Refusal = "msgfile::frontmatter-too-deep";
const NOT_MAPPING: Refusal = "msgfile::frontmatter-not-mapping";

/// Values kept at most: each takes many times its bytes, and nobody has so many agents.
const MAX_KEPT: usize = 10_000;

/// Nesting that is read at most, whatever the limits say: a value is read by a function that calls itself.
const MAX_DEPTH: usize = 255;

/// A value of an interpreted key.
#[derive(Debug)]
pub(super) enum Node {
    Scalar { text: String, plain: bool },
    Seq(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Nothing, `~` or `null`.
    pub(super) fn absent(&self) -> bool {
        matches!(self, Node::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }
}

/// A top-level key and its value; none if the value may not be read (an anchor, alias, tag or
/// odd key in it).
pub(super) type Entry = (String, Option<Node>);

/// The interpreted keys with their values, in order.
pub(super) fn entries(text: &[u8], limits: &Limits) -> Result<Vec<Entry>, Refusal> {
    if text.len() > limits.max_frontmatter {
        return Err(TOO_LARGE);
    }
    let text = std::str::from_utf8(text).map_err(|_| INVALID)?;
    if text.bytes().any(|b| (b < b' ' && !matches!(b, b'\t' | b'\n' | b'\r')) || b == 0x7F) {
        return Err(INVALID);
    }
    let max_depth = limits.max_yaml_depth.min(MAX_DEPTH);
    let mut reader = Reader { parser: Parser::new_from_str(text), max_depth, kept: 0 };
    let (mut entries, mut documents) = (Vec::new(), 0);
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(entries),
            Event::DocumentStart(_) if documents > 0 => return Err(INVALID),
            Event::DocumentStart(_) => documents += 1,
            Event::MappingStart(..) => reader.top(&mut entries)?,
            Event::SequenceStart(..) | Event::Scalar(..) | Event::Alias(_) => {
                return Err(NOT_MAPPING);
            }
            _ => {}
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    max_depth: usize,
    /// How many values were kept.
    kept: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Event<'a>, Refusal> {
        match self.parser.next_event() {
            Some(Ok((event, _))) => Ok(event),
            // The parser looks ahead and counts flow nesting up to 255 before it gives the first event.
            Some(Err(e)) if e.info().contains("recursion limit") => Err(TOO_DEEP),
            _ => Err(INVALID),
        }
    }

    /// The keys and values of the whole frontmatter.
    fn top(&mut self, entries: &mut Vec<Entry>) -> Result<(), Refusal> {
        if self.max_depth == 0 {
            return Err(TOO_DEEP);
        }
        loop {
            let (name, is_plain) = match self.next()? {
                Event::MappingEnd => return Ok(()),
                Event::Scalar(text, _, anchor, tag) => {
                    (text.into_owned(), anchor == 0 && tag.is_none())
                }
                odd => {
                    self.value(odd, 1, false)?;
                    (String::new(), false)
                }
            };
            let wanted = KEYS.contains(&name.as_str());
            let event = self.next()?;
            let value = self.value(event, 1, wanted)?;
            if wanted {
                // An anchor or tag on an interpreted key itself refuses that key.
                entries.push((name, value.filter(|_| is_plain)));
            }
        }
    }

    /// The value that begins with an event, `depth` levels down; none if it may not be used, or is not to
    /// be kept.
    fn value(
        &mut self,
        event: Event<'_>,
        depth: usize,
        keep: bool,
    ) -> Result<Option<Node>, Refusal> {
        self.kept += usize::from(keep);
        if self.kept > MAX_KEPT {
            return Err(TOO_LARGE);
        }
        let (node, anchor, tag) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let (text, plain) = (text.into_owned(), style == ScalarStyle::Plain);
                (Some(Node::Scalar { text, plain }), anchor, tag)
            }
            Event::SequenceStart(anchor, tag) => {
                (self.items(depth + 1, keep)?.map(Node::Seq), anchor, tag)
            }
            Event::MappingStart(anchor, tag) => {
                (self.items(depth + 1, keep)?.and_then(pairs), anchor, tag)
            }
            _ => return Ok(None),
        };
        Ok(node.filter(|_| anchor == 0 && tag.is_none()))
    }

    /// What a sequence holds, or the keys and values of a mapping in turns, up to its end.
    fn items(&mut self, depth: usize, keep: bool) -> Result<Option<Vec<Node>>, Refusal> {
        if depth > self.max_depth {
            return Err(TOO_DEEP);
        }
        let mut all = keep.then(Vec::new);
        loop {
            match self.next()? {
                Event::MappingEnd | Event::SequenceEnd => return Ok(all),
                event => match (self.value(event, depth, keep)?, &mut all) {
                    (Some(it), Some(all)) => all.push(it),
                    _ => all = None,
                },
            }
        }
    }
}

/// Keys and values, if all keys are scalars.
fn pairs(items: Vec<Node>) -> Option<Node> {
    let mut items = items.into_iter();
    let mut all = Vec::with_capacity(items.len() / 2);
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        if !matches!(key, Node::Scalar { .. }) {
            return None;
        }
        all.push((key, value));
    }
    Some(Node::Map(all))
}
