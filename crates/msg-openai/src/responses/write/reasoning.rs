//! Reasoning items.

use msg_core::Reasoning;

use super::Writer;
use crate::{
    ItemIds,
    responses::shape::{ITEM, RESPONSES, item},
    text_blocks::{TextBlocks, blocks},
};
use msg_codec::codec::{bit, mask, object_members};

impl Writer<'_> {
    pub(super) fn reasoning(&mut self, at: usize, it: &Reasoning, list: &mut msg_json::Writer<'_>) {
        let plan = self.objects.plan(&it.extra, 0);
        if it.encrypted.is_none() && !self.is_accepted(it) {
            let text =
                "the API refuses reasoning that has neither an item id nor encrypted content";
            return self.objects.losses.warn("convert::lost-part", Some(at), text);
        }
        self.objects.losses.foreign(&it.extra, Some(&RESPONSES), Some(at));
        let lost = [("signature", it.signature.is_some()), ("redacted", it.redacted.is_some())];
        self.objects.losses.members(Some(at), &lost);
        let raw = self.all_members(at, &it.extra);
        let has_raw_summary = it.summary.is_none() && raw.iter().any(|it| it.name == "summary");
        let has_summary =
            it.summary.is_some() || (plan.may_have(item::SUMMARY) && !has_raw_summary);
        let want = bit(item::TYPE)
            | mask(has_summary, item::SUMMARY)
            | mask(it.text.is_some(), item::CONTENT)
            | mask(it.encrypted.is_some(), item::ENCRYPTED);
        self.n_items += 1;
        let lost = list.value(|out| {
            item::SHAPE.write(out, plan, want, &raw, |out, code| match code {
                item::TYPE => msg_json::write_str(out, "reasoning"),
                item::SUMMARY => self.summary(it, out),
                item::CONTENT => self.texts(it, out),
                _ => msg_json::write_str(out, it.encrypted.as_deref().unwrap_or_default()),
            })
        });
        self.objects.losses.taken(Some(at), lost);
    }

    /// Whether the item goes out without encrypted content: for its id, or because it came with
    /// neither.
    fn is_accepted(&self, it: &Reasoning) -> bool {
        let members = it.extra.get(&RESPONSES, ITEM).and_then(object_members);
        if members.is_some_and(|all| all.iter().any(|it| it.name == "id")) {
            return self.options.item_ids == ItemIds::Keep;
        }
        self.objects.plan(&it.extra, 0).slots().is_some()
    }

    fn summary(&self, it: &Reasoning, out: &mut Vec<u8>) {
        let texts = it.summary.as_deref().unwrap_or_default();
        let source = self.objects.source(&it.extra, 1);
        let is_same = |it: &TextBlocks| it.texts == texts;
        write_blocks("summary_text", source, is_same, texts.iter().map(String::as_str), out);
    }

    fn texts(&self, it: &Reasoning, out: &mut Vec<u8>) {
        let text = it.text.as_deref().unwrap_or_default();
        let source = self.objects.source(&it.extra, 2);
        let is_same = |it: &TextBlocks| it.texts.join("\n\n") == text;
        write_blocks("reasoning_text", source, is_same, [text], out);
    }
}

/// Writes blocks, from their source where that still says the same.
fn write_blocks<'t>(
    kind: &str,
    source: Option<&str>,
    is_same: impl Fn(&TextBlocks) -> bool,
    texts: impl IntoIterator<Item = &'t str>,
    out: &mut Vec<u8>,
) {
    match source.filter(|it| TextBlocks::read(it, kind).is_some_and(|it| is_same(&it))) {
        Some(source) => out.extend_from_slice(source.as_bytes()),
        None => out.extend_from_slice(blocks(kind, texts).as_bytes()),
    }
}
