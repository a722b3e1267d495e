//! What agents leave on disk, as formats: the marks by which each is recognised.

use msg_session::Dialect;

use super::session::SessionFormat;
use crate::codec::Likelihood;
use crate::outline::{Outline, Record, ValueKind};

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

pub(super) static CLAUDE_CODE: SessionFormat =
    lines(Dialect::ClaudeCode, "A session of Claude Code", claude_code);
pub(super) static CODEX: SessionFormat = lines(Dialect::Codex, "A session of Codex", codex);
pub(super) static GEMINI_CLI: SessionFormat =
    lines(Dialect::GeminiCli, "A session of Gemini CLI", gemini_cli);
pub(super) static OPENCODE: SessionFormat =
    session(Dialect::OpenCode, "An export of opencode", opencode);
pub(super) static GOOSE: SessionFormat = lines(Dialect::Goose, "A session of goose", goose);
pub(super) static CLINE: SessionFormat =
    session(Dialect::Cline, "A task of Cline or Roo Code", cline);
pub(super) static AIDER: SessionFormat = session(Dialect::Aider, "A chat history of aider", aider);
pub(super) static OPENHANDS: SessionFormat =
    session(Dialect::OpenHands, "Events of OpenHands", openhands);
pub(super) static SWE_AGENT: SessionFormat =
    session(Dialect::SweAgent, "A trajectory of SWE-agent", swe_agent);
pub(super) static LANGCHAIN: SessionFormat =
    session(Dialect::LangChain, "Messages of LangChain", super::otel::langchain);
pub(super) static PYDANTIC_AI: SessionFormat =
    session(Dialect::PydanticAi, "Messages of Pydantic AI", pydantic_ai);
pub(super) static AGENTS_SDK: SessionFormat =
    lines(Dialect::AgentsSdk, "Items of the OpenAI Agents SDK", agents_sdk);
pub(super) static VERCEL_UI: SessionFormat =
    session(Dialect::VercelUi, "UI messages of the Vercel AI SDK", vercel_ui);
pub(super) static AI_SDK: SessionFormat =
    marked(Dialect::AiSdk, "Messages of the Vercel AI SDK for a model (ModelMessage, a prompt)");
pub(super) static AG_UI: SessionFormat = marked(Dialect::AgUi, "Messages of AG-UI");
pub(super) static ADK: SessionFormat = SessionFormat {
    spans_lines: true,
    ..marked(Dialect::Adk, "A session of Google's ADK, or its events")
};
pub(super) static HAYSTACK: SessionFormat = marked(Dialect::Haystack, "Messages of Haystack");
pub(super) static LLAMA_INDEX: SessionFormat =
    marked(Dialect::LlamaIndex, "Messages of LlamaIndex, or its chat store");
pub(super) static AUTOGEN: SessionFormat = marked(Dialect::AutoGen, "Messages of AutoGen");
pub(super) static AGENT_FRAMEWORK: SessionFormat = marked(
    Dialect::AgentFramework,
    "Messages of the Microsoft Agent Framework and Microsoft.Extensions.AI",
);
pub(super) static SEMANTIC_KERNEL: SessionFormat =
    marked(Dialect::SemanticKernel, "A chat history of Semantic Kernel");
pub(super) static SHAREGPT: SessionFormat =
    session(Dialect::ShareGpt, "A ShareGPT conversation", super::otel::sharegpt);
pub(super) static OPENAI_JSONL: SessionFormat =
    session(Dialect::OpenAiJsonl, "A fine-tuning line", |_| Likelihood::No);
pub(super) static INSPECT: SessionFormat = session(Dialect::Inspect, "A log of Inspect", inspect);
pub(super) static OTEL: SessionFormat =
    lines(Dialect::Otel, "OpenTelemetry GenAI spans", super::otel::otel);

pub(super) static QWEN_CODE: SessionFormat =
    lines(Dialect::QwenCode, "A session of Qwen Code", qwen_code);
pub(super) static PI: SessionFormat = lines(Dialect::Pi, "A session of pi or openclaw", pi);
pub(super) static COPILOT_CLI: SessionFormat =
    lines(Dialect::CopilotCli, "A session of Copilot CLI", copilot_cli);
pub(super) static CLAUDE_STREAM: SessionFormat =
    lines(Dialect::ClaudeStream, "A stream-json log of Claude Code", claude_stream);
pub(super) static CODEX_EXEC: SessionFormat =
    lines(Dialect::CodexExec, "A log of codex exec --json", codex_exec);
pub(super) static ATIF: SessionFormat = session(Dialect::Atif, "An ATIF trajectory", atif);
pub(super) static KIMI: SessionFormat = lines(Dialect::Kimi, "A session of Kimi CLI", kimi);
pub(super) static DROID: SessionFormat = lines(Dialect::Droid, "A session of droid", droid);
pub(super) static GROK: SessionFormat = lines(Dialect::Grok, "A session of Grok CLI", grok);

/// Whether a record of the lines, or the only one, is of a dialect.
fn any_record(outline: &Outline<'_>, of_it: impl Fn(&Record<'_>) -> bool) -> Likelihood {
    Likelihood::certain_if(outline.entries().any(of_it))
}

fn qwen_code(outline: &Outline<'_>) -> Likelihood {
    let has_parts = |it: &Record<'_>| it.message().is_some_and(|it| it.has("parts"));
    any_record(outline, |it| it.has("uuid") && (it.has("systemPayload") || has_parts(it)))
}

fn pi(outline: &Outline<'_>) -> Likelihood {
    any_record(outline, |it| {
        it.kind == Some("session") && it.has("id") && (it.has("version") || it.has("cwd"))
    })
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
    const OTHERS: [&str; 6] = ["uuid", "id", "timestamp", "sessionId", "session_id", "data"];
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
