//! The table of formats. To add one: a file here that implements `Codec`, and a line in [`FORMATS`].
//!
//! ```text
//! name       recognised by                          read with            written with
//! openai     messages, choices, role + content      msg_openai::chat     msg_openai::chat
//! anthropic  blocks, system beside messages         msg_anthropic        msg_anthropic
//! gemini     contents, candidates, parts            msg_gemini           msg_gemini
//! interac.   steps, input beside its own members    msg_gemini           msg_gemini
//! msgmd      Markdown with headings                 msg_file             msg_file
//! codex …    marks of the agent's records           msg_session          msg_session
//! ```

mod anthropic;
mod api;
mod gemini;
mod langchaingo;
mod lists;
#[cfg(feature = "files")]
mod msgmd;
mod openai;
mod otel;
mod session;
mod sessions;
mod sharegpt;
mod spliced;

use std::marker::PhantomData;

use msg_openai::ReadOptions;

use self::api::Wire;
pub(crate) use self::session::document_in;
use crate::codec::Codec;
use crate::outline::{Item, Record};

/// All formats. Where two are equally likely the first is taken.
pub(crate) static FORMATS: &[&dyn Codec] = &[
    &Wire::<openai::Openai>(PhantomData),
    &Wire::<anthropic::Anthropic>(PhantomData),
    &Wire::<anthropic::Bedrock>(PhantomData),
    &Wire::<gemini::Gemini>(PhantomData),
    // Before Responses, whose `input` it has too.
    &Wire::<gemini::Interactions>(PhantomData),
    &Wire::<openai::Responses>(PhantomData),
    &lists::AGENT,
    // Before turns, whose marks it has too.
    &session::OTEL,
    &lists::Turns,
    &lists::PLAIN,
    #[cfg(feature = "files")]
    &msgmd::Msgmd,
    &lists::NATIVE,
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
    &sessions::AI_SDK,
    &sessions::AG_UI,
    &sessions::ADK,
    &sessions::HAYSTACK,
    &sessions::LLAMA_INDEX,
    &sessions::AUTOGEN,
    &sessions::AGENT_FRAMEWORK,
    &sessions::SEMANTIC_KERNEL,
    &session::SHAREGPT,
    &sessions::OPENAI_JSONL,
    &sessions::INSPECT,
    &sessions::QWEN_CODE,
    &sessions::PI,
    &sessions::COPILOT_CLI,
    &sessions::CLAUDE_STREAM,
    &sessions::CODEX_EXEC,
    &sessions::ATIF,
    &sessions::KIMI,
    &sessions::DROID,
    &sessions::GROK,
];

/// The limit has been applied where the bytes were read.
fn no_limit() -> ReadOptions {
    ReadOptions::new().with_max_bytes(usize::MAX)
}

/// Members that a turn has and a native message has not.
fn is_of_a_turn(record: &Record<'_>) -> bool {
    const OWN: [&str; 5] = ["id", "timestamp", "finished", "finish_reason", "metadata"];
    const OF_PARTS: [&str; 3] = ["tool", "status", "start_time"];
    let of_part = |it: &Item<'_>| OF_PARTS.iter().any(|name| it.has(name));
    record.is_list("parts") && (OWN.iter().any(|it| record.has(it)) || record.parts().any(of_part))
}
