//! What a Claude Code record is for its neighbours, so that a long session need not be held.

use super::mend::NEW;
use crate::excerpt::{Described, Step};
use crate::json::Object;
use crate::link::{Sender, describe as describe_sent};
use crate::parts::anthropic;

pub(super) fn describe(record: &Object<'_>) -> Described {
    let string = |name: &str| record.text(name).map(Into::<String>::into);
    let link = string("uuid").map(|it| (it, string("parentUuid")));
    let described = match (record.text("type").as_deref(), &link) {
        (Some("user"), Some(_)) => sent(record, Sender::User),
        (Some("assistant"), Some(_)) if !record.is_true("isApiErrorMessage") => {
            sent(record, Sender::Assistant)
        }
        (None, _) => Described::of(Step::Unsettled),
        _ => Described::of(Step::Aside),
    };
    // A new record must not get the id of one that is not held.
    let is_of_a_mend = link.as_ref().is_some_and(|it| it.0.starts_with(NEW));
    let step = match record.is_true("isSidechain") || is_of_a_mend {
        true => Step::Unsettled,
        false => described.step,
    };
    let names = string("logicalParentUuid").into_iter().collect();
    Described { step, link, names, ..described }
}

fn sent(record: &Object<'_>, sender: Sender) -> Described {
    let Some(message) = record.inner("message") else {
        return Described::of(Step::Unsettled);
    };
    let answer = message.text("id").map(Into::into);
    describe_sent(sender, &anthropic::content(message.get("content")), answer, anthropic::images)
}
