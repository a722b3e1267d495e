//! Reasoning items.

use msg_core::{Reasoning, json};

use super::{Writer, block};
use crate::{
    ItemIds,
    responses::{
        read::joined_texts,
        shape::{ITEM, RESPONSES, item},
    },
};
use msg_wire::codec::{bit, mask, object_members};

impl Writer<'_> {
    pub(super) fn reasoning(&mut self, at: usize, it: &Reasoning, list: &mut json::Writer<'_>) {
        let plan = self.objects.plan(&it.extra, 0);
        if it.encrypted.is_none() && !self.is_accepted(it) {
            let text =
                "the API refuses reasoning that has neither an item id nor encrypted content";
            return self.objects.losses.warn("convert::lost-part", Some(at), text);
        }
        self.objects.losses.foreign(&it.extra, Some(&RESPONSES), Some(at));
        for (name, value) in [("signature", &it.signature), ("redacted", &it.redacted)] {
            if value.is_some() {
                self.objects.losses.member(Some(at), name);
            }
        }
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
                item::TYPE => json::write_str(out, "reasoning"),
                item::SUMMARY => self.summary(it, out),
                item::CONTENT => self.texts(it, out),
                _ => json::write_str(out, it.encrypted.as_deref().unwrap_or_default()),
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
        match self
            .objects
            .source(&it.extra, 1)
            .filter(|source| joined_texts(source, "summary_text").is_some_and(|it| it == texts))
        {
            Some(source) => out.extend_from_slice(source.as_bytes()),
            None => blocks("summary_text", texts.iter().map(String::as_str), out),
        }
    }

    fn texts(&self, it: &Reasoning, out: &mut Vec<u8>) {
        let text = it.text.as_deref().unwrap_or_default();
        match self.objects.source(&it.extra, 2).filter(|source| {
            joined_texts(source, "reasoning_text").is_some_and(|it| it.join("\n\n") == text)
        }) {
            Some(source) => out.extend_from_slice(source.as_bytes()),
            None => blocks("reasoning_text", [text].into_iter(), out),
        }
    }
}

fn blocks<'t>(kind: &str, texts: impl Iterator<Item = &'t str>, out: &mut Vec<u8>) {
    json::Writer::new(out).array(texts, |it, text| it.value(|out| block(out, kind, text)));
}
