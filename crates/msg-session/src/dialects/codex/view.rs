//! A Codex session as messages: its items as msg-openai reads them, put together as Responses are.

use super::items::Item;
use super::path::{Path, Summary};
use crate::parts::items::Items;
use crate::view::{Origin, View};

pub(super) fn of(path: &Path<'_>) -> View {
    let mut res = Items::default();
    let add_summary = |res: &mut Items, at: usize| {
        if let Some(Summary { record, text, .. }) =
            path.summary.as_ref().filter(|it| it.behind == at)
        {
            res.user_text(text, Origin::record(*record));
        }
    };
    for (at, item) in path.items.iter().enumerate() {
        add_summary(&mut res, at);
        add(&mut res, item);
    }
    add_summary(&mut res, path.items.len());
    let mut res = res.finish();
    res.note_makers(|record| path.maker(record));
    res
}

fn add(res: &mut Items, item: &Item<'_>) {
    let origin = match item.block {
        Some(block) => Origin::block(item.record, block),
        None => Origin::record(item.record),
    };
    // Codex itself writes the type of every item, and reads none without.
    match item.object.has("type") {
        true => res.item(item.value, origin),
        false => res.unknown(item.value, origin),
    }
}
