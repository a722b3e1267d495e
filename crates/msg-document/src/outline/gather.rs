//! The scan that makes an outline. Where the bytes stop being JSON it ends with what it has.

use super::cursor::Cursor;
use super::{
    FULL, Inner, Item, Json, List, Record, ValueKind, is_telling, is_watched, is_wrapping,
};

/// As many different shapes are kept of a list, parts of a record, and members of an object.
const SHAPES: usize = 64;

/// The outline of the object or list that is at the cursor.
pub(super) fn json<'a>(cursor: &mut Cursor<'a>) -> Json<'a> {
    let mut res = Json::default();
    let start = cursor.clone();
    let done = match cursor.kind() {
        Some(ValueKind::List) => list(cursor, "", &mut res.lists),
        _ => body(cursor, &mut res),
    };
    res.broken = done.is_none();
    res.followed = done.is_some() && cursor.peek().is_some();
    let is_value = matches!(cursor.kind(), Some(ValueKind::Object | ValueKind::List));
    res.has_lines = res.followed && is_value && cursor.is_line();
    if res.has_lines {
        res.lines = lines(start);
    }
    res
}

/// The shapes of the first lines; nothing if the first is not an object.
fn lines(mut cursor: Cursor<'_>) -> Option<List<'_>> {
    let mut res = List { name: "\n", ..List::default() };
    let mut seen = Record::default();
    while res.len < SHAPES && cursor.kind() == Some(ValueKind::Object) {
        res.len += 1;
        if record(&mut cursor, &mut seen, is_watched).is_none() {
            break;
        }
        if !res.records.iter().any(|it| it.is_shaped_as(&seen)) {
            res.records.push(seen.clone());
        }
    }
    (res.len > 1).then_some(res)
}

fn body<'a>(cursor: &mut Cursor<'a>, res: &mut Json<'a>) -> Option<()> {
    let mut inside = cursor.open(b'{')?;
    let entry = res.entry.insert(Record::default());
    while let Some(name) = cursor.member(&mut inside)? {
        let kind = cursor.kind()?;
        if let Some(text) = entry.telling(cursor, name, kind) {
            let text = text?;
            if !matches!(name, "role" | "type") && res.texts.len() < SHAPES {
                res.texts.push((name, text));
            }
            continue;
        }
        if entry.members.len() < SHAPES {
            entry.members.push((name, kind, told(cursor, name, kind)));
        }
        match (name, kind) {
            (_, ValueKind::List) if res.lists.len() < SHAPES => {
                list(cursor, name, &mut res.lists)?;
            }
            (_, ValueKind::Object) if is_wrapping(name) && res.objects.len() < SHAPES => {
                let mut object = Record::default();
                let done = record(cursor, &mut object, |_| true);
                if is_watched(name) {
                    push(&mut entry.inner, name, false, Item::of(&object));
                }
                res.objects.push((name, object));
                done?;
            }
            (_, ValueKind::Text) if res.texts.len() < SHAPES => {
                res.texts.push((name, cursor.text()?));
            }
            _ => cursor.skip()?,
        }
    }
    Some(())
}

impl<'a> Record<'a> {
    /// Takes a member whose text tells formats apart, and steps over it; nothing of any other.
    fn telling(
        &mut self,
        cursor: &mut Cursor<'a>,
        name: &'a str,
        kind: ValueKind,
    ) -> Option<Option<&'a str>> {
        if kind != ValueKind::Text || !is_telling(name) {
            return None;
        }
        let text = cursor.text();
        if self.members.len() < SHAPES {
            self.members.push((name, kind, text.unwrap_or_default()));
        }
        match name {
            "role" => self.role = text,
            "type" => self.kind = text,
            _ => {}
        }
        Some(text)
    }
}

/// What tells formats apart in a value of another kind. Does not step.
fn told<'a>(cursor: &Cursor<'a>, name: &str, kind: ValueKind) -> &'a str {
    const RENDERED: [&[u8]; 6] = [
        b"\"<|im_start|>",
        b"\"<|start_header_id|>",
        b"\"<|begin_of_text|>",
        b"\"<start_of_turn>",
        b"\"<s>[INST]",
        b"\"[INST]",
    ];
    let mut cursor = cursor.clone();
    match kind {
        ValueKind::Text if matches!(name, "text" | "prompt" | "input") => {
            let is_rendered = RENDERED.iter().any(|it| cursor.begins_with(it));
            ["", "<|"][usize::from(is_rendered)]
        }
        ValueKind::List if name == "ToolCalls" => {
            let mut items = cursor.clone();
            let is_named = items.open(b'[').and_then(|_| item(&mut items));
            if is_named.is_some_and(|it| it.has("fn_name")) { "fn_name" } else { "" }
        }
        ValueKind::List if name == "id" => last_text(&mut cursor).unwrap_or_default(),
        ValueKind::List => {
            let is_empty = cursor.open(b'[').is_some() && cursor.peek() == Some(b']');
            if is_empty { "" } else { FULL }
        }
        _ => "",
    }
}

/// The last item of a list of texts.
fn last_text<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    let mut inside = cursor.open(b'[')?;
    let mut res = None;
    while cursor.item(&mut inside, b']')? {
        res = Some(cursor.text()?);
    }
    res
}

fn push<'a>(inner: &mut Vec<Inner<'a>>, name: &'a str, is_listed: bool, item: Item<'a>) {
    let it = Inner { name, is_listed, item };
    if inner.len() < SHAPES && !inner.contains(&it) {
        inner.push(it);
    }
}

/// Adds the list that is here, also if it breaks off.
fn list<'a>(cursor: &mut Cursor<'a>, name: &'a str, lists: &mut Vec<List<'a>>) -> Option<()> {
    let mut res = List { name, ..List::default() };
    let done = items(cursor, &mut res);
    lists.push(res);
    done
}

fn items<'a>(cursor: &mut Cursor<'a>, res: &mut List<'a>) -> Option<()> {
    let mut inside = cursor.open(b'[')?;
    // One record for all: messages of one shape make no garbage.
    let mut seen = Record::default();
    while cursor.item(&mut inside, b']')? {
        res.len += 1;
        if cursor.kind()? != ValueKind::Object {
            res.others += 1;
            cursor.skip()?;
            continue;
        }
        seen.at = res.len - 1;
        record(cursor, &mut seen, is_watched)?;
        let is_new = || !res.records.iter().any(|it| it.is_shaped_as(&seen));
        if res.records.len() < SHAPES && is_new() {
            res.records.push(seen.clone());
        }
    }
    Some(())
}

/// The shape of the object that is here, with those in the members that are looked into.
fn record<'a>(
    cursor: &mut Cursor<'a>,
    res: &mut Record<'a>,
    is_looked_into: fn(&str) -> bool,
) -> Option<()> {
    res.members.clear();
    res.inner.clear();
    (res.role, res.kind, res.headed) = (None, None, false);
    let mut inside = cursor.open(b'{')?;
    while let Some(name) = cursor.member(&mut inside)? {
        let kind = cursor.kind()?;
        if let Some(text) = res.telling(cursor, name, kind) {
            text?;
            continue;
        }
        if res.members.len() < SHAPES {
            res.members.push((name, kind, told(cursor, name, kind)));
        }
        match (name, kind) {
            ("content", ValueKind::Text) => {
                res.headed = cursor.begins_with(b"\"Tool: ");
                cursor.skip()?;
            }
            (_, ValueKind::List) if is_looked_into(name) => parts(cursor, name, res)?,
            (_, ValueKind::Object) if is_looked_into(name) => {
                let it = item(cursor)?;
                push(&mut res.inner, name, false, it);
            }
            _ => cursor.skip()?,
        }
    }
    Some(())
}

fn parts<'a>(cursor: &mut Cursor<'a>, name: &'a str, res: &mut Record<'a>) -> Option<()> {
    let mut inside = cursor.open(b'[')?;
    while cursor.item(&mut inside, b']')? {
        if cursor.kind()? != ValueKind::Object {
            cursor.skip()?;
            continue;
        }
        let part = item(cursor)?;
        push(&mut res.inner, name, true, part);
    }
    Some(())
}

fn item<'a>(cursor: &mut Cursor<'a>) -> Option<Item<'a>> {
    let mut res = Item::default();
    let mut inside = cursor.open(b'{')?;
    while let Some(name) = cursor.member(&mut inside)? {
        let kind = cursor.kind()?;
        let is_telling = kind == ValueKind::Text && is_telling(name);
        let text = if is_telling { cursor.text() } else { None };
        if let Some(place) = res.members.get_mut(res.len) {
            let value = text.unwrap_or_else(|| told(cursor, name, kind));
            *place = (name, kind, value);
        }
        res.len += 1;
        match is_telling {
            true if name == "type" => res.kind = Some(text?),
            true => drop(text?),
            false => cursor.skip()?,
        }
    }
    Some(res)
}
