//! The leaves of a JSON text in source order: every string, number, boolean and null, and every empty list and
//! object. Holds only the path to the current place.
//!
//! ```text
//! {"a":[{"b":1},[]]}      leaf 1 at /a/0/b      leaf [] at /a/1
//! ```

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::{memchr, memmem};
use msg_core::pointer_step;
use msg_json::Tokens;
use xxhash_rust::xxh3::xxh3_64;

use super::rules;

/// A list or an object on the current path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'t> {
    /// The name of the current member, as spelled between its quotes; for a list, the name of the list.
    pub(super) name: &'t str,
    /// The index of the current element or member, from the walk's position.
    pub(super) index: usize,
    pub(super) is_list: bool,
    /// Whether names are data, such as those of tool parameters.
    pub(super) is_free: bool,
}

/// A value without nested values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<'t> {
    /// The name of the nearest enclosing member.
    pub(super) name: &'t str,
    /// Its source text; `[]` and `{}` if empty.
    pub(super) text: &'t str,
    /// Whether its name is data.
    pub(super) is_free: bool,
    /// Whether it is the only member of its object.
    pub(super) is_only: bool,
}

impl<'t> Leaf<'t> {
    /// Whether it is a string.
    pub(super) fn is_text(&self) -> bool {
        self.text.starts_with('"')
    }

    /// The text of a string; other values as spelled.
    pub(super) fn said(&self) -> Cow<'t, str> {
        match self.text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
            Some(inner) if has_control(inner) => {
                Cow::Owned(msg_json::unescape(&without_control(inner)).text.into_owned())
            }
            Some(inner) => msg_json::unescape(inner).text,
            None => Cow::Borrowed(self.text),
        }
    }

    /// Whether it has the same key as another leaf, as far as the spelling shows.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        if self.text != other.text {
            return false;
        }
        let has_name = self.is_free || !self.is_text();
        (!self.is_text() || self.is_free == other.is_free)
            && (!has_name
                || self.name == other.name
                || rules::name_hash(self.name) == rules::name_hash(other.name))
    }

    /// The object inside a string, for members that usually contain one.
    #[inline]
    pub(super) fn object(&self) -> Option<Cow<'t, str>> {
        let may_be = matches!(self.text.as_bytes(), [b'"', b'{' | b'[', ..])
            && !self.is_free
            && rules::holds_json(self.name);
        if may_be { self.object_inside() } else { None }
    }

    fn object_inside(&self) -> Option<Cow<'t, str>> {
        let object = self.said();
        // Other notations, such as `{'a': 1}`, are text.
        let mut inside = object.strip_prefix('{').into_iter().flat_map(str::bytes);
        let first = inside.find(|it| !it.is_ascii_whitespace());
        if first.is_some_and(|it| !matches!(it, b'"' | b'}')) {
            return None;
        }
        let end = msg_json::value_end(object.as_bytes(), 0);
        (end == Some(object.trim_end().len())).then_some(object)
    }

    /// Arguments that are not an object, as the value of the object that wraps them.
    pub(super) fn wrapped(&self) -> Option<Self> {
        let is_text = self.is_text() && !self.is_free && rules::holds_json(self.name);
        is_text.then_some(Leaf { name: WRAPPED, is_free: true, ..*self })
    }

    /// The frame around the values of that object.
    pub(super) fn top(&self) -> Frame<'t> {
        Frame { name: self.name, is_free: rules::is_free(self.name, usize::MAX), ..TOP }
    }

    /// The key that it is paired by: a string by its text, wherever it is; any other value also by its name.
    pub(super) fn key(&self) -> u64 {
        let value = match is_spelled_freely(self.text) {
            true => text_key(&self.said()),
            false => xxh3_64(self.text.as_bytes()),
        };
        match self.is_free || !self.is_text() {
            true => value ^ rules::name_hash(self.name),
            false => value,
        }
    }

    /// The key of the value with its name.
    pub(super) fn place_key(&self) -> u64 {
        xxh3_64(self.text.as_bytes()) ^ xxh3_64(self.name.as_bytes()).rotate_left(1)
    }
}

/// The key of a string with this text.
pub(super) fn text_key(said: &str) -> u64 {
    let mut text = Vec::with_capacity(said.len() + 2);
    msg_json::write_str(&mut text, said);
    xxh3_64(&text)
}

/// The key of a value other than a string in a member with this name.
pub(super) fn member_key(name: &str, value: &str) -> u64 {
    xxh3_64(value.as_bytes()) ^ rules::name_hash(name)
}

/// The only member of the object that wraps arguments which are not an object.
const WRAPPED: &str = "_raw";

/// An object or list below this many levels is one leaf: paths have a bound, and so has what a leaf costs.
const MAX_DEPTH: usize = 128;

/// The initial capacity in levels.
const FRAMES: usize = 16;

/// The frame around texts.
pub(super) const TOP: Frame<'static> = Frame { name: "", index: 0, is_list: true, is_free: false };

/// Calls `visit` for each leaf of a text, or of several texts one after the other, with the path to it. The outermost
/// level is the list of texts; most documents have one. Arguments that are an object in a string count as the object.
/// Linear.
pub(super) fn walk(text: &str, mut visit: impl FnMut(Leaf<'_>, &[Frame<'_>])) {
    walk_in(text, TOP, 0, &mut visit);
}

/// Receives the leaves of a text.
pub(super) trait Visit {
    fn leaf(&mut self, leaf: Leaf<'_>, way: &[Frame<'_>]);

    /// Whether the leaves of an object in a string are completely handled.
    fn holds(&mut self, _leaf: &Leaf<'_>, _object: &str) -> bool {
        false
    }
}

impl<V: FnMut(Leaf<'_>, &[Frame<'_>])> Visit for V {
    fn leaf(&mut self, leaf: Leaf<'_>, way: &[Frame<'_>]) {
        self(leaf, way);
    }
}

pub(super) fn walk_in<V: Visit>(text: &str, top: Frame<'_>, outer: usize, visit: &mut V) {
    let mut walk = Walk::new(text, top, outer);
    while let Some(leaf) = walk.next_leaf("", None) {
        match leaf.object() {
            None => visit.leaf(leaf, &walk.frames),
            Some(object) if visit.holds(&leaf, &object) => {}
            Some(object) => walk_inside(&object, &leaf, &walk.frames, visit),
        }
    }
}

/// Visits the leaves of an object in a string, as if they were at the place of the string.
fn walk_inside(object: &str, leaf: &Leaf<'_>, frames: &[Frame<'_>], visit: &mut dyn Visit) {
    let mut leaf_of = |inner: Leaf<'_>, _: &[Frame<'_>]| visit.leaf(inner, frames);
    walk_in(object, leaf.top(), frames.len(), &mut leaf_of);
}

/// The state of a walk over a text.
pub(super) struct Walk<'t> {
    tokens: Tokens<'t>,
    pub(super) frames: Vec<Frame<'t>>,
    /// The number of levels around the text.
    outer: usize,
    /// Whether the last leaf was at the top level.
    was_at_top: bool,
}

impl<'t> Walk<'t> {
    pub(super) fn new(text: &'t str, top: Frame<'t>, outer: usize) -> Self {
        let mut frames = Vec::with_capacity(FRAMES);
        frames.push(top);
        Walk { tokens: msg_json::tokens(text), frames, outer, was_at_top: false }
    }

    /// The next leaf, which may be equal to `like`. An object whose names are data may be skipped as a whole if it
    /// equals `object`, which lacks its opening brace.
    pub(super) fn next_leaf(&mut self, like: &str, object: Option<&str>) -> Option<Leaf<'t>> {
        let Walk { tokens, frames, outer, was_at_top } = self;
        if let ([top], true) = (&mut frames[..], std::mem::take(was_at_top)) {
            top.index += 1;
        }
        loop {
            let depth = frames.len();
            let frame = frames.last_mut().expect("the one at the top stays");
            let mut is_named = frame.is_list;
            let text = loop {
                match tokens.peek_byte()? {
                    b',' => {
                        frame.index += 1;
                        tokens.step();
                    }
                    b':' => tokens.step(),
                    mark @ (b'{' | b'}' | b'[' | b']') => {
                        tokens.step();
                        break Err(mark);
                    }
                    b'"' if !is_named => {
                        let Some(name) = tokens.take_name() else {
                            break Ok(tokens.take_value(""));
                        };
                        frame.name = name;
                        is_named = true;
                    }
                    _ => break Ok(tokens.take_value(like)),
                }
            };
            let text = match text {
                Ok(text) => text,
                Err(b'}' | b']') => {
                    if depth > 1 {
                        frames.pop();
                    }
                    if let [top] = &mut frames[..] {
                        top.index += usize::from(depth > 1);
                    }
                    continue;
                }
                Err(open) => {
                    let is_list = open == b'[';
                    let (close, empty) = if is_list { (b']', "[]") } else { (b'}', "{}") };
                    let is_free = frame.is_free
                        || !frame.is_list && rules::is_free(frame.name, *outer + depth);
                    if let Some(object) = object.filter(|_| is_free && !is_list)
                        && let Some(text) = tokens.step_over(object)
                    {
                        return Some(Leaf { name: frame.name, text, is_free, is_only: false });
                    }
                    if depth >= MAX_DEPTH {
                        let text = tokens.step_out()?;
                        let Frame { name, is_free, .. } = *frame;
                        return Some(Leaf { name, text, is_free, is_only: false });
                    }
                    if !tokens.take_mark(close) {
                        let name = if is_list { frame.name } else { "" };
                        frames.push(Frame { name, index: 0, is_list, is_free });
                        continue;
                    }
                    empty
                }
            };
            *was_at_top = depth == 1;
            let is_only = !frame.is_list && frame.index == 0 && tokens.peek_byte() == Some(b'}');
            return Some(Leaf { name: frame.name, text, is_free: frame.is_free, is_only });
        }
    }
}

/// Texts up to this many bytes are short.
const SHORT: usize = 32;

/// Whether a text contains an unescaped control character.
fn has_control(text: &str) -> bool {
    text.bytes().fold(false, |res, it| res | (it < b' '))
}

/// The inner text of a string with its control characters escaped.
fn without_control(inner: &str) -> String {
    let mut res = String::with_capacity(inner.len() + 8);
    for it in inner.chars() {
        match it < ' ' {
            true => res.push_str(&format!("\\u{:04x}", u32::from(it))),
            false => res.push(it),
        }
    }
    res
}

/// Whether a string has an escape that is optional (of a code point or a slash), or an unescaped control character,
/// which agents' records may have.
fn is_spelled_freely(text: &str) -> bool {
    let bytes = text.as_bytes();
    if has_control(text) {
        return true;
    }
    // Most are ids and words: a call of the fast search would cost more.
    if bytes.len() < SHORT && !bytes.contains(&b'\\') {
        return false;
    }
    // An escaped backslash before the letter is not such an escape; the text has the same key either way.
    memchr(b'\\', bytes).is_some() && FREE_ESCAPES.iter().any(|it| it.find(bytes).is_some())
}

/// Optional escapes. A long text may have many other escapes, so searching for these is faster.
static FREE_ESCAPES: LazyLock<[memmem::Finder<'_>; 2]> =
    LazyLock::new(|| [r"\u", r"\/"].map(memmem::Finder::new));

/// The names and indexes on the path to a value. `is_one` if the document is one text instead of several lines.
pub(super) fn steps(frames: &[Frame<'_>], is_one: bool) -> Vec<String> {
    let step = |it: &Frame<'_>| match it.is_list {
        true => it.index.to_string(),
        false => msg_json::unescape(it.name).text.into_owned(),
    };
    frames[usize::from(is_one)..].iter().map(step).collect()
}

/// These steps as a JSON Pointer (RFC 6901).
pub(super) fn pointer(steps: &[String]) -> String {
    steps.iter().map(|it| format!("/{}", pointer_step(it))).collect()
}
