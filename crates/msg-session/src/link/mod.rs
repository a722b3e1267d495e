//! The rules between calls and results, and of content (SE-30 to SE-39), for the dialects whose messages
//! are lists of blocks: claude-code, cline, goose.
//!
//! ```text
//! records of the path      messages                     calls and results
//! user      text           0 user
//! assistant call a         1 answer (one message.id)    a: answered in 2
//! assistant call b         1                            b: nothing -> unanswered-call
//! user      result a       2 user
//! user      text           2
//! ```
//!
//! A dialect gives the records of its active path as [`Sent`]; what is to be changed comes back as a
//! [`Plan`], which the dialect turns into edits of its file. It knows nothing of a file's frame.

mod calls;
mod content;
pub(crate) mod limits;
mod media;
mod model;
mod plan;
mod results;
mod server;

pub(crate) use crate::link::media::measure;
pub(crate) use media::{Look, Media};
pub(crate) use model::{BlockKind, Content, Rules, Sender, Sent};
pub(crate) use plan::{Plan, messages};

/// Checks the records of a path, in the order calls, results, content, and plans the mends.
pub(crate) fn check<'a>(sent: &'a [Sent<'a>], rules: &'a Rules) -> Plan<'a> {
    let mut plan = Plan::new(sent, rules);
    calls::check(&mut plan);
    results::check(&mut plan);
    server::check(&mut plan);
    plan
}

/// Checks what is left of the content, after all other mends.
pub(crate) fn check_content(plan: &mut Plan<'_>) {
    content::check(plan);
    media::check(plan);
    content::check_first(plan);
}
