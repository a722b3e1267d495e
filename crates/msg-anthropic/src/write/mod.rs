//! Anthropic messages: from [`Message`]s straight into bytes. An unedited message that was read here goes
//! out as it came in; what the format cannot hold is reported, never dropped in silence.
//!
//! ```text
//! system, developer ..        -> "system"                      system.rs     AN-4
//! tool, tool, user            -> one user message, results     group.rs      AN-8
//!                                first, each part a block      message.rs, block.rs, media.rs
//! ```

mod block;
mod message;

use msg_codec::codec::{PartWriter, Plan, Purpose, RawMember};
use msg_core::{Extra, Message, Origin, RawJson, Report};

use crate::{CacheControl, LaterSystem, WriteOptions, shape::ANTHROPIC};

/// Writes messages, one call for each list.
pub(crate) struct Writer<'a> {
    options: &'a WriteOptions,
    purpose: Purpose,
    objects: PartWriter<'a>,
}

/// Writes through a writer, and gives what was lost.
pub(crate) fn written(
    options: &WriteOptions,
    purpose: Purpose,
    write: impl FnOnce(&mut Writer<'_>),
) -> Report {
    let mut report = Report::new();
    let objects = PartWriter::new(ANTHROPIC, options.layout, &mut report);
    let mut writer = Writer { options, purpose, objects };
    write(&mut writer);
    writer.objects.losses.flush();
    report
}

impl Writer<'_> {
    fn later_system(&self) -> LaterSystem {
        match self.purpose {
            Purpose::Convert => self.options.later_system,
            Purpose::Return => LaterSystem::Keep,
        }
    }

    /// The source of what begins with this message, if it is kept whole and still says what is written.
    fn whole<'m>(&self, head: &'m Message, says: impl FnOnce(&str) -> bool) -> Option<&'m str> {
        let is_asked = || *self.options == WriteOptions::default();
        self.objects.whole(&head.extra, |source| is_asked() && says(source))
    }

    fn plan<'b>(&self, extra: &'b Extra) -> Plan<'b> {
        self.objects.plan(extra, 0)
    }

    /// The unknown members of a part and its `cache_control`, wherever that is from (AN-9), but that named by
    /// `skip`; those that are left out are reported.
    fn members<'b>(
        &mut self,
        extra: &'b Extra,
        at: usize,
        skip: Option<&str>,
    ) -> Vec<RawMember<'b>> {
        let drops = self.options.cache_control == CacheControl::Drop;
        let mut res = Vec::new();
        for (origin, name, value) in extra.all() {
            let is_cache = name == CACHE_CONTROL;
            let is_own = *origin == ANTHROPIC;
            let is_carried = is_cache && *origin == Origin::OpenAi;
            let is_taken = is_carried && extra.get(&ANTHROPIC, name).is_some();
            let point = cache_control_of(origin, name, value)
                .filter(|_| !drops && extra.get(&ANTHROPIC, CACHE_CONTROL).is_none());
            if is_own && Some(name) == skip {
                continue;
            } else if let Some(value) = point {
                res.push(RawMember { name: CACHE_CONTROL.into(), value });
            } else if (is_own || is_carried) && !(is_cache && drops) && !is_taken {
                res.push(RawMember { name: name.into(), value: value.text() });
            } else {
                self.objects.losses.raw(Some(at), &format!("{origin}.{name}"));
            }
        }
        res
    }
}

/// The `cache_control` that says what a cache point of Bedrock says (BR-9).
fn cache_control_of(origin: &Origin, name: &str, value: &RawJson) -> Option<&'static str> {
    if *origin != Origin::Bedrock || name != CACHE_POINT {
        return None;
    }
    let ttl = value.members()?.into_iter().find(|it| it.0 == "ttl").map(|it| it.1);
    Some(match ttl.as_ref().map(RawJson::text) {
        None => r#"{"type":"ephemeral"}"#,
        Some("\"5m\"") => r#"{"type":"ephemeral","ttl":"5m"}"#,
        Some("\"1h\"") => r#"{"type":"ephemeral","ttl":"1h"}"#,
        Some(_) => return None,
    })
}

/// The member in which a part read from Bedrock keeps the cache point after it.
const CACHE_POINT: &str = "cachePoint";

const CACHE_CONTROL: &str = "cache_control";

/// The member of a part's extra that holds the unknown members of its source.
const SOURCE: &str = "source";
