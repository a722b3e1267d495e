//! What the first messages of a document look like.
//!
//! A scan over the bytes that steps over values without building them, gives up at anything that
//! is not JSON, and recurses nowhere. Judges shapes, not correctness.

use super::Format;

/// How many messages are looked at.
const SAMPLE: usize = 32;

/// What a document looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Only one format looks so.
    Certain(Format),
    /// Messages with a role and content that several formats share.
    Chat,
    /// Items of the Responses API.
    Items,
    /// Messages with `parts`.
    Parts,
    /// A list without members.
    Empty,
    /// Text that is laid out as Markdown.
    Markdown,
    /// None of these.
    Nothing,
}

/// Looks at `bytes`. Linear in what is looked at: a sample of the messages and what is before it.
pub(super) fn shape(bytes: &[u8]) -> Shape {
    let mut scan = Scan { bytes, pos: 0 };
    scan.pos += if bytes.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
    match scan.peek() {
        Some(b'[') => list(&mut scan).unwrap_or(Shape::Nothing),
        Some(b'{') => body(&mut scan).unwrap_or(Shape::Nothing),
        Some(_) if is_markdown(bytes) => Shape::Markdown,
        _ => Shape::Nothing,
    }
}

fn is_markdown(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(64 << 10)];
    let mut lines = head.split(|it| *it == b'\n').map(<[u8]>::trim_ascii_end);
    lines.clone().next() == Some(b"---") || lines.any(is_heading)
}

fn is_heading(line: &[u8]) -> bool {
    let level = line.iter().take_while(|it| **it == b'#').count();
    (1..=6).contains(&level) && line.get(level) == Some(&b' ')
}

/// A whole body: the first member that holds a conversation decides.
fn body(scan: &mut Scan<'_>) -> Option<Shape> {
    let mut seen = Shape::Nothing;
    let mut members = scan.open(b'{')?;
    while let Some(name) = scan.member(&mut members) {
        match (name, scan.peek()?) {
            (b"messages", b'[') => return list(scan),
            (b"turns", b'[') => return Some(Shape::Certain(Format::Turns)),
            (b"choices", b'[') => return Some(Shape::Certain(Format::Openai)),
            (b"input", b'"' | b'[') | (b"output", b'[') => seen = Shape::Items,
            (b"object", b'"') if scan.text()? == b"response" => seen = Shape::Items,
            _ => {}
        }
        scan.skip()?;
    }
    Some(seen)
}

/// A list of messages: the first that only one format can have written decides.
fn list(scan: &mut Scan<'_>) -> Option<Shape> {
    let mut res = Shape::Empty;
    let mut items = scan.open(b'[')?;
    for _ in 0..SAMPLE {
        if !scan.item(&mut items) {
            break;
        }
        if scan.peek() != Some(b'{') {
            return Some(if res == Shape::Empty { Shape::Nothing } else { res });
        }
        match message(scan) {
            Some(Shape::Nothing) => {}
            Some(found @ (Shape::Certain(_) | Shape::Items)) => return Some(found),
            Some(found) if matches!(res, Shape::Empty | Shape::Nothing) => res = found,
            Some(_) => {}
            // Broken off inside this message: what was seen before decides.
            None => return Some(if res == Shape::Empty { Shape::Nothing } else { res }),
        }
    }
    Some(res)
}

fn message(scan: &mut Scan<'_>) -> Option<Shape> {
    let mut res = Shape::Nothing;
    let (mut has_role, mut has_type, mut of_a_turn, mut certain) = (false, false, false, None);
    let mut members = scan.open(b'{')?;
    while let Some(name) = scan.member(&mut members) {
        let next = scan.peek()?;
        match (name, next) {
            (b"role", b'"') => {
                has_role = true;
                if scan.text()?.first().is_some_and(u8::is_ascii_uppercase) {
                    certain = certain.or(Some(Shape::Certain(Format::Agent)));
                }
            }
            (b"type", b'"') => has_type = true,
            (b"id" | b"timestamp" | b"finished" | b"finish_reason" | b"metadata", _) => {
                of_a_turn = true;
            }
            (b"parts", b'[') => {
                res = Shape::Parts;
                of_a_turn |= scan.clone().any_item_has(&[b"tool", b"status", b"start_time"]);
            }
            (b"content", b'{') => {
                certain = certain.or(scan.clone().agent_content());
            }
            (b"content", b'[') if scan.clone().has_input_parts() => {
                certain = certain.or(Some(Shape::Items));
            }
            (b"content" | b"tool_calls" | b"tool_call_id", _) if res == Shape::Nothing => {
                res = Shape::Chat;
            }
            _ => {}
        }
        scan.skip()?;
    }
    let by_members = match res {
        Shape::Parts if of_a_turn => Shape::Certain(Format::Turns),
        Shape::Nothing | Shape::Chat if has_type && !has_role => Shape::Items,
        Shape::Nothing if has_role => Shape::Chat,
        other => other,
    };
    Some(certain.unwrap_or(by_members))
}

#[derive(Clone)]
struct Scan<'a> {
    bytes: &'a [u8],
    pos: usize,
}

/// The inside of a list or an object; true until its first member has been seen.
struct Inside {
    first: bool,
}

impl<'a> Scan<'a> {
    fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.pos..)?;
        let blank = rest.iter().position(|it| !matches!(it, b' ' | b'\t' | b'\r' | b'\n'))?;
        self.pos += blank;
        Some(rest[blank])
    }

    fn open(&mut self, bracket: u8) -> Option<Inside> {
        (self.peek()? == bracket).then(|| self.pos += 1)?;
        Some(Inside { first: true })
    }

    /// Steps to the next item of a list. False at its end and at anything that is no list.
    fn item(&mut self, inside: &mut Inside) -> bool {
        if !inside.first {
            if self.peek() != Some(b',') {
                return false;
            }
            self.pos += 1;
        }
        inside.first = false;
        !matches!(self.peek(), None | Some(b']' | b'}' | b',' | b':'))
    }

    /// Steps to the value of the next member of an object and gives its name as it is written.
    fn member(&mut self, inside: &mut Inside) -> Option<&'a [u8]> {
        if !self.item(inside) {
            return None;
        }
        let name = self.text()?;
        self.skip()?;
        (self.peek()? == b':').then(|| self.pos += 1)?;
        Some(name)
    }

    /// The string that stands here, with its escapes; does not step over it.
    fn text(&mut self) -> Option<&'a [u8]> {
        (self.peek()? == b'"').then_some(())?;
        let start = self.pos + 1;
        Some(&self.bytes[start..self.string_end(start)?])
    }

    /// Where the string that starts at `start` ends: its closing quote.
    fn string_end(&self, start: usize) -> Option<usize> {
        let mut pos = start;
        loop {
            pos += memchr::memchr2(b'"', b'\\', self.bytes.get(pos..)?)?;
            if self.bytes[pos] == b'"' {
                return Some(pos);
            }
            pos += 2;
        }
    }

    /// Steps over one value, however deep.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => self.pos = self.string_end(self.pos + 1)? + 1,
                b'[' | b'{' => {
                    depth += 1;
                    self.pos += 1;
                }
                b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    self.pos += 1;
                }
                b',' | b':' if depth > 0 => self.pos += 1,
                b',' | b':' => return None,
                _ => {
                    let rest = &self.bytes[self.pos..];
                    let end = rest.iter().position(|it| b",:]}\" \t\r\n[{".contains(it));
                    self.pos += end.unwrap_or(rest.len()).max(1);
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Whether an object of this list has one of these members.
    fn any_item_has(mut self, names: &[&[u8]]) -> bool {
        let Some(mut items) = self.open(b'[') else { return false };
        for _ in 0..SAMPLE {
            if !self.item(&mut items) {
                return false;
            }
            let mut item = self.clone();
            if let Some(mut members) = item.open(b'{') {
                while let Some(name) = item.member(&mut members) {
                    if names.contains(&name) {
                        return true;
                    }
                    if item.skip().is_none() {
                        return false;
                    }
                }
            }
            if self.skip().is_none() {
                return false;
            }
        }
        false
    }

    /// Whether a part of this list is of the kinds that only Responses items have.
    fn has_input_parts(mut self) -> bool {
        let kinds: [&[u8]; 4] = [b"input_text", b"output_text", b"input_image", b"input_file"];
        let Some(mut items) = self.open(b'[') else { return false };
        while self.item(&mut items) {
            let mut part = self.clone();
            if let Some(mut members) = part.open(b'{') {
                while let Some(name) = part.member(&mut members) {
                    if name == b"type" && part.text().is_some_and(|it| kinds.contains(&it)) {
                        return true;
                    }
                    if part.skip().is_none() {
                        return false;
                    }
                }
            }
            if self.skip().is_none() {
                return false;
            }
        }
        false
    }

    /// The object that stands here, if it is tagged as the content of an agent message is.
    fn agent_content(mut self) -> Option<Shape> {
        let mut members = self.open(b'{')?;
        while let Some(name) = self.member(&mut members) {
            let tagged = match name {
                b"Text" | b"ToolCalls" | b"ToolResult" | b"MultiPart" | b"Json" => true,
                b"type" => self.text().is_some_and(|it| it == b"Text" || it == b"Json"),
                _ => false,
            };
            if tagged {
                return Some(Shape::Certain(Format::Agent));
            }
            self.skip()?;
        }
        None
    }
}
