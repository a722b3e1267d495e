//! A line of a log repeats most of the request before it. The messages that both have in common, byte for byte, are not
//! read again: their cells are taken from the outline of that request.
//!
//! ```text
//! before  {…"messages":[A,B,C,D,E]…}
//! line    {…"messages":[A,B,C,D,E,F,G]…}
//! read    {…"messages":[A,-,-,-,-,F,G]…}    B to E are those of the request before
//! ```
//!
//! Whatever is not exactly like this is read in full: the answers are the same, only later.

use msg_json::{JsonError, JsonValue as Value, Reader};

use crate::cell::Unit;
use crate::entry::REQUESTS;
use crate::family::Family;
use crate::prompt::Prompt;

/// A request of the log, as lines after it are compared with it.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) line: Vec<u8>,
    pub(crate) layout: Layout,
    /// Tells growth, which is the rule, without reading the line again.
    pub(crate) prompt: Prompt<'static>,
}

/// Where the messages of a line are: their list, and where each ends in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    list: usize,
    ends: Vec<usize>,
}

/// What is known of a line while it is read.
#[derive(Default)]
pub(crate) struct Repeats<'r> {
    pub(crate) line: &'r [u8],
    near: Vec<&'r Kept>,
    pub(crate) layout: Layout,
    /// The outline of the request whose messages are left out, and the places of those that are, in order.
    pub(crate) of: Option<&'r Prompt<'static>>,
    pub(crate) left_out: Vec<usize>,
}

impl Kept {
    /// Where a message ends that is among the first bytes of the list; none if it has to be read: the first one, by which
    /// the family is recognised, and those that mark a cell of the message before, or of which the next one does.
    fn end(&self, index: usize, n_same: usize) -> Option<usize> {
        let units = &self.prompt.units;
        let at = index.checked_sub(units.first()?.index).filter(|it| *it > 0)?;
        let end = *self.layout.ends.get(index)?;
        let is_plain = |it: &Unit| !it.marks_before && it.cells.0 < it.cells.1;
        let is_free = units.iter().skip(at).take(2).all(is_plain);
        let is_object = self.line[self.layout.list + end - 1] == b'}';
        (end <= n_same && is_free && is_object).then_some(end)
    }
}

impl<'r> Repeats<'r> {
    /// A line that may repeat one of these. The citations of all messages make a setting, so that all are read there.
    pub(crate) fn new(line: &'r [u8], near: impl Iterator<Item = &'r Kept>) -> Self {
        let cites = |it: &Kept| it.prompt.settings.iter().any(|it| it.name == "citations");
        let near = near.filter(|it| !cites(it)).collect();
        Repeats { line, near, ..Repeats::default() }
    }

    /// Reads a line, or a request in it.
    pub(crate) fn read<'a>(&mut self, reader: &mut Reader<'a>) -> Result<Value<'a>, JsonError> {
        let mut members = Vec::new();
        reader.begin_object()?;
        while let Some(name) = reader.next_key()? {
            let is_list = Family::ALL.iter().any(|it| it.table().list == name.text);
            let it = match reader.peek()? {
                msg_json::Kind::Array if is_list => self.messages(reader, &name.text)?,
                msg_json::Kind::Object if REQUESTS.contains(&&*name.text) => self.read(reader)?,
                _ => Value::next(reader)?,
            };
            members.push((name.text, it));
        }
        Ok(Value::Object(members))
    }

    fn messages<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        name: &str,
    ) -> Result<Value<'a>, JsonError> {
        let list = reader.next_offset();
        let alike = self.near.iter().filter(|it| it.prompt.family.table().list == name);
        let common = |it: &Kept| common_beginning(&it.line[it.layout.list..], &self.line[list..]);
        let longest = alike.map(|it| (common(it), *it)).max_by_key(|it| it.0);
        let (mut messages, mut ends) = (Vec::new(), Vec::new());
        reader.begin_array()?;
        while reader.next_element()? {
            let end = longest.and_then(|(n_same, it)| it.end(ends.len(), n_same));
            messages.push(match end {
                Some(end) => {
                    reader.pass_to(list + end);
                    self.left_out.push(ends.len());
                    Value::Null
                }
                None => Value::next(reader)?,
            });
            ends.push(reader.offset() - list);
        }
        self.layout = Layout { list, ends };
        self.of = longest.map(|it| &it.1.prompt);
        Ok(Value::List(messages))
    }
}

fn common_beginning(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 256;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let n_same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[n_same..].iter().zip(&other[n_same..]);
    n_same + rest.take_while(|(one, other)| one == other).count()
}
