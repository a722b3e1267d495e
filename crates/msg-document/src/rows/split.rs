//! Extracts the conversations of a row as documents, converts the places of their findings, and puts documents back.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::OnceLock;

use msg_chainast::ChainCheckOptions;
use msg_core::{Code, Diagnostic, Message, Part, Role};
use msg_formats::account::account_of_edits;
use msg_formats::rows::{KnownRow, RowValue, RowValues};
use msg_formats::{FieldPath, Format, ReadOptions, Refusal, RowFields};
use msg_json::{JsonError, Problem};

use super::{Half, Joined, Side, first, list_of, no_conversation, side};
use crate::document::Document;
use crate::places::LineIndex;

/// A row whose conversations were extracted (RW-2).
///
/// ```
/// use msg_document::{RowFields, ReadOptions, Row};
///
/// let json = br#"{"n":1, "chat":"[{\"role\":\"user\",\"content\":\"hi\"}]"}"#;
/// let fields = RowFields::field("chat".parse()?);
/// let row = Row::read(json, &fields, &ReadOptions::default())?;
/// assert_eq!(row.documents().next(), Some(&br#"[{"role":"user","content":"hi"}]"#[..]));
///
/// let written = row.with(&[Some(b"[]".to_vec())], "openai".parse()?)?;
/// assert_eq!(written, br#"{"n":1, "chat":"[]"}"#);
/// # Ok::<(), msg_document::Refusal>(())
/// ```
#[derive(Debug, Clone)]
pub struct Row {
    json: String,
    slots: Vec<Slot>,
    /// The options for reading its conversations.
    read: ReadOptions,
    /// The offsets of its lines; computed when a finding has to be placed.
    lines: OnceLock<LineIndex>,
    /// Its kind was recognised, without options that say where its conversation is.
    is_known: bool,
    /// It contains an answer without its request.
    is_answer: bool,
}

/// A conversation in a row.
#[derive(Debug, Clone)]
struct Slot {
    document: Vec<u8>,
    sides: Sides,
}

#[derive(Debug, Clone)]
enum Sides {
    One(Side),
    Two {
        input: Option<Side>,
        output: Option<Side>,
        /// The number of messages of the request.
        n_asked: usize,
        /// The number of messages of the answer.
        n_answered: usize,
    },
}

impl Row {
    /// Extracts the conversations of a row.
    ///
    /// Fails if it is not JSON, or has no conversation at any of the paths. Linear.
    pub fn read(json: &[u8], fields: &RowFields, read: &ReadOptions) -> Result<Self, Refusal> {
        read.expect_size(json)?;
        let text = text_of(json)?;
        let mut slots = Vec::new();
        for found in fields.find(text).map_err(msg_core::Error::from)? {
            slots.extend(match found {
                RowValues::Field(found) => {
                    let slots =
                        found.into_iter().filter_map(|it| field(text, it, read).transpose());
                    slots.collect::<Result<Vec<_>, _>>()?
                }
                RowValues::Join(input, output) => joined(text, input, output, read)?,
            });
        }
        if slots.is_empty() {
            return Err(no_conversation(format!("the row has no conversation at {fields}")));
        }
        apart(&slots)?;
        let read = read.clone().with_fields(RowFields::default());
        let lines = OnceLock::new();
        Ok(Row { json: text.to_owned(), slots, read, lines, is_known: false, is_answer: false })
    }

    /// Extracts the conversations of a row of a known kind, such as a line of a batch. `None` for any
    /// other document (RW-6).
    ///
    /// Fails for a row of such a kind without a conversation.
    ///
    /// ```
    /// use msg_document::{ReadOptions, Row};
    ///
    /// let line = br#"{"custom_id":"a","body":{"model":"m","messages":[{"role":"user","content":"hi"}]}}"#;
    /// assert!(Row::known(line, &ReadOptions::default())?.is_some());
    /// assert!(Row::known(br#"[{"role":"user","content":"hi"}]"#, &ReadOptions::default())?.is_none());
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn known(json: &[u8], read: &ReadOptions) -> Result<Option<Self>, Refusal> {
        if !Row::may_be_known(json) || !read.fields.is_empty() {
            return Ok(None);
        }
        let Some(KnownRow { what, fields, is_answer }) = KnownRow::of(json) else {
            return Ok(None);
        };
        if let Some(url) = without_conversation(text_of(json)?) {
            return Err(no_conversation(format!("{what} for `{url}`, without a conversation")));
        }
        let paths = fields.iter().map(|it| it.parse());
        let paths = paths.collect::<Result<Vec<FieldPath>, _>>()?;
        let mut refused = None;
        for fields in halves(text_of(json)?, paths)? {
            match Row::read(json, &fields, read) {
                Ok(row) => return Ok(Some(Row { is_known: true, is_answer, ..row })),
                Err(it) => refused = refused.or(Some(it)),
            }
        }
        match refused {
            Some(it) if it.diagnostic().code == "document::no-conversation" => {
                Err(no_conversation(format!("{what} without a conversation")))
            }
            Some(it) => Err(it),
            None => Ok(None),
        }
    }

    /// Whether a text, or its beginning, contains a member name of a known kind of row. Linear.
    pub fn may_be_known(json: &[u8]) -> bool {
        const MARKS: [&[u8]; 4] =
            [b"\"custom_id\"", b"\"key\"", b"\"processed_time\"", b"\"incomplete_calls\""];
        MARKS.iter().any(|it| memchr::memmem::find(json, it).is_some())
    }

    /// The row that a document is, judged by the read options; `None` if the document is the conversation.
    pub(crate) fn of(json: &[u8], read: &ReadOptions) -> Result<Option<Self>, Refusal> {
        match read.fields.is_empty() {
            true => Ok(None),
            false => Row::read(json, &read.fields, read).map(Some),
        }
    }

    /// The row that a document is, after it was refused as a conversation.
    ///
    /// Fails with that refusal for any other document.
    pub(crate) fn instead(
        json: &[u8],
        read: &ReadOptions,
        refusal: Refusal,
    ) -> Result<Self, Refusal> {
        let may_be = read.from.is_none() && refusal.diagnostic().code == "message::foreign-format";
        match may_be.then(|| Row::known(json, read)).transpose()?.flatten() {
            Some(row) => Ok(row),
            None => Err(refusal),
        }
    }

    /// The refusal of a conversation, with its place in the row.
    pub(crate) fn refused(&self, at: usize, refusal: Refusal) -> Refusal {
        let mut found = [*refusal.into_diagnostic()];
        self.place(at, &mut found);
        let [found] = found;
        found.into()
    }

    /// The conversations, as one document each.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.slots.iter().map(|it| &*it.document)
    }

    /// The one conversation.
    ///
    /// Fails for a row that has several.
    pub(crate) fn only(&self) -> Result<&[u8], Refusal> {
        match self.slots.as_slice() {
            [one] => Ok(&one.document),
            several => Err(Refusal::bad_option(format!(
                "the row has {} conversations, expected one: name it with `field`",
                several.len()
            ))),
        }
    }

    /// The rules for a conversation that may end with the answer to its request, or be that answer.
    pub(crate) fn rules(&self, number: usize, rules: ChainCheckOptions) -> ChainCheckOptions {
        let slot = self.slots.get(number);
        let is_answered =
            slot.is_some_and(|it| matches!(it.sides, Sides::Two { n_answered: 1.., .. }));
        let rules = if is_answered || self.is_answer { rules.with_answered() } else { rules };
        if self.is_answer { rules.with_continued() } else { rules }
    }

    /// Whether its kind was recognised. A conversion then writes only its conversation (RW-7).
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// The answers that are response bodies. Their members beside the messages are in no conversation.
    pub(crate) fn answers(&self) -> impl Iterator<Item = String> {
        let sides = self.slots.iter().filter_map(|it| match &it.sides {
            Sides::Two { output, .. } => output.as_ref(),
            Sides::One(_) => None,
        });
        sides.map(|it| it.text(&self.json)).filter(|it| it.trim_start().starts_with('{'))
    }

    /// The names of its members beside the conversation.
    pub(crate) fn members(&self) -> Vec<String> {
        let Ok(members) =
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&self.json)
        else {
            return Vec::new();
        };
        let of_it =
            |name: &str| self.slots.iter().flat_map(Slot::pointers).any(|it| first(it) == name);
        members.into_iter().map(|it| it.0).filter(|it| !of_it(it)).collect()
    }

    /// Changes the places of findings about conversation `number` to places in the row: a JSON Pointer, a line
    /// and a column (RW-5).
    pub fn place(&self, number: usize, found: &mut [Diagnostic]) {
        let Some(slot) = self.slots.get(number).filter(|_| !found.is_empty()) else { return };
        let (asked, answered) = slot.two_sides();
        if found.iter().any(|it| it.at.pointer.is_none()) && slot.keeps_places() {
            // Findings of a quick check have no places yet.
            if let Ok(document) = Document::read(&slot.document, &self.read) {
                document.locate(&slot.document, found);
            }
        }
        let lines = self.lines.get_or_init(|| LineIndex::new(&self.json));
        let bases = [asked, answered].map(|it| lines.of(&self.json, it.range.start));
        for it in found {
            let is_answer = it.at.message.is_some_and(|it| it >= slot.n_asked());
            let side = if is_answer { answered } else { asked };
            let base = bases[usize::from(is_answer)];
            side.place(&mut it.at, base, slot.keeps_places());
        }
    }

    /// The row with its conversations replaced by these documents, all of this format. `None` keeps a conversation.
    ///
    /// Fails if two conversations share a request and change it differently, and if the answer of a pair cannot be
    /// read.
    pub fn with(&self, documents: &[Option<Vec<u8>>], format: Format) -> Result<Vec<u8>, Refusal> {
        self.with_answers(documents, format, |_, _| {})
    }

    /// As [`Row::with`], for repaired conversations. Also adds the losses of response bodies to the edits, because
    /// their members beside the messages are in no conversation.
    pub(crate) fn mended(
        &self,
        documents: &[Option<Vec<u8>>],
        format: Format,
        edits: &mut Vec<Diagnostic>,
    ) -> Result<Vec<u8>, Refusal> {
        let mut lost = Vec::new();
        let out = self.with_answers(documents, format, |number, Written { side, text }| {
            let old = side.text(&self.json);
            if !old.trim_start().starts_with('{') {
                return;
            }
            let account = account_of_edits(old.as_bytes(), text, format, &self.read, edits);
            let mut found = account.lost;
            // Its position counts from the answer, whose messages follow those of the request.
            let n_asked = self.slots[number].n_asked();
            found.iter_mut().for_each(|it| it.at.message = it.at.message.map(|it| it + n_asked));
            self.place(number, &mut found);
            lost.extend(found);
        })?;
        edits.extend(lost);
        Ok(out)
    }

    /// As [`Row::with`]; also passes each written answer on, with the number of its conversation.
    fn with_answers<'r>(
        &'r self,
        documents: &[Option<Vec<u8>>],
        format: Format,
        mut answer: impl FnMut(usize, Written<'r, '_>),
    ) -> Result<Vec<u8>, Refusal> {
        let mut edits: Vec<(&Side, Vec<u8>)> = Vec::new();
        let mut known: HashMap<_, usize> = HashMap::new();
        for (number, (slot, document)) in self.slots.iter().zip(documents).enumerate() {
            let Some(document) = document.as_ref().filter(|it| **it != slot.document) else {
                continue;
            };
            for (side, text) in slot.written(&self.json, document, format, &self.read)? {
                if slot.is_answer(side) {
                    answer(number, Written { side, text: &text });
                }
                let value = side.value(&text);
                if std::str::from_utf8(&value).map_or(true, |it| msg_json::validate(it).is_err()) {
                    return Err(Refusal::bad_option(format!(
                        "a member of a row must be JSON, and {format} documents are not"
                    )));
                }
                match known.get(&side.range) {
                    Some(&at) if edits[at].1 == value => {}
                    Some(_) => {
                        let text = format!(
                            "the conversations of the row need different values at `{}`",
                            side.pointer
                        );
                        return Err(no_conversation(text));
                    }
                    None => {
                        known.insert(side.range.clone(), edits.len());
                        edits.push((side, value));
                    }
                }
            }
        }
        msg_core::sort_by_rank(&mut edits, |it| it.0.range.start);
        let (mut out, mut done) = (Vec::with_capacity(self.json.len()), 0);
        for (side, value) in edits {
            out.extend_from_slice(&self.json.as_bytes()[done..side.range.start]);
            out.extend_from_slice(&value);
            done = side.range.end;
        }
        out.extend_from_slice(&self.json.as_bytes()[done..]);
        Ok(out)
    }
}

/// The written answer of a pair.
struct Written<'r, 'w> {
    side: &'r Side,
    text: &'w [u8],
}

impl Slot {
    /// Whether this is the answer of a pair.
    fn is_answer(&self, side: &Side) -> bool {
        let Sides::Two { output: Some(output), .. } = &self.sides else { return false };
        output.range == side.range
    }

    fn sides(&self) -> impl Iterator<Item = &Side> {
        let sides = match &self.sides {
            Sides::One(it) => [Some(it), None],
            Sides::Two { input, output, .. } => [input.as_ref(), output.as_ref()],
        };
        sides.into_iter().flatten()
    }

    fn pointers(&self) -> impl Iterator<Item = &str> {
        let (asked, answered) = self.two_sides();
        [&*asked.pointer, &answered.pointer].into_iter()
    }

    /// Whether offsets in the document can be converted to offsets in the row.
    fn keeps_places(&self) -> bool {
        matches!(&self.sides, Sides::One(it) if !it.is_encoded)
    }

    /// The values of the request and of the answer; the same one if there is only one.
    fn two_sides(&self) -> (&Side, &Side) {
        match &self.sides {
            Sides::One(it) => (it, it),
            Sides::Two { input: Some(input), output: Some(output), .. } => (input, output),
            Sides::Two { input, output, .. } => {
                let one = input.as_ref().or(output.as_ref()).expect("because a pair has a half");
                (one, one)
            }
        }
    }

    /// The number of messages of the request.
    fn n_asked(&self) -> usize {
        match self.sides {
            Sides::One(_) => usize::MAX,
            Sides::Two { n_asked, .. } => n_asked,
        }
    }

    /// The new JSON of the values, from a new document.
    fn written(
        &self,
        row: &str,
        document: &[u8],
        format: Format,
        read: &ReadOptions,
    ) -> Result<Vec<(&Side, Vec<u8>)>, Refusal> {
        let (input, output, n_answered) = match &self.sides {
            Sides::One(side) => return Ok(vec![(side, side.unwrapped(document).to_vec())]),
            Sides::Two { input, output, n_answered, .. } => (input, output, *n_answered),
        };
        let mut whole = Document::read(document, &read.clone().with_from(Some(format)))?;
        let mut asked = whole.take_messages();
        let n = match (input, output) {
            (None, _) => asked.len(),
            (_, None) => 0,
            (_, Some(side)) => {
                let old = Half::read(Some(side.text(row).as_bytes()), read)?;
                n_of_answer(&asked, &old.into_messages(Role::Assistant), n_answered)
            }
        };
        let answered = asked.split_off(asked.len() - n);
        let mut res = Vec::new();
        if let Some(side) = output {
            res.push((
                side,
                side.half(row, answered, format, read, |messages| list_of(messages, format))?,
            ));
        }
        if let Some(side) = input {
            let body = |messages| {
                whole.put_edited(messages);
                whole.written()
            };
            res.push((side, side.half(row, asked, format, read, body)?));
        }
        Ok(res)
    }
}

/// The number of messages at the end of a conversation that are the answer: all from the first message of the old
/// answer, or, if that is gone, as many assistant and tool messages as the old answer had.
fn n_of_answer(messages: &[Message], old: &[Message], n_answered: usize) -> usize {
    let is_same = |it: &Message, first: &Message| {
        let calls =
            |it: &Message| it.parts.iter().filter(|it| matches!(it, Part::ToolCall(_))).count();
        it.role == first.role && it.text() == first.text() && calls(it) == calls(first)
    };
    let start = old.first().and_then(|first| messages.iter().rposition(|it| is_same(it, first)));
    let is_answer = |it: &&Message| matches!(it.role, Role::Assistant | Role::Tool);
    match start {
        Some(start) => messages.len() - start,
        None => messages.iter().rev().take(n_answered).take_while(is_answer).count(),
    }
}

/// The conversation in a member; `None` for null.
fn field(row: &str, found: RowValue, read: &ReadOptions) -> Result<Option<Slot>, Refusal> {
    let Some((side, text)) = side(row, found) else { return Ok(None) };
    if matches!(text.trim_ascii_start().as_bytes().first(), Some(b'[' | b'{')) {
        read.expect_size(text.as_bytes())?;
        return Ok(Some(Slot { document: text.into_bytes(), sides: Sides::One(side) }));
    }
    let pointer = &side.pointer;
    let text = format!("`{pointer}` is not a conversation: expected a list or an object");
    let mut refusal = Diagnostic::error(Code::new("document::no-conversation"), text);
    if row[side.range.clone()].starts_with('"') {
        refusal = refusal.with_fix("--join takes a request and its answer that are texts");
    }
    refusal.at.pointer = Some(side.pointer);
    Err(refusal.into())
}

/// Fails if one conversation is inside another: their edits would overwrite each other. One request may have several
/// answers.
fn apart(slots: &[Slot]) -> Result<(), Refusal> {
    let mut sides: Vec<_> = slots.iter().flat_map(Slot::sides).collect();
    sides.sort_by_key(|it| (it.range.start, Reverse(it.range.end)));
    let mut around: Option<&Side> = None;
    for it in sides {
        match around {
            Some(outer) if it.range == outer.range => {}
            Some(outer) if it.range.start < outer.range.end => {
                return Err(Refusal::bad_option(format!(
                    "the conversation at `{}` is inside that at `{}`: name one of them",
                    it.pointer, outer.pointer
                )));
            }
            _ => around = Some(it),
        }
    }
    Ok(())
}

/// The paths of the conversation in a row with a request, an answer or both.
fn halves(row: &str, paths: Vec<FieldPath>) -> Result<Vec<RowFields>, Refusal> {
    let has = |path: &FieldPath| -> Result<bool, Refusal> {
        let found = path.find(row).map_err(msg_core::Error::from)?;
        Ok(found.into_iter().any(|it| side(row, it).is_some()))
    };
    Ok(match <[FieldPath; 2]>::try_from(paths) {
        Ok([input, output]) if has(&input)? && has(&output)? => {
            vec![RowFields::join(input, output)]
        }
        Ok(paths) => paths.map(RowFields::field).into(),
        Err(paths) => paths.into_iter().map(RowFields::field).collect(),
    })
}

/// The conversations of requests and their answers; one request may have several answers, and one answer none.
fn joined(
    row: &str,
    inputs: Vec<RowValue>,
    outputs: Vec<RowValue>,
    read: &ReadOptions,
) -> Result<Vec<Slot>, Refusal> {
    let n = inputs.len().max(outputs.len());
    let fits = |it: &[RowValue]| matches!(it.len(), 0 | 1) || it.len() == n;
    if !fits(&inputs) || !fits(&outputs) {
        let text = format!("the row has {} requests and {} answers", inputs.len(), outputs.len());
        return Err(no_conversation(text));
    }
    let nth =
        |list: &[RowValue], at: usize| list.get(if list.len() == 1 { 0 } else { at }).cloned();
    let mut res = Vec::new();
    for at in 0..n {
        let sides = [nth(&inputs, at), nth(&outputs, at)].map(|it| it.and_then(|it| side(row, it)));
        let [input, output] = sides;
        if input.is_none() && output.is_none() {
            continue;
        }
        let half = |it: &Option<(Side, String)>| {
            let text = it.as_ref().map(|it| it.1.as_bytes());
            Half::read(text, read).map_err(|refusal| match it {
                Some((side, _)) => refusal.at_pointer(&side.pointer),
                None => refusal,
            })
        };
        let (asked, answered) = (half(&input)?, half(&output)?);
        let text = input.as_ref().map_or(&b""[..], |it| it.1.as_bytes());
        let asked = asked.like(text, &answered, read);
        let Joined { document, n_asked, n_answered } = Joined::of((asked, answered));
        let (input, output) = (input.map(|it| it.0), output.map(|it| it.0));
        res.push(Slot { document, sides: Sides::Two { input, output, n_asked, n_answered } });
    }
    Ok(res)
}

/// The endpoint that a line of a batch is for, if its `input` is not a conversation.
fn without_conversation(json: &str) -> Option<String> {
    let url = msg_codec::Json::from_valid(json).get("url")?.text()?;
    let is_other = ["/embeddings", "/moderations"].iter().any(|it| url.ends_with(it));
    is_other.then(|| url.into_owned())
}

fn text_of(json: &[u8]) -> Result<&str, Refusal> {
    let json = json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json);
    std::str::from_utf8(json).map_err(|it| {
        msg_core::Error::from(JsonError { offset: it.valid_up_to(), problem: Problem::Utf8 }).into()
    })
}
