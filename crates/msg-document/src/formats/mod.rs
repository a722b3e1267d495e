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
//!
//! What agents leave on disk is a format each, too; the marks by which they are recognised are here.

use std::marker::PhantomData;

use msg_openai::ReadOptions;
use msg_session::Dialect;
use session::SessionFormat;

use self::api::Wire;
use crate::codec::{Codec, Likelihood};
use crate::outline::{Item, Outline, Record, ValueKind};

pub(crate) use self::session::document_in;

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
mod sharegpt;
mod store;

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
    &lines(Dialect::ClaudeCode, "A session of Claude Code", claude_code),
    &lines(Dialect::Codex, "A session of Codex", codex),
    &lines(Dialect::GeminiCli, "A session of Gemini CLI", gemini_cli),
    &session(Dialect::OpenCode, "An export of opencode", opencode),
    &lines(Dialect::Goose, "A session of goose", goose),
    &session(Dialect::Cline, "A task of Cline or Roo Code", cline),
    &session(Dialect::Aider, "A chat history of aider", aider),
    &session(Dialect::OpenHands, "Events of OpenHands", openhands),
    &session(Dialect::SweAgent, "A trajectory of SWE-agent", swe_agent),
    &session(Dialect::LangChain, "Messages of LangChain", otel::langchain),
    &session(Dialect::PydanticAi, "Messages of Pydantic AI", pydantic_ai),
    &lines(Dialect::AgentsSdk, "Items of the OpenAI Agents SDK", agents_sdk),
    &session(Dialect::VercelUi, "UI messages of the Vercel AI SDK", vercel_ui),
    &marked(Dialect::AiSdk, "Messages of the Vercel AI SDK for a model (ModelMessage, a prompt)"),
    &marked(Dialect::AgUi, "Messages of AG-UI"),
    &SessionFormat {
        spans_lines: true,
        ..marked(Dialect::Adk, "A session of Google's ADK, or its events")
    },
    &marked(Dialect::Haystack, "Messages of Haystack"),
    &marked(Dialect::LlamaIndex, "Messages of LlamaIndex, or its chat store"),
    &marked(Dialect::AutoGen, "Messages of AutoGen"),
    &marked(
        Dialect::AgentFramework,
        "Messages of the Microsoft Agent Framework and Microsoft.Extensions.AI",
    ),
    &marked(Dialect::SemanticKernel, "A chat history of Semantic Kernel"),
    &session::SHAREGPT,
    &session(Dialect::OpenAiJsonl, "A fine-tuning line", |_| Likelihood::No),
    &session(Dialect::Inspect, "A log of Inspect", inspect),
    &lines(Dialect::QwenCode, "A session of Qwen Code", qwen_code),
    &lines(Dialect::Pi, "A session of pi or openclaw", pi),
    &lines(Dialect::CopilotCli, "A session of Copilot CLI", copilot_cli),
    &lines(Dialect::ClaudeStream, "A stream-json log of Claude Code", claude_stream),
    &lines(Dialect::CodexExec, "A log of codex exec --json", codex_exec),
    &session(Dialect::Atif, "An ATIF trajectory", atif),
    &lines(Dialect::Kimi, "A session of Kimi CLI", kimi),
    &lines(Dialect::Droid, "A session of droid", droid),
    &lines(Dialect::Grok, "A session of Grok CLI", grok),
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

const fn session(
    dialect: Dialect,
    about: &'static str,
    mark: fn(&Outline<'_>) -> Likelihood,
) -> SessionFormat {
    SessionFormat { dialect, about, mark, spans_lines: false }
}

const fn lines(
    dialect: Dialect,
    about: &'static str,
    mark: fn(&Outline<'_>) -> Likelihood,
) -> SessionFormat {
    SessionFormat { spans_lines: true, ..session(dialect, about, mark) }
}

/// A dialect that the marks of `foreign` tell from others.
const fn marked(dialect: Dialect, about: &'static str) -> SessionFormat {
    session(dialect, about, |_| Likelihood::No)
}

static SHAREGPT: SessionFormat =
    session(Dialect::ShareGpt, "A ShareGPT conversation", otel::sharegpt);
static OTEL: SessionFormat = lines(Dialect::Otel, "OpenTelemetry GenAI spans", otel::otel);

/// Whether a record of the lines, or the only one, is of a dialect.
fn any_record(outline: &Outline<'_>, of_it: impl Fn(&Record<'_>) -> bool) -> Likelihood {
    Likelihood::certain_if(outline.entries().any(of_it))
}

fn qwen_code(outline: &Outline<'_>) -> Likelihood {
    let has_parts = |it: &Record<'_>| it.message().is_some_and(|it| it.has("parts"));
    any_record(outline, |it| it.has("uuid") && (it.has("systemPayload") || has_parts(it)))
}

fn pi(outline: &Outline<'_>) -> Likelihood {
    let is_header = |it: &Record<'_>| it.has("id") && (it.has("version") || it.has("cwd"));
    // The header of DeepSeek Harness is a `session` with `createdAt`.
    any_record(outline, |it| it.kind == Some("session") && is_header(it) && !it.has("createdAt"))
}

fn copilot_cli(outline: &Outline<'_>) -> Likelihood {
    let is_event = |it: &Record<'_>| it.kind.is_some_and(|it| it.contains('.'));
    any_record(outline, |it| is_event(it) && it.has("data") && it.has("parentId"))
}

fn claude_stream(outline: &Outline<'_>) -> Likelihood {
    any_record(outline, |it| {
        it.has("session_id") && it.has("parent_tool_use_id")
            || it.kind == Some("system") && it.has("claude_code_version")
    })
}

fn codex_exec(outline: &Outline<'_>) -> Likelihood {
    any_record(outline, |it| it.kind == Some("thread.started") && it.has("thread_id"))
}

fn atif(outline: &Outline<'_>) -> Likelihood {
    Likelihood::certain_if(
        outline.text("schema_version").is_some_and(|it| it.starts_with("ATIF-v")),
    )
}

fn kimi(outline: &Outline<'_>) -> Likelihood {
    any_record(outline, |it| it.kind == Some("metadata") && it.has("protocol_version"))
}

fn droid(outline: &Outline<'_>) -> Likelihood {
    any_record(outline, |it| {
        let names = ["owner", "version", "title"];
        it.kind == Some("session_start") && names.iter().any(|name| it.has(name))
    })
}

/// Lines of messages that have a type where others have a role.
fn grok(outline: &Outline<'_>) -> Likelihood {
    const OTHERS: [&str; 7] = ["uuid", "id", "timestamp", "ts", "sessionId", "session_id", "data"];
    let of_it = |it: &Record<'_>| {
        let is_said = matches!(it.kind, Some("user" | "assistant" | "tool_result"));
        is_said
            && it.has("content")
            && !it.has("message")
            && !OTHERS.iter().any(|name| it.has(name))
    };
    let lines = outline.lines();
    Likelihood::certain_if(
        lines.is_some_and(|it| it.records().any(of_it) && it.records().all(|it| it.role.is_none())),
    )
}

fn claude_code(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.has("parentUuid")
            || it.has("uuid") && it.kind.is_some() && it.has("sessionId")
            || matches!(it.kind, Some("file-history-snapshot" | "queue-operation"))
            || it.kind == Some("summary") && it.has("leafUuid")
    };
    // Qwen Code writes such records too, with the parts of another provider.
    let is_of_another =
        |it: &Record<'_>| it.has("systemPayload") || it.message().is_some_and(|it| it.has("parts"));
    let is_ours = outline.entries().any(of_it) && !outline.entries().any(is_of_another);
    Likelihood::certain_if(is_ours)
}

fn codex(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.kind.is_some_and(|it| CODEX_RECORDS.contains(&it)) && it.has("payload")
            || outline.has_lines() && it.has("record_type")
            || it.has("instructions") && it.has("timestamp") && it.has("git")
    };
    Likelihood::certain_if(outline.entries().any(of_it))
}

/// The types of the records of Codex: others have payloads too.
const CODEX_RECORDS: [&str; 9] = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "ghost_snapshot",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "world_state",
];

fn gemini_cli(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.has("projectHash") && it.has("sessionId") || outline.has_lines() && it.has("$set")
    };
    let is_reply = |it: &Record<'_>| it.kind == Some("gemini");
    let replies = outline.messages().is_some_and(|it| it.records().any(is_reply));
    Likelihood::certain_if(replies || outline.entries().any(|it| of_it(it) || is_reply(it)))
}

fn opencode(outline: &Outline<'_>) -> Likelihood {
    let of_it =
        |it: &Record<'_>| it.member("info") == Some(ValueKind::Object) && it.is_list("parts");
    Likelihood::certain_if(outline.list("messages").is_some_and(|it| it.records().any(of_it)))
}

fn goose(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.has("working_dir") || it.role.is_some() && it.is_list("content") && it.has("created")
    };
    let exported = outline.text("working_dir").is_some() && outline.list("messages").is_some();
    let is_conversation = || {
        let is_ours = |it: &Record<'_>| it.has("created") && it.is_list("content");
        outline.list("conversation").is_some_and(|it| it.records().any(is_ours))
    };
    Likelihood::certain_if(
        exported || is_conversation() || outline.lines().is_some_and(|it| it.records().any(of_it)),
    )
}

/// The SDK's; the older files are lists of Anthropic messages.
fn cline(outline: &Outline<'_>) -> Likelihood {
    let of_it = |name: &str| outline.member(name).is_some();
    Likelihood::certain_if(
        outline.list("messages").is_some() && of_it("sessionId") && of_it("agent"),
    )
}

fn aider(outline: &Outline<'_>) -> Likelihood {
    const MARK: &[u8] = b"# aider chat started at";
    let source = outline.source().unwrap_or_default();
    let mut lines = source[..source.len().min(64 << 10)].split(|it| *it == b'\n');
    Likelihood::certain_if(lines.any(|it| it.starts_with(MARK)))
}

/// The events of a conversation in one list.
fn openhands(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.member("llm_message") == Some(ValueKind::Object)
            || it.has("llm_response_id") && it.has("tool_call_id")
    };
    Likelihood::certain_if(outline.messages().is_some_and(|it| it.records().any(of_it)))
}

fn swe_agent(outline: &Outline<'_>) -> Likelihood {
    if is_of_mini(outline) {
        return Likelihood::Certain;
    }
    let is_message = |it: &Record<'_>| it.has("role");
    let history = outline.list("history");
    let history = history.is_some_and(|it| it.is_empty() || it.records().any(is_message));
    let info = outline.member("info").is_some();
    let trajectory = outline.list("trajectory").is_some();
    Likelihood::certain_if(
        history && (trajectory || info)
            || trajectory && (info || outline.member("environment").is_some()),
    )
}

/// A trajectory of mini-SWE-agent.
fn is_of_mini(outline: &Outline<'_>) -> bool {
    let format = outline.text("trajectory_format");
    format.is_some_and(|it| it.starts_with("mini-swe-agent")) && outline.list("messages").is_some()
}

fn agents_sdk(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &str| outline.member(it).is_some();
    Likelihood::certain_if(
        of_it("$schemaVersion") && (of_it("current_turn") || of_it("original_input")),
    )
}

fn pydantic_ai(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| it.parts().any(|it| it.has("part_kind"));
    Likelihood::certain_if(outline.messages().is_some_and(|it| it.records().any(of_it)))
}

/// Turns share `parts` with `type`; these parts are only here.
fn vercel_ui(outline: &Outline<'_>) -> Likelihood {
    let is_kind = |it: &str| {
        it.starts_with("tool-")
            || it.starts_with("data-")
            || matches!(it, "step-start" | "dynamic-tool" | "source-url" | "source-document")
    };
    // Version 4 has the text beside the parts.
    let is_of_v4 = |it: &Record<'_>| {
        it.member("content") == Some(ValueKind::Text)
            && it.text("id").is_some()
            && it.parts().all(|it| it.kind.is_some())
    };
    let of_it = |it: &Record<'_>| {
        it.is_list("parts") && (it.parts().any(|it| it.kind.is_some_and(is_kind)) || is_of_v4(it))
    };
    Likelihood::certain_if(outline.messages().is_some_and(|it| it.records().any(of_it)))
}

fn inspect(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &str| outline.member(it).is_some();
    let is_log = outline.member("eval") == Some(ValueKind::Object)
        && (of_it("samples") || of_it("plan") || of_it("results"));
    let is_archive = outline.source().is_some_and(|it| {
        let blobs = vec![msg_session::Blob::new("", it)];
        it.starts_with(b"PK\x03\x04") && msg_session::Session::recognise(blobs).is_ok()
    });
    Likelihood::certain_if(is_log || is_archive)
}
