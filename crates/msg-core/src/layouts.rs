//! The layouts of messages as data of their own (MS-6), for who stores messages in native JSON, which
//! has none, and wants them to go out later as they came in. What a layout says is the business of the
//! form that left it.

use std::{iter::Peekable, slice};

use serde::{Deserialize, Serialize};

use crate::{Extra, Message, Origin, Part};

/// What the bytes of layouts mean, raised whenever a form changes that: layouts of another version are
/// not understood.
const VERSION: u32 = 2;

/// The layouts of some messages and their parts.
///
/// ```
/// use msg_core::{Layouts, Message, Origin};
///
/// let mut read = vec![Message::user("Hi")];
/// read[0].extra.set_layout(Origin::Plain, [1]);
/// let layouts = serde_json::to_string(&Layouts::of(&read))?;
/// let mut stored: Vec<Message> = serde_json::from_str(&serde_json::to_string(&read)?)?;
/// assert_eq!(stored[0].extra.layout(&Origin::Plain), None);
///
/// serde_json::from_str::<Layouts>(&layouts)?.restore(&mut stored);
/// assert_eq!(stored[0].extra.layout(&Origin::Plain), Some(&[1][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layouts {
    version: u32,
    /// Sorted by number.
    layouts: Vec<Layout>,
}

/// One layout: the number of its message or part, counting each message and then its parts, those
/// inside of results too; the form that left it; its bytes in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Layout(usize, String, String);

/// What replaces a form where a result has no content at all. Native JSON writes an empty
/// text there, which some forms write otherwise than nothing.
const NO_CONTENT: &str = "";

impl Default for Layouts {
    /// None.
    fn default() -> Self {
        Layouts { version: VERSION, layouts: Vec::new() }
    }
}

impl Layouts {
    /// The layouts that readers left on these messages. Linear in the parts.
    pub fn of<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Self {
        let mut taken = Taken::default();
        for message in messages {
            taken.note(&message.extra);
            let mut open = vec![message.parts.iter()];
            while let Some(parts) = open.last_mut() {
                let Some(part) = parts.next() else {
                    open.pop();
                    continue;
                };
                taken.note(part.extra());
                if let Part::ToolResult(it) = part {
                    taken.note_content(it.content.parts());
                    open.push(it.content.parts().iter());
                }
            }
        }
        Layouts { version: VERSION, layouts: taken.layouts }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.layouts.is_empty()
    }

    /// Leaves the layouts on these messages: those that they were taken from, after they were stored and
    /// read. Layouts of another version of this crate are passed over, so that writers write canonically.
    pub fn restore<'m>(&self, messages: impl IntoIterator<Item = &'m mut Message>) {
        if self.version != VERSION {
            return;
        }
        let mut given = Given { number: 0, layouts: self.layouts.iter().peekable() };
        for message in messages {
            given.put(&mut message.extra);
            let mut open = vec![message.parts.iter_mut()];
            while let Some(parts) = open.last_mut() {
                let Some(part) = parts.next() else {
                    open.pop();
                    continue;
                };
                given.put(part.extra_mut());
                if let Part::ToolResult(it) = part {
                    given.put_content(it.content.parts_mut());
                    open.push(it.content.parts_mut().iter_mut());
                }
            }
        }
    }
}

/// Layouts while they are taken.
#[derive(Default)]
struct Taken {
    number: usize,
    layouts: Vec<Layout>,
}

impl Taken {
    fn note(&mut self, extra: &Extra) {
        if let Some((origin, bytes)) = extra.any_layout() {
            self.layouts.push(Layout(self.number, origin.as_str().to_owned(), to_hex(bytes)));
        }
        self.number += 1;
    }

    /// Notes where a result has no content; it counts as one part, as it will when it is read again.
    fn note_content(&mut self, parts: &[Part]) {
        if parts.is_empty() {
            self.layouts.push(Layout(self.number, NO_CONTENT.to_owned(), String::new()));
            self.number += 1;
        }
    }
}

/// Layouts while they are given back.
struct Given<'l> {
    number: usize,
    layouts: Peekable<slice::Iter<'l, Layout>>,
}

impl Given<'_> {
    fn put(&mut self, extra: &mut Extra) {
        let layout = self.layouts.next_if(|it| it.0 == self.number);
        if let Some((origin, bytes)) = layout.and_then(|it| Some((&*it.1, from_hex(&it.2)?))) {
            extra.set_layout(Origin::from(origin), bytes);
        }
        self.number += 1;
    }

    fn put_content(&mut self, parts: &mut Vec<Part>) {
        let number = self.number;
        if self.layouts.next_if(|it| it.0 == number && it.1 == NO_CONTENT).is_some() {
            parts.clear();
            self.number += 1;
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let byte = |it: &[u8]| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(byte).collect()
}
