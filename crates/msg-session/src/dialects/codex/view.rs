//! A Codex session as messages: its items as msg-openai reads them, put together as Responses are.

use super::path::Path;
use crate::dialects::codex::path::{Item, Kind};
use crate::parts::items::Items;
use crate::view::{Origin, View};

pub(super) fn of(path: &Path<'_>) -> View {
    let mut res = Items::default();
    path.items.iter().for_each(|it| add(&mut res, it));
    let mut res = res.finish();
    // Its instructions are item 0.
    res.in_front = 1;
    res.note_makers(|record| path.maker(record));
    res
}

fn add(res: &mut Items, item: &Item<'_>) {
    let origin = match item.block {
        Some(block) => Origin::block(item.record, block),
        None => Origin::record(item.record),
    };
    if item.kind == Kind::Summary {
        return res.user_text(&item.value.text().unwrap_or_default(), origin);
    }
    // Codex itself writes the type of every item, and reads none without.
    match item.object.has("type") {
        true => res.item(item.value, origin),
        false => res.unknown(item.value, origin),
    }
}
