//! The leaves of a JSON text in the order in which they are written: every string, number, boolean and null, and
//! every list and object that is empty. What is held is the way to where the walk is, nothing else.
//!
//! ```text
//! {"a":[{"b":1},[]]}      leaf 1 at /a/0/b      leaf [] at /a/1
//! ```

use std::borrow::Cow;

use msg_json::Token;
use xxhash_rust::xxh3::xxh3_64;

use super::rules;

/// A list or an object that the walk is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'t> {
    /// The name of the member that the walk is at, as it is written between its quotes; of a list, that of the list.
    pub(super) name: &'t str,
    /// How many elements or members are after the walk.
    pub(super) index: usize,
    pub(super) is_list: bool,
    /// Whether names are data, such as those of a tool's parameters.
    is_free: bool,
}

/// A value that holds no other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<'t> {
    /// The name of the nearest member that holds it.
    pub(super) name: &'t str,
    /// Its source text; `[]` and `{}` for what is empty.
    pub(super) text: &'t str,
    /// Whether its name is data, too.
    pub(super) is_free: bool,
    /// Whether it is the only member of its object.
    pub(super) is_only: bool,
    /// Whether it is a string with escapes that a writer need not use.
    is_spelled_freely: bool,
}

impl<'t> Leaf<'t> {
    /// Whether it is a string.
    pub(super) fn is_text(&self) -> bool {
        self.text.starts_with('"')
    }

    /// The text of a string; any other value as it is written.
    pub(super) fn said(&self) -> Cow<'t, str> {
        match self.text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
            Some(inner) => msg_json::unescape(inner).text,
            None => Cow::Borrowed(self.text),
        }
    }

    /// What it is paired by: a string by its text, wherever it is; any other value by its name, too.
    pub(super) fn key(&self) -> u64 {
        let value = match self.is_spelled_freely {
            true => text_key(&self.said()),
            false => xxh3_64(self.text.as_bytes()),
        };
        match self.is_free || !self.is_text() {
            true => value ^ rules::name_hash(self.name),
            false => value,
        }
    }
}

/// The key of a string that says this.
pub(super) fn text_key(said: &str) -> u64 {
    let mut text = Vec::with_capacity(said.len() + 2);
    msg_json::write_str(&mut text, said);
    xxh3_64(&text)
}

/// The key of a value that is not a string in a member of this name.
pub(super) fn member_key(name: &str, value: &str) -> u64 {
    xxh3_64(value.as_bytes()) ^ rules::name_hash(name)
}

/// Room for so many levels is taken at once.
const FRAMES: usize = 16;

/// Calls `visit` for each leaf of a text, or of several texts one after the other, with the way to it: first the list
/// of the texts, of which most documents have one. Arguments of a call that are an object in a string count as the
/// object. Linear.
pub(super) fn walk(text: &str, mut visit: impl FnMut(Leaf<'_>, &[Frame<'_>])) {
    walk_in(text, Frame { name: "", index: 0, is_list: true, is_free: false }, 0, &mut visit);
}

fn walk_in(
    text: &str,
    top: Frame<'_>,
    outer: usize,
    visit: &mut dyn FnMut(Leaf<'_>, &[Frame<'_>]),
) {
    let mut frames = Vec::with_capacity(FRAMES);
    frames.push(top);
    let mut tokens = msg_json::tokens(text);
    while let Some(token) = tokens.next_token() {
        let depth = frames.len();
        let frame = frames.last_mut().expect("the one at the top stays");
        let (text, is_spelled_freely) = match token {
            Token::Mark(b',') => {
                frame.index += 1;
                continue;
            }
            Token::Mark(b'}' | b']') if depth > 1 => {
                frames.pop();
                if let [top] = &mut frames[..] {
                    top.index += 1;
                }
                continue;
            }
            Token::Mark(open @ (b'{' | b'[')) => {
                let is_list = open == b'[';
                let (close, empty) = if is_list { (b']', "[]") } else { (b'}', "{}") };
                if tokens.peek_byte() != Some(close) {
                    let is_free = frame.is_free
                        || !frame.is_list && rules::is_free(frame.name, outer + depth);
                    let name = if is_list { frame.name } else { "" };
                    frames.push(Frame { name, index: 0, is_list, is_free });
                    continue;
                }
                tokens.next_token();
                (empty, false)
            }
            Token::Mark(_) => continue,
            Token::Text { source, .. } if !frame.is_list && tokens.peek_byte() == Some(b':') => {
                tokens.next_token();
                frame.name = source.get(1..source.len() - 1).unwrap_or_default();
                continue;
            }
            Token::Text { source, is_spelled_freely } => (source, is_spelled_freely),
            Token::Scalar(text) => (text, false),
        };
        let is_only = !frame.is_list && frame.index == 0 && tokens.peek_byte() == Some(b'}');
        let (name, is_free) = (frame.name, frame.is_free);
        let leaf = Leaf { name, text, is_free, is_only, is_spelled_freely };
        if leaf.is_free || !in_a_string(leaf, &frames, visit) {
            visit(leaf, &frames);
        }
        if let [top] = &mut frames[..] {
            top.index += 1;
        }
    }
}

/// Visits the leaves of an object that is written in a string, where that is usual.
fn in_a_string(
    leaf: Leaf<'_>,
    frames: &[Frame<'_>],
    visit: &mut dyn FnMut(Leaf<'_>, &[Frame<'_>]),
) -> bool {
    let is_value = matches!(leaf.text.as_bytes(), [b'"', b'{' | b'[', ..]);
    if !is_value || !rules::holds_json(leaf.name) {
        return false;
    }
    let object = leaf.said();
    if msg_json::value_end(object.as_bytes(), 0) != Some(object.trim_end().len()) {
        return false;
    }
    let is_free = rules::is_free(leaf.name, usize::MAX);
    let top = Frame { name: leaf.name, index: 0, is_list: true, is_free };
    walk_in(&object, top, frames.len(), &mut |inner, _| visit(inner, frames));
    true
}

/// The names and indices on the way to a value. `is_one` if the document is one text, not lines of several.
pub(super) fn steps(frames: &[Frame<'_>], is_one: bool) -> Vec<String> {
    let step = |it: &Frame<'_>| match it.is_list {
        true => it.index.to_string(),
        false => msg_json::unescape(it.name).text.into_owned(),
    };
    frames[usize::from(is_one)..].iter().map(step).collect()
}

/// These steps as a JSON Pointer (RFC 6901).
pub(super) fn pointer(steps: &[String]) -> String {
    steps.iter().map(|it| format!("/{}", it.replace('~', "~0").replace('/', "~1"))).collect()
}
