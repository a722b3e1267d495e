//! The table of formats. To add one: a file here that implements `Codec`, and a line in [`FORMATS`].
//!
//! ```text
//! name       recognised by                          read with            written with
//! openai     messages, choices, role + content      msg_openai::chat     msg_openai::chat
//! anthropic  blocks, system beside messages         msg_anthropic        msg_anthropic
//! gemini     contents, candidates, parts            msg_gemini           msg_gemini
//! msgmd      Markdown with headings                 msg_file             msg_file
//! codex …    marks of the agent's records           msg_session          msg_session
//! ```

mod agent;
mod anthropic;
mod api;
mod both;
mod data;
mod gemini;
mod langchaingo;
#[cfg(feature = "files")]
mod msgmd;
mod native;
mod openai;
mod otel;
mod plain;
mod responses;
mod session;
mod sessions;
mod sharegpt;
mod turns;

use std::marker::PhantomData;
use std::ops::Range;

use msg_core::{Message, Report};
use msg_openai::ReadOptions;

use self::api::Wire;
use crate::codec::{Codec, Content};
use crate::outline::{Item, Record};
use crate::refusal::Refusal;
use crate::wrapper::Wrapper;

/// All formats. Where two are equally likely the first is taken.
pub(crate) static FORMATS: &[&dyn Codec] = &[
    &Wire::<openai::Openai>(PhantomData),
    &Wire::<anthropic::Anthropic>(PhantomData),
    &Wire::<gemini::Gemini>(PhantomData),
    &Wire::<responses::Responses>(PhantomData),
    &agent::Agent,
    // Before turns, whose marks it has too.
    &both::OTEL,
    &turns::Turns,
    &plain::Plain,
    #[cfg(feature = "files")]
    &msgmd::Msgmd,
    &native::Native,
    &langchaingo::Langchaingo,
    &sessions::CLAUDE_CODE,
    &sessions::CODEX,
    &sessions::GEMINI_CLI,
    &sessions::OPENCODE,
    &sessions::GOOSE,
    &sessions::CLINE,
    &sessions::AIDER,
    &sessions::OPENHANDS,
    &sessions::SWE_AGENT,
    &sessions::LANGCHAIN,
    &sessions::PYDANTIC_AI,
    &sessions::AGENTS_SDK,
    &sessions::VERCEL_UI,
    &both::SHAREGPT,
    &sessions::OPENAI_JSONL,
    &sessions::INSPECT,
];

/// The limit has been applied where the bytes were read.
fn no_limit() -> ReadOptions {
    ReadOptions::new().with_max_bytes(usize::MAX)
}

type ReadList = fn(&[u8]) -> Result<(Vec<Message>, Report), msg_core::Error>;

/// Reads a document that is a list of messages, or an object around one.
fn read_list(
    json: &[u8],
    (wrapper, list): (Wrapper, Range<usize>),
    read: ReadList,
) -> Result<Content, Refusal> {
    let start = list.start;
    let (messages, report) = read(&json[list]).map_err(|it| Refusal::from(it).moved(start))?;
    Ok(Content::new(messages, wrapper, report))
}

/// Members that a turn has and a native message has not.
fn is_of_a_turn(record: &Record<'_>) -> bool {
    const OWN: [&str; 5] = ["id", "timestamp", "finished", "finish_reason", "metadata"];
    const OF_PARTS: [&str; 3] = ["tool", "status", "start_time"];
    let of_part = |it: &Item<'_>| OF_PARTS.iter().any(|name| it.has(name));
    record.is_list("parts") && (OWN.iter().any(|it| record.has(it)) || record.parts().any(of_part))
}
