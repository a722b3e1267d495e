//! The scan that makes an outline. Where the bytes stop being JSON it ends with what it has.

use super::cursor::Cursor;
use super::{Item, Json, List, Record, ValueKind};

/// As many different shapes are kept of a list, parts of a record, and members of an object.
const SHAPES: usize = 64;

/// The outline of the object or list that stands at the cursor.
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

/// The shapes of the first lines; nothing if the first is no object.
fn lines(mut cursor: Cursor<'_>) -> Option<List<'_>> {
    let mut res = List { name: "\n", ..List::default() };
    let mut seen = Record::default();
    while res.len < SHAPES && cursor.kind() == Some(ValueKind::Object) {
        res.len += 1;
        if record(&mut cursor, &mut seen).is_none() {
            break;
        }
        if !res.records.contains(&seen) {
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
        if entry.members.len() < SHAPES {
            entry.members.push((name, kind));
        }
        match (name, kind) {
            ("role", ValueKind::Text) => entry.role = Some(cursor.text()?),
            ("type", ValueKind::Text) => entry.kind = Some(cursor.text()?),
            ("message", ValueKind::Object) => entry.message = Some(item(cursor)?),
            (_, ValueKind::List) if res.lists.len() < SHAPES => {
                list(cursor, name, &mut res.lists)?;
            }
            (_, ValueKind::Text) if res.texts.len() < SHAPES => {
                res.texts.push((name, cursor.text()?));
            }
            _ => cursor.skip()?,
        }
    }
    Some(())
}

/// Adds the list that stands here, also if it breaks off.
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
        record(cursor, &mut seen)?;
        if res.records.len() < SHAPES && !res.records.contains(&seen) {
            res.records.push(seen.clone());
        }
    }
    Some(())
}

fn record<'a>(cursor: &mut Cursor<'a>, res: &mut Record<'a>) -> Option<()> {
    res.members.clear();
    res.parts.clear();
    (res.role, res.kind, res.content, res.message) = (None, None, None, None);
    res.headed = false;
    let mut inside = cursor.open(b'{')?;
    while let Some(name) = cursor.member(&mut inside)? {
        let kind = cursor.kind()?;
        if res.members.len() < SHAPES {
            res.members.push((name, kind));
        }
        match (name, kind) {
            ("role", ValueKind::Text) => res.role = Some(cursor.text()?),
            ("type", ValueKind::Text) => res.kind = Some(cursor.text()?),
            ("content", ValueKind::Text) => {
                res.headed = cursor.begins_with(b"\"Tool: ");
                cursor.skip()?;
            }
            ("content" | "parts", ValueKind::List) => parts(cursor, &mut res.parts)?,
            ("content", ValueKind::Object) => res.content = Some(item(cursor)?),
            ("message", ValueKind::Object) => res.message = Some(item(cursor)?),
            _ => cursor.skip()?,
        }
    }
    Some(())
}

fn parts<'a>(cursor: &mut Cursor<'a>, res: &mut Vec<Item<'a>>) -> Option<()> {
    let mut inside = cursor.open(b'[')?;
    while cursor.item(&mut inside, b']')? {
        if cursor.kind()? != ValueKind::Object {
            cursor.skip()?;
            continue;
        }
        let part = item(cursor)?;
        if res.len() < SHAPES && !res.contains(&part) {
            res.push(part);
        }
    }
    Some(())
}

fn item<'a>(cursor: &mut Cursor<'a>) -> Option<Item<'a>> {
    let mut res = Item::default();
    let mut names = 0;
    let mut inside = cursor.open(b'{')?;
    while let Some(name) = cursor.member(&mut inside)? {
        let kind = cursor.kind()?;
        if let Some(place) = res.members.get_mut(names) {
            *place = (name, kind);
            names += 1;
        }
        if name == "type" && kind == ValueKind::Text {
            res.kind = Some(cursor.text()?);
        } else {
            cursor.skip()?;
        }
    }
    Some(res)
}
