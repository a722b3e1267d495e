//! One list or object, split into what is in it and the white space around that.
//!
//! ```text
//! {"a": 1 , "b":2 }
//!  └┬┘└┘└┘└┘        key `"a"`, colon `: `, value `1`, tail ` `
//!            └─ lead of the next entry      ` ` before the brace: close
//! ```
//!
//! Looks at one level: values are slices of the text. The text is taken to be JSON.

use std::{borrow::Cow, cell::OnceCell};

use msg_json::{unescape, value_end};

/// A list or an object.
pub(super) struct Level<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    /// White space before the closing bracket.
    pub(super) close: &'a str,
    /// Whether each list and object in it is on one line, once that was asked: each new entry asks it.
    of_lines: OnceCell<bool>,
}

/// An element of a list, or a member of an object.
pub(super) struct Entry<'a> {
    /// White space before it.
    pub(super) lead: &'a str,
    /// The name of a member.
    pub(super) key: Option<Key<'a>>,
    pub(super) value: &'a str,
    /// White space between it and the comma after it.
    pub(super) tail: &'a str,
}

/// The name of a member.
pub(super) struct Key<'a> {
    /// With its quotes, as it is spelled.
    pub(super) source: &'a str,
    pub(super) text: Cow<'a, str>,
    /// From the name to the value.
    pub(super) colon: &'a str,
}

/// Whether a value is a list or an object.
pub(super) fn is_container(value: &str) -> bool {
    value.starts_with(['{', '['])
}

impl<'a> Level<'a> {
    /// The level of a list or an object; nothing of any other value.
    pub(super) fn of(value: &'a str) -> Option<Self> {
        let is_object = value.starts_with('{');
        if !is_container(value) {
            return None;
        }
        let mut cursor = Cursor { text: value, at: 1 };
        let mut level = Level { entries: Vec::new(), close: "", of_lines: OnceCell::new() };
        loop {
            let lead = cursor.blanks();
            if cursor.is_at_end() {
                level.close = lead;
                return Some(level);
            }
            let key = if is_object { Some(cursor.key()?) } else { None };
            let (value, tail) = (cursor.value()?, cursor.blanks());
            let is_last = cursor.is_at_end();
            level.entries.push(Entry { lead, key, value, tail: if is_last { "" } else { tail } });
            if is_last {
                level.close = tail;
                return Some(level);
            }
            cursor.step();
        }
    }

    /// The level of a list of these values.
    pub(super) fn of_values(values: impl Iterator<Item = &'a str>) -> Self {
        let entry = |value| Entry { lead: "", key: None, value, tail: "" };
        Level { entries: values.map(entry).collect(), close: "", of_lines: OnceCell::new() }
    }

    /// White space before an entry that has none of its own: before the first one, or before others.
    pub(super) fn lead(&self, is_first: bool) -> Option<&'a str> {
        let first = self.entries.first()?.lead;
        let other = self.entries.get(1).map(|it| it.lead);
        if is_first { Some(first) } else { other.or(Some(first).filter(|it| it.contains('\n'))) }
    }

    /// How far its entries are indented; nothing where they share a line.
    pub(super) fn indent(&self) -> Option<&'a str> {
        let lead = self.lead(false)?;
        lead.rfind('\n').map(|at| &lead[at + 1..])
    }

    /// Whether each list and object in it is on one line.
    pub(super) fn is_of_lines(&self) -> bool {
        *self.of_lines.get_or_init(|| {
            let values = self.entries.iter().map(|it| it.value);
            let mut inner = values.filter(|it| is_container(it) && it.len() > 2);
            let Some(first) = inner.next() else { return false };
            !first.contains('\n') && inner.all(|it| !it.contains('\n'))
        })
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self) {
        self.at += 1;
    }

    fn is_at_end(&self) -> bool {
        matches!(self.rest().as_bytes().first(), None | Some(b']' | b'}'))
    }

    fn blanks(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.len() - rest.trim_start_matches([' ', '\n', '\r', '\t']).len();
        self.at += len;
        &rest[..len]
    }

    fn value(&mut self) -> Option<&'a str> {
        let end = value_end(self.text.as_bytes(), self.at)?;
        let value = self.text.get(self.at..end)?;
        self.at = end;
        Some(value)
    }

    fn key(&mut self) -> Option<Key<'a>> {
        let source = self.value()?;
        let start = self.at;
        self.blanks();
        self.step();
        self.blanks();
        let colon = self.text.get(start..self.at)?;
        let text = unescape(source.get(1..source.len() - 1)?).text;
        Some(Key { source, text, colon })
    }
}
