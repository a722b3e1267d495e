//! The places of findings in the source: JSON Pointer, line and column, in the terms of the
//! document.
//!
//! ```text
//! {"system":"s","messages":[{"role":"user",…},{"role":"assistant","content":[{"type":"tool_use",…}]}]}
//! message 2, part 0   ─▶   /messages/1/content/0, line 1, column 75
//! ```
//!
//! Runs only for documents with findings. Linear in the source and the findings.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use memchr::memmem;
use msg_core::{Diagnostic, Message, Part, Role, pointer_step, step_name};
use msg_json::{JsonError, Kind, Reader, value_end};

use crate::api_shapes::{Members, Seen};
use crate::document::Document;
use crate::json::chars;

/// The lists of messages that bodies and stores have.
const LISTS: &[&str] =
    &["messages", "contents", "input", "output", "conversations", "turns", "events", "steps"];

/// The members that hold system prompts beside a list.
const PROMPTS: &[&str] = &["system", "systemInstruction", "system_instruction", "instructions"];

/// Objects of a source: each with its pointer and offset, in order.
type Objects = Vec<(String, usize)>;

/// Objects by the ids that they have as members, and the calls and results with these ids.
struct ById {
    objects: HashMap<String, Objects>,
    /// Message and part of each, in order.
    parts: HashMap<String, Vec<(usize, usize)>>,
}

/// The messages of a source.
struct Listed {
    /// The pointer of the list.
    pointer: String,
    /// The start and end of each element.
    spans: Vec<(usize, usize)>,
    /// The first element of each message; `None` for a message outside the list.
    firsts: Vec<Option<usize>>,
    /// How many messages come from members beside the list.
    beside: usize,
}

impl Document {
    /// Adds JSON Pointer, line and column to findings that have none, if the messages are those of one list or the
    /// call or result can be found by its id. Leaves other findings alone, and all findings about a source that is
    /// not a single JSON value.
    ///
    /// ```
    /// use msg_document::{CheckOptions, Document, ReadOptions};
    ///
    /// let json = b"{\n \"messages\": [\n  {\"role\": \"user\", \"content\": \"q\"},\n  {\"role\": \"tool\", \"tool_call_id\": \"c9\", \"content\": \"r\"}\n ]\n}";
    /// let mut document = Document::read(json, &ReadOptions::default())?;
    /// let mut found = document.check(&CheckOptions::default()).diagnostics;
    /// document.locate(json, &mut found);
    /// let at = &found[0].at;
    /// assert_eq!(at.pointer.as_deref(), Some("/messages/1/content"));
    /// assert_eq!((at.line, at.column), (Some(4), Some(53)));
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn locate(&self, source: &[u8], found: &mut [Diagnostic]) {
        if let Ok(source) = std::str::from_utf8(source) {
            self.locate_in(source, None, found);
        }
    }

    /// As [`Document::locate`], with what the walk of the API rules saw of the source, if there was one.
    pub(crate) fn locate_in(&self, text: &str, seen: Option<Seen<'_>>, found: &mut [Diagnostic]) {
        if found.iter().all(|it| it.at.line.is_some()) || !self.format().is_json() {
            return;
        }
        if self.format().is_session() && !is_one_value(text) {
            return;
        }
        let messages = self.messages();
        let ids = found.iter().filter_map(|it| it.at.tool_call_id.clone()).collect::<HashSet<_>>();
        let mut by_id = None;
        let list = match seen.as_ref().and_then(Listed::seen) {
            Some(list) => Some(list),
            None => list(text).unwrap_or(None),
        };
        let elements = self.elements();
        let steps = Steps::new(text);
        seen.into_iter().for_each(|it| steps.know(it.odd));
        let listed = list.as_ref().and_then(|it| it.of(&steps, messages, elements));
        let lines = LineIndex::new(text);
        let place = |offset| {
            let (line, column) = lines.of(text, offset);
            (Some(line), Some(column))
        };
        for it in found.iter_mut().filter(|it| it.at.line.is_none()) {
            if it.at.pointer.is_some() {
                let pointer = it.at.pointer.as_deref().unwrap_or_default();
                if let Some(start) = steps.follow(0, pointer) {
                    (it.at.line, it.at.column) = place(start);
                }
                continue;
            }
            if it.code.as_str().starts_with("turn::") {
                if let Some(found) = list.as_ref().and_then(|list| list.turn(&steps, it)) {
                    it.at.pointer = Some(found.pointer);
                    (it.at.line, it.at.column) = place(found.offset);
                }
                continue;
            }
            let id = it.at.tool_call_id.as_deref();
            let placed = listed.as_ref().and_then(|listed| listed.place(&steps, messages, it));
            // An element without the id is the wrong one, unless the source does not contain the id at all.
            let by_id =
                id.filter(|_| !placed.as_ref().is_some_and(|it| it.has_id)).and_then(|id| {
                    by_id.get_or_insert_with(|| ById::new(text, messages, &ids)).of(id, it)
                });
            let found = by_id.or_else(|| placed.map(|it| (it.pointer, it.offset)));
            let Some((pointer, offset)) = found else { continue };
            it.at.pointer = Some(pointer);
            (it.at.line, it.at.column) = place(offset);
        }
    }
}

impl Document {
    /// The edits with their places in the source, as [`Document::locate`] adds them. Without a
    /// [source](msg_formats::Document::set_source), returns them unchanged. Linear in the source and the edits.
    pub fn located(&self, edits: &[Diagnostic]) -> Vec<Diagnostic> {
        let mut res = edits.to_vec();
        if let Some(source) = self.source()
            && !edits.is_empty()
            && let Ok(read) =
                Document::read(source, &self.read_options().with_from(Some(self.format())))
        {
            read.locate(source, &mut res);
        }
        res
    }
}

/// The place of a finding.
struct Found {
    pointer: String,
    offset: usize,
    /// Whether the element has the id that the finding names.
    has_id: bool,
}

impl Listed {
    fn new(pointer: String, spans: Vec<(usize, usize)>) -> Self {
        Listed { pointer, spans, firsts: Vec::new(), beside: 0 }
    }

    /// The list that a walk saw; `None` if it is not the first list of the document.
    fn seen(seen: &Seen<'_>) -> Option<Listed> {
        if seen.list.is_empty() {
            return None;
        }
        if seen.members.is_empty() {
            return Some(Listed::new(String::new(), seen.elements.clone()));
        }
        let is_list = |it: &&(Cow<'_, str>, &str)| LISTS.contains(&&*it.0) && it.1.starts_with('[');
        let first = seen.members.iter().find(is_list)?;
        let beside = seen.members.iter().filter(|it| PROMPTS.contains(&&*it.0)).count();
        let res = Listed::new(format!("/{}", first.0), seen.elements.clone());
        std::ptr::eq(first.1, seen.list).then_some(Listed { beside, ..res })
    }

    /// Matches the list with the messages: each message is one element, or an assistant message is several adjacent
    /// items.
    fn of(
        &self,
        steps: &Steps<'_>,
        messages: &[Message],
        elements: Option<&[Option<usize>]>,
    ) -> Option<Listed> {
        let leads = messages.first().is_some_and(|it| it.role == Role::System);
        let beside = if leads && elements.is_none() { self.beside.min(1) } else { 0 };
        let firsts: Vec<_> = match elements {
            Some(it) => it.to_vec(),
            None if self.spans.len() + beside == messages.len() => {
                (0..self.spans.len()).map(Some).collect()
            }
            None => self.speeches(steps),
        };
        // `None` if an element became several messages, or several elements became one.
        (firsts.len() + beside == messages.len()).then(|| Listed {
            pointer: self.pointer.clone(),
            spans: self.spans.clone(),
            firsts,
            beside,
        })
    }

    /// The first element of each message: every element of another author, and the first of each run of assistant
    /// items.
    fn speeches(&self, steps: &Steps<'_>) -> Vec<Option<usize>> {
        let mut speaks = false;
        let mut res = Vec::new();
        for (at, &(start, _)) in self.spans.iter().enumerate() {
            let goes_on = is_of_an_assistant(steps, start);
            if !(speaks && goes_on) {
                res.push(Some(at));
            }
            speaks = goes_on;
        }
        res
    }

    /// The place of a finding about a turn. Such findings count turns instead of messages.
    fn turn(&self, steps: &Steps<'_>, of: &Diagnostic) -> Option<Found> {
        let index = of.at.message?;
        let &(start, _) = self.spans.get(index)?;
        let below = of.at.part.map(|part| format!("/parts/{part}"));
        let below = below.and_then(|it| Some((steps.follow(start, &it)?, it)));
        let (offset, below) = below.unwrap_or((start, String::new()));
        let pointer = format!("{}/{index}{below}", self.pointer);
        Some(Found { pointer, offset, has_id: true })
    }

    fn place(&self, steps: &Steps<'_>, messages: &[Message], of: &Diagnostic) -> Option<Found> {
        let number = of.at.message?;
        let at = number.checked_sub(self.beside)?;
        let index = (*self.firsts.get(at)?)?;
        let &(start, end) = self.spans.get(index)?;
        let first = |at: usize| self.firsts.get(at).copied().flatten();
        let next = first(at + 1).unwrap_or(self.spans.len());
        let is_alone = next == index + 1 && at.checked_sub(1).and_then(first) != Some(index);
        // Part numbers match the element only if the message is exactly this element.
        let below = of
            .at
            .part
            .filter(|_| is_alone)
            .and_then(|part| part_below(messages.get(number)?, part, (steps, start)));
        // A message with many parts may have many findings, so it is not searched for each.
        let is_short = messages.get(number).is_some_and(|it| it.parts.len() < 8);
        let searched = || match (is_short, &below) {
            (true, _) => Some(&steps.text[start..end]),
            (false, Some((offset, _))) => {
                Some(&steps.text[*offset..value_end(steps.text.as_bytes(), *offset)?])
            }
            (false, None) => None,
        };
        let has_id = of.at.tool_call_id.as_deref();
        let contains =
            |text: &str, id: &str| memmem::find(text.as_bytes(), id.as_bytes()).is_some();
        let has_id = has_id.is_none_or(|id| searched().is_some_and(|it| contains(it, id)));
        let (offset, below) = below.unwrap_or((start, String::new()));
        let pointer = format!("{}/{index}{below}", self.pointer);
        Some(Found { pointer, offset, has_id })
    }
}

/// Whether an element belongs to an assistant message: it has that role, or is an item other than a message or a
/// result.
fn is_of_an_assistant(steps: &Steps<'_>, element: usize) -> bool {
    let word = |pointer: &str| {
        let at = steps.follow(element, pointer)?;
        Reader::from_text(&steps.text[at..]).string().ok().map(|it| it.text.into_owned())
    };
    match (word("/role"), word("/type")) {
        (Some(role), _) => role == "assistant",
        (None, Some(kind)) => {
            let is_result = kind.ends_with("_output") && kind != "model_output";
            !is_result && !kind.ends_with("_result") && kind != "message" && kind != "user_input"
        }
        (None, None) => false,
    }
}

fn is_one_value(text: &str) -> bool {
    let mut reader = Reader::from_text(text);
    reader.raw().is_ok() && text[reader.offset()..].trim().is_empty()
}

impl ById {
    /// Gathers objects, calls and results with these ids. Linear in the text and the messages; recursion is bounded by
    /// the reader.
    fn new(text: &str, messages: &[Message], ids: &HashSet<String>) -> Self {
        let mut objects = HashMap::new();
        // The text is valid JSON, or was refused before; after an error nothing more is found.
        let _ = gather(&mut Reader::from_text(text), &mut String::new(), ids, &mut objects);
        objects.values_mut().for_each(|it: &mut Objects| msg_core::sort_by_rank(it, |it| it.1));
        let mut parts: HashMap<String, Vec<_>> = HashMap::new();
        for (message, it) in messages.iter().enumerate() {
            for (part, it) in it.parts.iter().enumerate() {
                let id = match it {
                    Part::ToolCall(call) => &call.id,
                    Part::ToolResult(result) => &result.call_id,
                    _ => continue,
                };
                if ids.contains(id) {
                    parts.entry(id.clone()).or_default().push((message, part));
                }
            }
        }
        ById { objects, parts }
    }

    /// The object for this part, among those with the same id: the nth object for the nth call or result.
    fn of(&self, id: &str, it: &Diagnostic) -> Option<(String, usize)> {
        let at = (it.at.message?, it.at.part.unwrap_or(0));
        let objects = self.objects.get(id)?;
        let n = self.parts.get(id).map_or(0, |it| it.partition_point(|it| *it < at));
        objects.get(n.min(objects.len().checked_sub(1)?)).cloned()
    }
}

fn gather(
    reader: &mut Reader<'_>,
    pointer: &mut String,
    ids: &HashSet<String>,
    res: &mut HashMap<String, Objects>,
) -> Result<(), JsonError> {
    let (start, len) = (reader.next_offset(), pointer.len());
    match reader.peek()? {
        Kind::Object => {
            reader.begin_object()?;
            while let Some(key) = reader.next_key()? {
                if reader.peek()? == Kind::String {
                    let value = reader.string()?;
                    if let Some(id) = ids.get(&*value.text) {
                        res.entry(id.clone()).or_default().push((pointer.clone(), start));
                    }
                    continue;
                }
                pointer.push('/');
                pointer.push_str(&pointer_step(&key.text));
                gather(reader, pointer, ids, res)?;
                pointer.truncate(len);
            }
        }
        Kind::Array => {
            reader.begin_array()?;
            let mut index = 0;
            while reader.next_element()? {
                pointer.push_str(&format!("/{index}"));
                gather(reader, pointer, ids, res)?;
                pointer.truncate(len);
                index += 1;
            }
        }
        _ => {
            reader.raw()?;
        }
    }
    Ok(())
}

/// The first list of messages in a text.
fn list(text: &str) -> Result<Option<Listed>, JsonError> {
    let mut reader = Reader::from_text(text);
    let mut res = None;
    let mut beside = 0;
    match reader.peek()? {
        Kind::Array => {
            res = Some(Listed::new(String::new(), spans(&mut reader)?));
        }
        Kind::Object => {
            reader.begin_object()?;
            while let Some(key) = reader.next_key()? {
                let list = LISTS.iter().copied().find(|it| *it == &*key.text);
                match list {
                    Some(name) if res.is_none() && reader.peek()? == Kind::Array => {
                        res = Some(Listed::new(format!("/{name}"), spans(&mut reader)?));
                    }
                    _ => {
                        beside += usize::from(PROMPTS.contains(&&*key.text));
                        reader.known_raw()?;
                    }
                }
            }
        }
        _ => {}
    }
    Ok(res.map(|it| Listed { beside, ..it }))
}

/// The start and end of each element of a list.
fn spans(reader: &mut Reader<'_>) -> Result<Vec<(usize, usize)>, JsonError> {
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        let start = reader.next_offset();
        reader.known_raw()?;
        res.push((start, reader.offset()));
    }
    Ok(res)
}

/// The offset of a part and its pointer inside the message, if the source has one value for it.
fn part_below(
    message: &Message,
    part: usize,
    (steps, element): (&Steps<'_>, usize),
) -> Option<(usize, String)> {
    let parts = &message.parts;
    let member = |name: &str| steps.step(element, name);
    let item = |list: usize, at: usize| steps.element(list, at);
    let calls = member("tool_calls");
    for name in ["content", "parts"] {
        // Every element is a part, and every part is an element.
        let list = member(name).filter(|it| calls.is_none() && item(*it, parts.len()).is_none());
        if let Some(offset) = list.and_then(|it| item(it, part)) {
            return Some((offset, format!("/{name}/{part}")));
        }
    }
    if let (Part::ToolCall(_), Some(calls)) = (parts.get(part)?, calls) {
        let at = parts[..part].iter().filter(|it| matches!(it, Part::ToolCall(_))).count();
        return Some((item(calls, at)?, format!("/tool_calls/{at}")));
    }
    let content = member("content").filter(|_| parts.len() == 1)?;
    Some((content, "/content".to_owned()))
}

/// Follows pointers in a text. Reads each object and list once, however many pointers lead through it.
struct Steps<'t> {
    text: &'t str,
    /// The contents of the objects and lists that were read, by offset.
    read: RefCell<BTreeMap<usize, Rc<Inside<'t>>>>,
}

/// The offsets of the values in an object or a list.
enum Inside<'t> {
    /// Sorted by name; duplicates keep their order.
    Members(Vec<(Cow<'t, str>, usize)>),
    Elements(Vec<usize>),
    Nothing,
}

impl<'t> Steps<'t> {
    fn new(text: &'t str) -> Self {
        Steps { text, read: RefCell::default() }
    }

    /// Adds objects whose members are known, by offset.
    fn know(&self, objects: Vec<(usize, Members<'t>)>) {
        let place = |value: &str| value.as_ptr().addr() - self.text.as_ptr().addr();
        let known = objects.into_iter().map(|(at, members)| {
            let names = members.into_iter().map(|(name, value)| (name, place(value))).collect();
            (at, Rc::new(Inside::of(names)))
        });
        self.read.borrow_mut().extend(known);
    }

    /// The offset of the value at a pointer, relative to the value at offset `start`.
    fn follow(&self, start: usize, pointer: &str) -> Option<usize> {
        let mut steps = pointer.split('/').skip(1);
        steps.try_fold(start, |at, step| self.step(at, &step_name(step)))
    }

    /// The offset of the member or element with this name or number, in the value at offset `at`.
    fn step(&self, at: usize, name: &str) -> Option<usize> {
        match &*self.inside(at) {
            Inside::Members(names) => {
                // Of duplicate members, the first counts.
                let at = names.partition_point(|it| *it.0 < *name);
                names.get(at).filter(|it| it.0 == name).map(|it| it.1)
            }
            Inside::Elements(starts) => starts.get(name.parse::<usize>().ok()?).copied(),
            Inside::Nothing => None,
        }
    }

    /// The offset of the element with this number, in the list at offset `at`.
    fn element(&self, at: usize, number: usize) -> Option<usize> {
        match &*self.inside(at) {
            Inside::Elements(starts) => starts.get(number).copied(),
            _ => None,
        }
    }

    fn inside(&self, at: usize) -> Rc<Inside<'t>> {
        if let Some(known) = self.read.borrow().get(&at) {
            return Rc::clone(known);
        }
        let found = Rc::new(Inside::read(self.text, at));
        self.read.borrow_mut().insert(at, Rc::clone(&found));
        found
    }
}

impl<'t> Inside<'t> {
    fn of(mut names: Vec<(Cow<'t, str>, usize)>) -> Self {
        names.sort_by(|a, b| a.0.cmp(&b.0));
        Inside::Members(names)
    }

    fn read(text: &'t str, at: usize) -> Self {
        let mut reader = Reader::from_text(&text[at..]);
        match reader.peek() {
            Ok(Kind::Object) => {
                let mut names = Vec::new();
                // The text is valid JSON, or was refused before; after an error nothing more is found.
                let _ = members(&mut reader, at, &mut names);
                Inside::of(names)
            }
            Ok(Kind::Array) => {
                let mut starts = Vec::new();
                let _ = elements(&mut reader, at, &mut starts);
                Inside::Elements(starts)
            }
            _ => Inside::Nothing,
        }
    }
}

fn members<'t>(
    reader: &mut Reader<'t>,
    at: usize,
    names: &mut Vec<(Cow<'t, str>, usize)>,
) -> Result<(), JsonError> {
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        names.push((key.text, at + reader.next_offset()));
        reader.known_raw()?;
    }
    Ok(())
}

fn elements(reader: &mut Reader<'_>, at: usize, starts: &mut Vec<usize>) -> Result<(), JsonError> {
    reader.begin_array()?;
    while reader.next_element()? {
        starts.push(at + reader.next_offset());
        reader.known_raw()?;
    }
    Ok(())
}

/// The offsets of the lines of a text, and the number of characters before each block. Finds the column of a finding
/// without counting from the start of the line: a document on one line may have very many findings.
#[derive(Debug, Clone)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
    /// The number of characters before each block.
    before: Vec<usize>,
}

/// The bytes of a block.
const BLOCK: usize = 256;

impl LineIndex {
    pub(crate) fn new(text: &str) -> Self {
        let text = text.as_bytes();
        let ends = memchr::memchr_iter(b'\n', text);
        let starts = std::iter::once(0).chain(ends.map(|it| it + 1)).collect();
        let mut sum = 0;
        let ends = text.chunks(BLOCK).map(|it| {
            sum += chars(it);
            sum
        });
        let before = std::iter::once(0).chain(ends).collect();
        LineIndex { starts, before }
    }

    /// Line and column, in characters, from 1, of an offset in its text.
    pub(crate) fn of(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|it| *it <= offset);
        let column =
            self.chars_before(text, offset) - self.chars_before(text, self.starts[line - 1]) + 1;
        (line, column)
    }

    fn chars_before(&self, text: &str, offset: usize) -> usize {
        let block = offset / BLOCK;
        self.before[block] + chars(&text.as_bytes()[block * BLOCK..offset])
    }
}
