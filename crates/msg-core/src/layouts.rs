//! The layouts of messages as data of their own (MS-6), for who stores messages in native JSON, which
//! has none, and wants them to go out later as they came in. What a layout says is the business of the
//! form that left it.

use serde::{Deserialize, Serialize};

use crate::{Extra, Message, Origin, Part};

/// What the bytes of layouts mean, raised whenever a form changes that: layouts of another version are
/// not understood.
const VERSION: u32 = 1;

/// The layouts of some messages and their parts.
///
/// ```
/// use msg_core::{Layouts, Message, Report, plain};
///
/// let source = br#"[{"content":"Hi","role":"user"}]"#;
/// let read = plain::read(source, &mut Report::default())?;
/// let layouts = serde_json::to_string(&Layouts::of(&read))?;
/// let mut stored: Vec<Message> = serde_json::from_str(&serde_json::to_string(&read)?)?;
///
/// serde_json::from_str::<Layouts>(&layouts)?.restore(&mut stored);
/// let mut out = Vec::new();
/// plain::write(&stored, &mut out, &mut Report::default());
/// assert_eq!(out, source);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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

impl Layouts {
    /// The layouts that readers left on these messages. Linear in the parts.
    pub fn of<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Self {
        let mut layouts = Vec::new();
        let mut number = 0;
        let mut note = |extra: &Extra| {
            if let Some((origin, bytes)) = extra.any_layout() {
                layouts.push(Layout(number, origin.as_str().to_owned(), to_hex(bytes)));
            }
            number += 1;
        };
        for message in messages {
            note(&message.extra);
            let mut open = vec![message.parts.iter()];
            while let Some(parts) = open.last_mut() {
                match parts.next() {
                    Some(part) => {
                        note(part.extra());
                        open.extend(part.as_tool_result().map(|it| it.content.parts().iter()));
                    }
                    None => drop(open.pop()),
                }
            }
        }
        Layouts { version: VERSION, layouts }
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
        let mut layouts = self.layouts.iter().peekable();
        let mut number = 0;
        let mut put = |extra: &mut Extra| {
            let layout = layouts.next_if(|it| it.0 == number);
            if let Some((origin, bytes)) = layout.and_then(|it| Some((&*it.1, from_hex(&it.2)?))) {
                extra.set_layout(Origin::from(origin), bytes);
            }
            number += 1;
        };
        for message in messages {
            put(&mut message.extra);
            let mut open = vec![message.parts.iter_mut()];
            while let Some(parts) = open.last_mut() {
                let Some(part) = parts.next() else {
                    open.pop();
                    continue;
                };
                put(part.extra_mut());
                if let Part::ToolResult(it) = part {
                    open.push(it.content.parts_mut().iter_mut());
                }
            }
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
