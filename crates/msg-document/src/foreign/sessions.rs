//! What agents leave on disk.

use super::{Foreign, certain_if};
use crate::codec::Likelihood;
use crate::outline::{Outline, Record, ValueKind};

pub(super) static TABLE: &[Foreign] = &[
    Foreign::new("a Claude Code session", claude_code),
    Foreign::new("a Codex session", codex),
    Foreign::new("a Gemini CLI session", gemini_cli),
    Foreign::new("an OpenCode session or export", opencode),
    Foreign::new("a goose session", goose),
    Foreign::new("a Cline session", cline),
    Foreign::new("an aider history", aider),
    Foreign::new("an OpenHands conversation", openhands),
    Foreign::new("a SWE-agent trajectory", swe_agent),
    Foreign::new("a run state of the OpenAI Agents SDK", agents_sdk),
    Foreign::new("a Pydantic AI history", pydantic_ai),
    Foreign::new("messages of the Vercel AI SDK", vercel_ui),
    Foreign::new("an Inspect log", inspect),
    Foreign::new("the log of another agent", other_logs),
    Foreign::new("a SQLite database", |it| begins(it, b"SQLite format 3\0")),
    Foreign::new("a zip archive", |it| begins(it, b"PK\x03\x04")),
    Foreign::new("a gzip archive", |it| begins(it, b"\x1f\x8b")),
];

fn begins(outline: &Outline<'_>, mark: &[u8]) -> Likelihood {
    certain_if(outline.source().is_some_and(|it| it.starts_with(mark)))
}

fn claude_code(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.has("parentUuid") && !it.has("systemPayload")
            || it.has("uuid") && it.kind.is_some() && it.has("sessionId")
            || matches!(it.kind, Some("file-history-snapshot" | "queue-operation"))
            || it.kind == Some("summary") && it.has("leafUuid")
    };
    certain_if(outline.entries().any(of_it))
}

fn codex(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.kind.is_some() && it.member("payload") == Some(ValueKind::Object)
            || it.has("record_type")
            || it.has("instructions") && it.has("timestamp") && it.has("git")
    };
    certain_if(outline.entries().any(of_it))
}

fn gemini_cli(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| it.has("projectHash") && it.has("sessionId") || it.has("$set");
    let is_reply = |it: &Record<'_>| it.kind == Some("gemini");
    let replies = outline.messages().is_some_and(|it| it.records().any(is_reply));
    certain_if(replies || outline.entries().any(|it| of_it(it) || is_reply(it)))
}

fn opencode(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.has("sessionID")
            || it.has("callID") && it.has("time")
            || it.member("info") == Some(ValueKind::Object) && it.is_list("parts")
            || it.has("id") && it.has("time") && it.has("projectID")
            || it.has("worktree") && it.has("time")
    };
    let is_stored = |it: &Record<'_>| {
        it.member("time") == Some(ValueKind::Object)
            && it.has("id")
            && (it.role.is_some() || it.kind.is_some() || it.has("title"))
    };
    let exported = outline.messages().is_some_and(|it| it.records().any(of_it));
    certain_if(exported || outline.entries().any(|it| of_it(it) || is_stored(it)))
}

fn goose(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| {
        it.has("working_dir") || it.role.is_some() && it.is_list("content") && it.has("created")
    };
    let exported = outline.text("working_dir").is_some() && outline.list("messages").is_some();
    let is_conversation = outline.list("conversation").is_some();
    certain_if(
        exported || is_conversation || outline.lines().is_some_and(|it| it.records().any(of_it)),
    )
}

/// The SDK's; the older files are lists of Anthropic messages.
fn cline(outline: &Outline<'_>) -> Likelihood {
    let of_it = |name: &str| outline.member(name).is_some();
    certain_if(outline.list("messages").is_some() && of_it("sessionId") && of_it("agent"))
}

fn aider(outline: &Outline<'_>) -> Likelihood {
    const MARK: &[u8] = b"# aider chat started at";
    let source = outline.source().unwrap_or_default();
    let mut lines = source[..source.len().min(64 << 10)].split(|it| *it == b'\n');
    certain_if(lines.any(|it| it.starts_with(MARK)))
}

fn openhands(outline: &Outline<'_>) -> Likelihood {
    let is_event = |it: &Record<'_>| {
        it.has("source") && it.has("timestamp") && it.has("kind")
            || it.has("source") && it.has("action") && it.has("args")
            || it.has("source") && it.has("observation")
    };
    let of_it = |name: &str| outline.member(name).is_some();
    let is_state = of_it("agent") && of_it("workspace") && of_it("id");
    let listed = outline.list("").is_some_and(|it| it.records().any(is_event));
    certain_if(is_state || listed || outline.entries().any(is_event))
}

fn swe_agent(outline: &Outline<'_>) -> Likelihood {
    let history = outline.list("history").is_some();
    let info = outline.member("info").is_some();
    let trajectory = outline.list("trajectory").is_some();
    certain_if(
        history && (trajectory || info)
            || trajectory && (info || outline.member("environment").is_some()),
    )
}

fn agents_sdk(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &str| outline.member(it).is_some();
    certain_if(of_it("$schemaVersion") && (of_it("current_turn") || of_it("original_input")))
}

fn pydantic_ai(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &Record<'_>| it.parts().any(|it| it.has("part_kind"));
    certain_if(outline.messages().is_some_and(|it| it.records().any(of_it)))
}

/// Turns share `parts` with `type`; these parts are only here.
fn vercel_ui(outline: &Outline<'_>) -> Likelihood {
    let is_kind = |it: &str| {
        it.starts_with("tool-")
            || it.starts_with("data-")
            || matches!(it, "step-start" | "dynamic-tool" | "tool-invocation" | "source-url")
    };
    let of_it =
        |it: &Record<'_>| it.is_list("parts") && it.parts().any(|it| it.kind.is_some_and(is_kind));
    certain_if(outline.messages().is_some_and(|it| it.records().any(of_it)))
}

fn inspect(outline: &Outline<'_>) -> Likelihood {
    let of_it = |it: &str| outline.member(it).is_some();
    let is_log = of_it("eval") && (of_it("samples") || of_it("plan") || of_it("results"));
    certain_if(is_log)
}

/// Lines and documents that are plainly the log of a program, whichever it is.
fn other_logs(outline: &Outline<'_>) -> Likelihood {
    let is_event = |it: &Record<'_>| {
        it.kind.is_some_and(is_of_a_log)
            || it.has("sessionId") && it.has("timestamp")
            || it.has("parentId") && it.has("timestamp")
            || it.message().is_some_and(|message| message.has("content")) && it.role.is_some()
            || it.message().is_some() && it.kind == Some("message")
            || it.has("step_index") && it.has("source")
            || it.kind.is_some_and(|it| matches!(it, "system" | "user" | "assistant"))
                && it.role.is_none()
            || it.has("systemPayload") && it.has("uuid")
    };
    let is_state =
        outline.member("session_id").is_some() && outline.member("message_count").is_some();
    certain_if(is_state || outline.entries().any(is_event))
}

/// Events of the Responses API are named so too, and are no log.
fn is_of_a_log(kind: &str) -> bool {
    kind.contains('.') && !kind.starts_with("response.") || kind.starts_with("session")
}
