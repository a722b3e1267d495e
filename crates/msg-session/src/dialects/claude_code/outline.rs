//! What a Claude Code record is for its neighbours, so that a long session need not be held.

use super::mend::NEW;
use crate::excerpt::{Outline, Step};
use crate::json::Object;
use crate::link::{Sender, outline_of};
use crate::parts::anthropic;

pub(super) fn of(record: &Object<'_>) -> Outline {
    let string = |name: &str| record.text(name).map(Into::<String>::into);
    let link = string("uuid").map(|it| (it, string("parentUuid")));
    let outline = match (record.text("type").as_deref(), &link) {
        (Some("user"), Some(_)) => sent(record, Sender::User),
        (Some("assistant"), Some(_)) if !record.is_true("isApiErrorMessage") => {
            sent(record, Sender::Assistant)
        }
        (None, _) => Outline::of(Step::Unknown),
        _ => Outline::of(Step::Aside),
    };
    // A new record must not get the id of one that is not held.
    let is_of_a_mend = link.as_ref().is_some_and(|it| it.0.starts_with(NEW));
    let step = match record.is_true("isSidechain") || is_of_a_mend {
        true => Step::Unknown,
        false => outline.step,
    };
    let names = string("logicalParentUuid").into_iter().collect();
    Outline { step, link, names, ..outline }
}

fn sent(record: &Object<'_>, sender: Sender) -> Outline {
    let Some(message) = record.inner("message") else {
        return Outline::of(Step::Unknown);
    };
    let answer = message.text("id").map(Into::into);
    outline_of(sender, &anthropic::content(message.get("content")), answer, anthropic::images)
}
