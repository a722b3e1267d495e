//! Stored turns to [`Turn`]s (MS-19): what is missing is filled, what is unknown is kept.

use super::{TextPart, ToolPart, ToolStatus, Turn, TurnPart, TurnRole, empty_object};
use msg_core::{Error, Extra, Members, Origin, RawJson, Report, reading::Source};
use msg_json::{Kind, Reader};

/// Reads stored turns: an array, or an object with `turns` or `messages` (MS-19), and reports what was not
/// as written. No tool is started again, and no id is made up for a missing one.
///
/// # Errors
/// [`Error`]: no JSON, a turn or part that is no object, parts that are no list.
///
/// ```
/// use msg_forms::{ToolStatus, turns};
/// let json = br#"[{"id":"m1","role":"assistant","parts":[{"type":"tool","tool":"read"}]}]"#;
/// let (turns, _) = turns::read(json)?;
/// let tool = turns[0].pending_tools().next().unwrap();
/// assert_eq!((tool.input.text(), &tool.status), ("{}", &ToolStatus::Pending));
/// # Ok::<(), msg_core::Error>(())
/// ```
pub fn read(json: &[u8]) -> Result<(Vec<Turn>, Report), Error> {
    read_document(json).map(|(turns, _, report)| (turns, report))
}

/// As [`read`], and gives the member `options` of a document that is an object (OA-27).
///
/// # Errors
/// As [`read`].
pub fn read_document(json: &[u8]) -> Result<(Vec<Turn>, Option<RawJson>, Report), Error> {
    let fail = |it| Error::from_json(it, None);
    let mut report = Report::default();
    let mut source = Source::new(Reader::new(json).map_err(fail)?, &mut report);
    let (list, options) = match source.reader.peek().map_err(fail)? {
        Kind::Array => (None, None),
        Kind::Object => find_list(&mut source)?,
        _ => return Err(no_list(&mut source)),
    };
    let end = source.reader.clone();
    if let Some(list) = &list {
        source.reader = list.clone();
    }
    let turns = read_list(&mut source)?;
    if list.is_some() {
        source.reader = end;
    }
    source.reader.finish().map_err(fail)?;
    Ok((turns, options, report))
}

fn no_list(source: &mut Source<'_, '_>) -> Error {
    let offset = source.reader.next_offset();
    Error::Turn { turn: None, expected: "a list of turns", offset }
}

/// Where the list of an object document begins, and its `options`. `turns` goes before `messages`.
fn find_list<'a>(
    source: &mut Source<'a, '_>,
) -> Result<(Option<Reader<'a>>, Option<RawJson>), Error> {
    let start = source.begin_object()?;
    let (mut turns, mut messages, mut options) = (None, None, None);
    while let Some(key) = source.next_key()? {
        match &*key {
            "turns" => turns = Some(source.reader.clone()),
            "messages" => messages = Some(source.reader.clone()),
            "options" => {
                options = Some(source.raw()?);
                continue;
            }
            _ => {}
        }
        source.raw_text()?;
    }
    let expected = "an object with `turns` or `messages`";
    let missing = Error::Turn { turn: None, expected, offset: start };
    turns.or(messages).ok_or(missing).map(|it| (Some(it), options))
}

fn read_list(source: &mut Source<'_, '_>) -> Result<Vec<Turn>, Error> {
    if source.peek()? != Kind::Array {
        return Err(no_list(source));
    }
    source.begin_array()?;
    let mut res = Vec::new();
    while source.next_element()? {
        res.push(read_turn(source)?);
        source.message += 1;
        source.part = None;
    }
    Ok(res)
}

/// Reads one turn. The serde impls use it too.
pub(super) fn read_turn(source: &mut Source<'_, '_>) -> Result<Turn, Error> {
    expect(source, Kind::Object, "a turn to be an object")?;
    source.begin_object()?;
    let mut members = Stored::default();
    let mut res = Turn { role: TurnRole::from(""), ..Turn::default() };
    while let Some(key) = source.next_key()? {
        members.begin(source, &key);
        match &*key {
            "id" => members.text(source, &key, &mut res.id)?,
            "role" => {
                let mut role = String::new();
                members.text(source, &key, &mut role)?;
                res.role = TurnRole::from(role.as_str());
            }
            "parts" => res.parts = read_parts(source)?,
            "timestamp" => members.number(source, &key, &mut res.timestamp)?,
            "finished" => members.flag(source, &key, &mut res.finished)?,
            "finish_reason" => members.text(source, &key, &mut res.finish_reason)?,
            "reasoning_content" => members.text(source, &key, &mut res.reasoning_content)?,
            "metadata" => members.object(source, &key, &mut res.metadata)?,
            _ => source.unknown(&key, Origin::Turns, &mut members.extra)?,
        }
    }
    res.extra = members.extra;
    Ok(res)
}

fn expect(source: &mut Source<'_, '_>, kind: Kind, expected: &'static str) -> Result<(), Error> {
    if source.peek()? == kind {
        return Ok(());
    }
    let offset = source.reader.next_offset();
    Err(Error::Turn { turn: Some(source.message), expected, offset })
}

fn read_parts(source: &mut Source<'_, '_>) -> Result<Vec<TurnPart>, Error> {
    let mut res = Vec::new();
    if source.is_null()? {
        return Ok(res);
    }
    expect(source, Kind::Array, "the parts of a turn to be a list")?;
    source.begin_array()?;
    while source.next_element()? {
        source.part = Some(res.len());
        expect(source, Kind::Object, "a part of a turn to be an object")?;
        res.push(source.typed(
            |source, type_name| match type_name {
                None | Some("text") => Some(read_text(source)),
                Some("tool") => Some(read_tool(source)),
                Some(_) => None,
            },
            TurnPart::Other,
        )?);
    }
    source.part = None;
    Ok(res)
}

fn read_text(source: &mut Source<'_, '_>) -> (Result<TurnPart, Error>, bool) {
    let mut members = Stored { type_name: Some("text"), ..Stored::default() };
    let mut res = TextPart::default();
    let walk = members.walk(source, |members, source, key| {
        match key {
            "id" => members.text(source, key, &mut res.id)?,
            "text" => members.text(source, key, &mut res.text)?,
            _ => source.unknown(key, Origin::Turns, &mut members.extra)?,
        }
        Ok(())
    });
    res.extra = members.extra;
    (walk.map(|()| TurnPart::Text(res)), members.retyped)
}

fn read_tool(source: &mut Source<'_, '_>) -> (Result<TurnPart, Error>, bool) {
    let mut members = Stored { type_name: Some("tool"), ..Stored::default() };
    let mut res = ToolPart::default();
    let walk = members.walk(source, |members, source, key| {
        match key {
            "id" => members.text(source, key, &mut res.id)?,
            "tool" => members.text(source, key, &mut res.tool)?,
            "input" => {
                res.input = if source.is_null()? { empty_object() } else { source.raw()? };
            }
            "output" => members.text(source, key, &mut res.output)?,
            "status" => {
                let mut status = "pending".to_owned();
                members.text(source, key, &mut status)?;
                res.status = ToolStatus::from(status.as_str());
            }
            "start_time" => members.number(source, key, &mut res.start_time)?,
            "end_time" => members.number(source, key, &mut res.end_time)?,
            "metadata" => members.object(source, key, &mut res.metadata)?,
            "input_text" => {
                let mut text = String::new();
                let is_null = source.peek()? == Kind::Null;
                members.text(source, key, &mut text)?;
                res.input_text = (!is_null && !members.is_carried(key)).then_some(text);
            }
            _ => source.unknown(key, Origin::Turns, &mut members.extra)?,
        }
        Ok(())
    });
    res.extra = members.extra;
    (walk.map(|()| TurnPart::Tool(res)), members.retyped)
}

/// Reads the members of one stored object. One of a wrong type is carried in `extra` under its own
/// name, and goes out in its place while nobody has set another value (MS-6).
#[derive(Default)]
struct Stored {
    type_name: Option<&'static str>,
    retyped: bool,
    /// The known members that were seen, a bit each, to notice a second one.
    seen: Vec<&'static str>,
    extra: Extra,
}

/// All members that a turn or a part has.
const KNOWN: &[&str] = &[
    "id",
    "role",
    "parts",
    "timestamp",
    "finished",
    "finish_reason",
    "reasoning_content",
    "metadata",
    "type",
    "text",
    "tool",
    "input",
    "output",
    "status",
    "start_time",
    "end_time",
    "input_text",
];

impl Stored {
    /// Walks the members of a part that are left; its type is seen to here.
    fn walk<'a, 'r>(
        &mut self,
        source: &mut Source<'a, 'r>,
        mut read: impl FnMut(&mut Self, &mut Source<'a, 'r>, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while let Some(key) = source.next_key()? {
            self.begin(source, &key);
            if key == "type" {
                let mut found = self.type_name.unwrap_or_default().to_owned();
                self.text(source, &key, &mut found)?;
                self.retyped |= Some(found.as_str()) != self.type_name;
            } else {
                read(self, source, &key)?;
            }
        }
        Ok(())
    }

    /// Notes a known member that is there twice; the last value wins (MS-8).
    fn begin(&mut self, source: &mut Source<'_, '_>, key: &str) {
        let Some(name) = KNOWN.iter().find(|it| **it == key) else { return };
        if self.seen.contains(name) {
            source.note_duplicate(&Some(()), key);
            self.extra.remove(&Origin::Turns, key);
        } else {
            self.seen.push(name);
        }
    }

    fn is_carried(&self, key: &str) -> bool {
        self.extra.get(&Origin::Turns, key).is_some()
    }

    fn text(
        &mut self,
        source: &mut Source<'_, '_>,
        key: &str,
        slot: &mut String,
    ) -> Result<(), Error> {
        match source.peek()? {
            Kind::String => *slot = source.string()?.into_owned(),
            _ => self.carry(source, key)?,
        }
        Ok(())
    }

    fn number(
        &mut self,
        source: &mut Source<'_, '_>,
        key: &str,
        slot: &mut f64,
    ) -> Result<(), Error> {
        if source.peek()? == Kind::Number {
            let text = source.reader.clone().number().map_err(|it| source.fail(it))?;
            // A number too large for a time is carried like a wrong type.
            if let Some(it) = text.parse().ok().filter(|it: &f64| it.is_finite()) {
                *slot = it;
                source.raw_text()?;
                return Ok(());
            }
        }
        self.carry(source, key)
    }

    fn flag(
        &mut self,
        source: &mut Source<'_, '_>,
        key: &str,
        slot: &mut bool,
    ) -> Result<(), Error> {
        if source.peek()? == Kind::Bool {
            *slot = source.raw_text()? == "true";
            return Ok(());
        }
        self.carry(source, key)
    }

    fn object(
        &mut self,
        source: &mut Source<'_, '_>,
        key: &str,
        slot: &mut Members,
    ) -> Result<(), Error> {
        if source.peek()? != Kind::Object {
            return self.carry(source, key);
        }
        source.begin_object()?;
        let mut res = Members::default();
        while let Some(name) = source.next_key()? {
            let value = source.raw()?;
            res.insert(name, value);
        }
        *slot = res;
        Ok(())
    }

    /// Keeps a value of a wrong type; null is a missing one.
    fn carry(&mut self, source: &mut Source<'_, '_>, key: &str) -> Result<(), Error> {
        if source.is_null()? {
            return Ok(());
        }
        let start = source.reader.next_offset();
        source.unknown(key, Origin::Turns, &mut self.extra)?;
        let span = start..source.reader.offset();
        source.warn("message::wrong-type", format!("`{key}` has a value of a wrong type"), span);
        Ok(())
    }
}
