//! Whose session it is (SE-10): by the name, then by the members of the first records. A sure mark of one
//! dialect is needed; what could be two things is read only by name.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::edit::{BLANKS, Object, Value};
use crate::{Blob, Error};

/// Rules judge the sessions of a dialect.
const JUDGED: bool = true;
/// Only the frame of its sessions is judged.
const FRAMED: bool = false;

/// A row for each dialect: its name, what people call the agent, and how its sessions are judged.
macro_rules! dialects {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $agent:literal, $judged:ident;)*) => {
        /// Whose session it is.
        ///
        /// ```
        /// use msg_session::Dialect;
        /// assert_eq!("claude-code".parse(), Ok(Dialect::ClaudeCode));
        /// assert_eq!(Dialect::OpenAiJsonl.to_string(), "openai-jsonl");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Dialect { $($(#[$doc])* #[serde(rename = $name)] $variant,)* }

        impl Dialect {
            /// All of them.
            pub const ALL: &[Dialect] = &[$(Dialect::$variant,)*];

            /// The name of the dialect, as `--from` takes it.
            pub fn name(self) -> &'static str {
                match self { $(Dialect::$variant => $name,)* }
            }

            /// What people call the agent.
            ///
            /// ```
            /// use msg_session::Dialect;
            ///
            /// assert_eq!(Dialect::QwenCode.agent(), "Qwen Code");
            /// assert_eq!(Dialect::LangChain.agent(), "langchain");
            /// ```
            pub fn agent(self) -> &'static str {
                match self { $(Dialect::$variant => $agent,)* }
            }

            /// Whether there are rules by which sessions of this dialect are judged (SE-146); of others only the frame is.
            ///
            /// ```
            /// use msg_session::Dialect;
            /// assert!(Dialect::Codex.is_judged() && !Dialect::Aider.is_judged());
            /// ```
            pub fn is_judged(self) -> bool {
                match self { $(Dialect::$variant => $judged,)* }
            }
        }
    };
}

dialects! {
    /// Claude Code, JSON lines that form a tree.
    ClaudeCode = "claude-code", "Claude Code", JUDGED;
    /// Codex, JSON lines of Responses items.
    Codex = "codex", "Codex", JUDGED;
    /// Gemini CLI, JSON lines or one document.
    GeminiCli = "gemini-cli", "Gemini CLI", JUDGED;
    /// opencode, a folder of small files or an export.
    OpenCode = "opencode", "opencode", JUDGED;
    /// goose, JSON lines or rows.
    Goose = "goose", "goose", JUDGED;
    /// Cline and Roo Code, an array of Anthropic messages.
    Cline = "cline", "Cline", JUDGED;
    /// aider, a Markdown log.
    Aider = "aider", "aider", FRAMED;
    /// OpenHands, a file an event.
    OpenHands = "openhands", "OpenHands", JUDGED;
    /// SWE-agent trajectories.
    SweAgent = "swe-agent", "swe-agent", FRAMED;
    /// LangChain messages.
    LangChain = "langchain", "langchain", JUDGED;
    /// Pydantic AI messages.
    PydanticAi = "pydantic-ai", "pydantic-ai", JUDGED;
    /// OpenAI Agents SDK items.
    AgentsSdk = "agents-sdk", "agents-sdk", JUDGED;
    /// Vercel AI SDK UI messages.
    VercelUi = "vercel-ui", "vercel-ui", JUDGED;
    /// Vercel AI SDK messages for a model.
    AiSdk = "ai-sdk", "ai-sdk", JUDGED;
    /// AG-UI messages.
    AgUi = "ag-ui", "ag-ui", JUDGED;
    /// Google ADK events.
    Adk = "adk", "adk", JUDGED;
    /// Haystack chat messages.
    Haystack = "haystack", "haystack", JUDGED;
    /// LlamaIndex chat messages.
    LlamaIndex = "llama-index", "llama-index", JUDGED;
    /// AutoGen messages.
    AutoGen = "autogen", "autogen", JUDGED;
    /// Microsoft Agent Framework messages.
    AgentFramework = "agent-framework", "agent-framework", JUDGED;
    /// Semantic Kernel chat histories.
    SemanticKernel = "semantic-kernel", "semantic-kernel", JUDGED;
    /// ShareGPT conversations.
    ShareGpt = "sharegpt", "sharegpt", JUDGED;
    /// OpenAI fine-tuning lines.
    OpenAiJsonl = "openai-jsonl", "openai-jsonl", JUDGED;
    /// Inspect evaluation logs.
    Inspect = "inspect", "inspect", FRAMED;
    /// OpenTelemetry GenAI spans.
    Otel = "otel", "otel", FRAMED;
    /// Qwen Code, JSON lines that form a tree.
    QwenCode = "qwen-code", "Qwen Code", JUDGED;
    /// pi and openclaw, JSON lines that form a tree.
    Pi = "pi", "pi", JUDGED;
    /// Copilot CLI, a file of events.
    CopilotCli = "copilot-cli", "Copilot CLI", JUDGED;
    /// What `claude -p --output-format stream-json` prints.
    ClaudeStream = "claude-stream", "Claude Code", JUDGED;
    /// What `codex exec --json` prints.
    CodexExec = "codex-exec", "Codex", JUDGED;
    /// ATIF trajectories.
    Atif = "atif", "atif", JUDGED;
    /// Kimi CLI, a file of events.
    Kimi = "kimi", "kimi", FRAMED;
    /// droid, JSON lines of Anthropic messages.
    Droid = "droid", "droid", FRAMED;
    /// Grok CLI, JSON lines of messages.
    Grok = "grok", "grok", FRAMED;
}

impl Dialect {
    /// Whether it is a list of messages that a framework stores, not the records of an agent.
    ///
    /// ```
    /// use msg_session::Dialect;
    ///
    /// assert!(Dialect::Haystack.is_store() && !Dialect::Codex.is_store());
    /// ```
    pub fn is_store(self) -> bool {
        crate::dialects::frameworks::store(self).is_some()
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Dialect {
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|it| it.name() == name);
        found.copied().ok_or_else(|| crate::Error::NoDialect(name.to_owned()))
    }
}

/// How many bytes are looked at first.
const PREFIX: usize = 1 << 20;

/// How many records are looked at.
const RECORDS: usize = 50;

/// The dialect of a session.
pub(crate) fn detect(blobs: &[Blob]) -> Result<Dialect, Error> {
    if let Some(dialect) = by_folder(blobs) {
        return Ok(dialect);
    }
    let Some(blob) = blobs.first() else { return Err(Error::UnknownDialect) };
    let found = by_content(&blob.bytes)?;
    found.or_else(|| by_name(&blob.name)).ok_or_else(|| match not_read(&blob.bytes) {
        Some(what) => Error::NotRead { what },
        None => Error::UnknownDialect,
    })
}

/// What is not a session by itself, by its first record, with what can be given in its place.
fn not_read(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"SQLite format 3\0") {
        return Some("a SQLite database, which is not read here; its rows are, as lines of JSON");
    }
    let text = text(&bytes[..bytes.len().min(PREFIX)]);
    let (object, _) = Object::begin(&text, 0)?;
    let has = |name: &str| object.has(name);
    let is_timed = object.get("time").is_some_and(|it| it.object().is_some());
    let is_stored = is_timed && ["projectID", "worktree", "callID", "type"].into_iter().any(has);
    let is_of_another = ["sessionId", "session_id", "timestamp", "created_at", "protocol_version"];
    if has("sessionID") || has("messageID") || has("id") && is_stored {
        Some(
            "one file of opencode's storage; give the storage folder, or what `opencode export` writes",
        )
    } else if has("agent") && has("workspace") && has("id") {
        Some("the state of an OpenHands conversation; give its folder, which has its events too")
    } else if has("type") && (has("data") || has("subtype")) || is_of_another.into_iter().any(has) {
        Some("the log of an agent whose sessions are not read")
    } else {
        None
    }
}

/// Whether a session that looks like another dialect may be this one after all: dialects that have no
/// mark of their own.
pub(crate) fn could_be(dialect: Dialect, blobs: &[Blob]) -> bool {
    match dialect {
        Dialect::AgentsSdk | Dialect::Otel | Dialect::OpenCode | Dialect::OpenHands => true,
        _ => blobs.first().is_some_and(|it| by_name(&it.name) == Some(dialect)),
    }
}

fn by_folder(blobs: &[Blob]) -> Option<Dialect> {
    let any = |mark: &str| blobs.iter().any(|it| it.name.contains(mark));
    if any("events/event-") && any("base_state.json") || blobs.iter().any(is_event) {
        return Some(Dialect::OpenHands);
    }
    let is_storage = ["session/", "message/", "part/"].iter().filter(|it| any(it)).count() > 1;
    is_storage.then_some(Dialect::OpenCode)
}

fn is_event(blob: &Blob) -> bool {
    let name = blob.name.rsplit('/').next().unwrap_or_default();
    name.starts_with("event-") && name.ends_with(".json")
}

fn by_name(name: &str) -> Option<Dialect> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    match name {
        "api_conversation_history.json" | "claude_messages.json" => Some(Dialect::Cline),
        ".aider.chat.history.md" => Some(Dialect::Aider),
        _ if name.starts_with("rollout-") && name.ends_with(".jsonl") => Some(Dialect::Codex),
        _ if name.ends_with(".messages.json") => Some(Dialect::Cline),
        _ if name.ends_with(".traj") => Some(Dialect::SweAgent),
        _ if name.ends_with(".eval") => Some(Dialect::Inspect),
        _ => None,
    }
}

fn by_content(bytes: &[u8]) -> Result<Option<Dialect>, Error> {
    if bytes.starts_with(b"PK\x03\x04") {
        return Ok(crate::dialects::is_eval_archive(bytes).then_some(Dialect::Inspect));
    }
    let text = text(&bytes[..bytes.len().min(PREFIX)]);
    if text.starts_with("# aider chat started at") {
        return Ok(Some(Dialect::Aider));
    }
    if text.starts_with('[') {
        return Ok(by_elements(&text));
    }
    if Object::whole(&text, 0).is_some() {
        let found = by_document(&text)?;
        // A data set has a line a conversation: a document over several lines is something else.
        return Ok(found.filter(|it| *it != Dialect::OpenAiJsonl || !text.contains('\n')));
    }
    match by_lines(&text)? {
        // A document, or the first line, may be larger than what was looked at.
        None if bytes.len() > PREFIX => {
            let text = self::text(bytes);
            match Object::whole(&text, 0) {
                Some(_) => by_document(&text),
                None => by_lines(&text),
            }
        }
        found => Ok(found),
    }
}

/// The text without what the frame rules take away.
fn text(bytes: &[u8]) -> String {
    let bytes: Vec<u8> = bytes.iter().copied().filter(|it| *it != 0).collect();
    let text = String::from_utf8_lossy(&bytes);
    text.trim_start_matches('\u{feff}').trim_matches(BLANKS).to_owned()
}

/// JSON lines: the first record that has a mark decides.
fn by_lines(text: &str) -> Result<Option<Dialect>, Error> {
    let lines = text.split('\n').map(|it| it.trim_matches(BLANKS)).filter(|it| !it.is_empty());
    for line in lines.take(RECORDS) {
        let Some((object, _)) = Object::begin(line, 0) else { continue };
        if let Some(dialect) = by_record(&object)? {
            return Ok(Some(dialect));
        }
    }
    Ok(None)
}

/// The types of the records of Codex: others have payloads too.
const CODEX: [&str; 9] = [
    "compacted",
    "event_msg",
    "ghost_snapshot",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "response_item",
    "session_meta",
    "turn_context",
    "world_state",
];

/// The mark of a line.
fn by_record(object: &Object<'_>) -> Result<Option<Dialect>, Error> {
    let kind = object.text("type");
    let kind = kind.as_deref().unwrap_or_default();
    if let Some(found) = by_newer_record(object, kind) {
        return found.map(Some);
    }
    let meta = ["summary", "file-history-snapshot", "queue-operation"];
    Ok(Some(if object.has("payload") && CODEX.contains(&kind) {
        Dialect::Codex
    } else if object.has("sessionId") && object.has("projectHash") || object.has("$set") {
        Dialect::GeminiCli
    } else if is_of_another_agent(object) {
        return Ok(None);
    } else if object.has("parentUuid")
        || object.has("uuid") && object.has("type")
        || meta.contains(&kind)
    {
        Dialect::ClaudeCode
    } else if object.list("conversations").iter().any(is_of_sharegpt) {
        Dialect::ShareGpt
    } else if !object.has("sessionId") && is_fine_tuning(object) {
        Dialect::OpenAiJsonl
    } else if object.has("working_dir")
        || object.has("role") && object.has("content") && object.has("created")
    {
        Dialect::Goose
    } else if is_otel(object) {
        Dialect::Otel
    } else if object.has("message_data") {
        Dialect::AgentsSdk
    } else if object.has("author") && (object.has("invocationId") || object.has("invocation_id")) {
        Dialect::Adk
    } else {
        return Ok(None);
    }))
}

/// A turn that says who speaks and what.
fn is_of_sharegpt(turn: &Value<'_>) -> bool {
    turn.get("from").is_some() && turn.get("value").is_some()
}

/// Whether an object holds messages that say something, or none.
fn is_fine_tuning(object: &Object<'_>) -> bool {
    let Some(messages) = object.get("messages") else { return false };
    // A list that is cut off is not looked into.
    let Some(list) = messages.array() else { return messages.source.starts_with('[') };
    let says = |it: &Value<'_>| {
        let has = |name: &str| it.get(name).is_some();
        has("role") && (has("content") || has("tool_calls") || has("function_call"))
    };
    list.is_empty() || list.iter().any(says)
}

/// The marks of agents whose records look like those of older ones (SE-152).
fn by_newer_record(object: &Object<'_>, kind: &str) -> Option<Result<Dialect, Error>> {
    let has = |name: &str| object.has(name);
    let has_parts = || object.get("message").is_some_and(|it| it.get("parts").is_some());
    let is_grok = || {
        matches!(kind, "system" | "user" | "assistant" | "tool_result")
            && has("content")
            && !has("message")
            && !["uuid", "id", "timestamp", "ts", "sessionId", "session_id", "data"]
                .into_iter()
                .any(has)
    };
    // The header of DeepSeek Harness is a `session` with `createdAt`.
    let is_pi = || has("id") && (has("version") || has("cwd")) && !has("createdAt");
    Some(Ok(if kind == "session" && is_pi() {
        Dialect::Pi
    } else if kind == "session.start"
        && object.get("data").is_some_and(|it| it.get("producer").is_some())
        || kind.contains('.') && has("data") && has("parentId")
    {
        Dialect::CopilotCli
    } else if has("uuid") && (has("systemPayload") || has_parts()) {
        Dialect::QwenCode
    } else if has("session_id") && has("parent_tool_use_id")
        || kind == "system" && has("claude_code_version")
    {
        Dialect::ClaudeStream
    } else if kind == "thread.started" && has("thread_id") {
        Dialect::CodexExec
    } else if kind == "metadata" && has("protocol_version") {
        Dialect::Kimi
    } else if kind == "session_start" && (has("owner") || has("version") || has("title")) {
        Dialect::Droid
    } else if is_atif(object) {
        Dialect::Atif
    } else if has("role")
        && !has("type")
        && object.get("message").is_some_and(|it| it.get("content").is_some())
    {
        return Some(Err(Error::NotRead { what: "a transcript of Cursor, which is not read" }));
    } else if has("step_index") && has("type") {
        return Some(Err(Error::NotRead { what: "a log of Antigravity, which is not read" }));
    } else if is_grok() {
        Dialect::Grok
    } else {
        return None;
    }))
}

fn is_atif(object: &Object<'_>) -> bool {
    object.text("schema_version").is_some_and(|it| it.starts_with("ATIF-v"))
}

/// Records of a tree like Claude Code's, whose messages have parts.
fn is_of_another_agent(object: &Object<'_>) -> bool {
    object.has("systemPayload") || object.get("message").is_some_and(|it| it.get("parts").is_some())
}

/// A trajectory of mini-SWE-agent.
fn is_of_mini(object: &Object<'_>) -> bool {
    let format = object.text("trajectory_format");
    format.is_some_and(|it| it.starts_with("mini-swe-agent"))
        || object.inner("info").is_some_and(|it| it.has("mini_version"))
}

/// Messages of an export of opencode, or none: each has what it is and its parts.
fn is_of_opencode(messages: Value<'_>) -> bool {
    // A list that is cut off is not looked into.
    let Some(list) = messages.array() else { return messages.source.starts_with('[') };
    let is_one = |it: &Value<'_>| it.get("info").is_some() && it.get("parts").is_some();
    list.is_empty() || list.iter().any(is_one)
}

/// Whether a history is one of messages.
fn is_history(object: &Object<'_>) -> bool {
    let list = object.list("history");
    list.is_empty() || list.iter().any(|it| it.get("role").is_some())
}

/// One JSON object: a document, or a session of one line.
fn by_document(document: &str) -> Result<Option<Dialect>, Error> {
    let Some(object) = &Object::whole(document, 0) else { return Ok(None) };
    let has = |name: &str| object.has(name);
    Ok(if is_atif(object) {
        Some(Dialect::Atif)
    } else if has("history") && (has("trajectory") || has("info") && is_history(object)) {
        Some(Dialect::SweAgent)
    } else if has("eval") && (has("samples") || has("status")) {
        Some(Dialect::Inspect)
    } else if has("messages") && (has("projectHash") || has("sessionId") && has("startTime")) {
        Some(Dialect::GeminiCli)
    } else if is_otel(object) || has("resourceSpans") || has_spans(object) {
        Some(Dialect::Otel)
    } else if has("threadId") && has("runId") && has("messages") {
        Some(Dialect::AgUi)
    } else if has("messages") && is_of_mini(object) {
        Some(Dialect::SweAgent)
    } else if has("info") && object.get("messages").is_some_and(is_of_opencode) {
        Some(Dialect::OpenCode)
    } else if has("working_dir") && (has("conversation") || has("messages")) {
        Some(Dialect::Goose)
    } else if let Some(list) = object.get("messages").filter(|_| has("version") && has("sessionId"))
    {
        by_elements(list.source).or(Some(Dialect::Cline))
    } else if let Some(dialect) = by_store(document) {
        Some(dialect)
    } else if has("channel_values") {
        Some(Dialect::LangChain)
    } else {
        return by_record(object);
    })
}

/// The framework whose messages are where its stores have them.
fn by_store(document: &str) -> Option<Dialect> {
    crate::dialects::frameworks::held(document, |it| by_element(&it.object()?))
}

/// An array, cut off or not: the first element that has a mark decides.
fn by_elements(text: &str) -> Option<Dialect> {
    crate::frame::read_array(text.as_bytes(), None)
        .values()
        .take(RECORDS)
        .find_map(|it| by_element(&it.object()?))
}

fn by_element(object: &Object<'_>) -> Option<Dialect> {
    let parts = object.get("parts").and_then(|it| it.array());
    let has_parts_with = |name: &str| {
        let parts = parts.iter().flatten();
        parts.filter_map(Value::object).any(|it| it.has(name))
    };
    if has_parts_with("part_kind") {
        Some(Dialect::PydanticAi)
    } else if is_langchain(object) {
        Some(Dialect::LangChain)
    } else if let Some(dialect) = by_message(object) {
        Some(dialect)
    } else if object.list("conversations").iter().any(is_of_sharegpt) {
        Some(Dialect::ShareGpt)
    } else if is_otel(object) {
        Some(Dialect::Otel)
    } else if object.has("llm_message") || object.has("llm_response_id") {
        Some(Dialect::OpenHands)
    } else if object.has("role") && has_blocks(object) {
        Some(Dialect::Cline)
    } else {
        None
    }
}

/// A message of a framework, by members that only it has.
fn by_message(object: &Object<'_>) -> Option<Dialect> {
    let has = |name: &str| object.has(name);
    let kind = object.text("type").unwrap_or_default();
    let any = |list: &str, of_it: &dyn Fn(&Object<'_>) -> bool| {
        object.list(list).iter().filter_map(Value::object).any(|it| of_it(&it))
    };
    let is_text = |it: &Object<'_>| it.has("text") && !it.has("type");
    let is_call =
        |it: &Object<'_>| it.has("tool_call") && !it.has("type") || it.has("tool_call_result");
    let role = has("role");
    Some(if role && (any("parts", &is_of_ui) || has("toolInvocations")) {
        Dialect::VercelUi
    } else if role && (any("content", &is_of_ai_sdk) || has("providerOptions")) {
        Dialect::AiSdk
    } else if role && has("id") && kind.is_empty() && (has("toolCalls") || has("toolCallId")) {
        Dialect::AgUi
    } else if has("author") && (has("invocationId") || has("invocation_id")) {
        Dialect::Adk
    } else if has("_role")
        || role && (any("content", &is_call) || has("meta") && any("content", &is_text))
    {
        Dialect::Haystack
    } else if role && (any("blocks", &|it| it.has("block_type")) || has("additional_kwargs")) {
        Dialect::LlamaIndex
    } else if has("source") && has("models_usage")
        || matches!(&*kind, "FunctionExecutionResultMessage" | "SystemMessage")
            && !role
            && has("content")
        || has("source") && AUTOGEN.contains(&&*kind)
    {
        Dialect::AutoGen
    } else if any("contents", &is_of_agent_framework)
        || role && matches!(&*kind, "message" | "chat_message") && has("contents")
    {
        Dialect::AgentFramework
    } else if any("items", &|it| it.has("content_type") || it.has("$type"))
        || object.get("Role").is_some_and(|it| it.get("Label").is_some())
        || any("Items", &|it| it.has("$type"))
    {
        Dialect::SemanticKernel
    } else {
        return None;
    })
}

/// The types of the messages of AutoGen that say who speaks.
const AUTOGEN: [&str; 7] = [
    "UserMessage",
    "AssistantMessage",
    "TextMessage",
    "ToolCallRequestEvent",
    "ToolCallExecutionEvent",
    "ToolCallSummaryMessage",
    "MultiModalMessage",
];

/// A part of a UI message of the AI SDK.
fn is_of_ui(part: &Object<'_>) -> bool {
    let kind = part.text("type").unwrap_or_default();
    match &*kind {
        "text" => part.has("text"),
        "reasoning" => part.has("text") || part.has("reasoning"),
        "file" => part.has("url") || part.has("mimeType"),
        "step-start" | "dynamic-tool" | "tool-invocation" | "source" => true,
        kind => {
            ["source-", "data-"].iter().any(|it| kind.starts_with(it))
                || kind.starts_with("tool-") && part.has("toolCallId")
        }
    }
}

/// A part of a message for a model of the AI SDK.
fn is_of_ai_sdk(part: &Object<'_>) -> bool {
    let has = |name: &str| part.has(name);
    let kind = part.text("type").unwrap_or_default();
    let is_media = matches!(&*kind, "file" | "image") && (has("mediaType") || has("mimeType"));
    has("toolName")
        || has("providerOptions")
        || kind.starts_with("tool-") && has("toolCallId")
        || kind.starts_with("tool-approval-")
        || is_media
}

fn is_of_agent_framework(part: &Object<'_>) -> bool {
    const KINDS: [&str; 3] = ["function_call", "function_result", "text_reasoning"];
    part.has("$type") || part.text("type").is_some_and(|it| KINDS.contains(&&*it))
}

/// A message of LangChain: as a constructor, with its members in `data`, or flat.
fn is_langchain(object: &Object<'_>) -> bool {
    const KINDS: [&str; 7] = ["human", "ai", "system", "tool", "function", "remove", "chat"];
    let is_kind = |it: &str| KINDS.contains(&it) || it.ends_with("MessageChunk");
    let says = |it: &Object<'_>| it.has("content");
    object.has("lc") && object.has("kwargs")
        || !object.has("role")
            && object.text("type").is_some_and(|it| is_kind(&it))
            && (says(object) || object.inner("data").is_some_and(|it| says(&it)))
}

/// Whether the content is a list of Anthropic blocks that no other format has.
fn has_blocks(object: &Object<'_>) -> bool {
    const MARKS: [&str; 4] = ["tool_use", "tool_result", "thinking", "redacted_thinking"];
    let blocks = object.list("content");
    let kinds = blocks.iter().filter_map(|it| it.get("type")?.text());
    kinds.into_iter().any(|it| MARKS.contains(&&*it))
}

/// Whether it is an export of spans.
fn has_spans(object: &Object<'_>) -> bool {
    const IDS: [&str; 5] = ["context", "spanId", "span_id", "traceId", "trace_id"];
    let spans = object.list("spans");
    let mut spans = spans.iter().filter_map(Value::object);
    spans.any(|it| it.has("attributes") && IDS.iter().any(|id| it.has(id)))
}

fn is_otel(object: &Object<'_>) -> bool {
    const LISTS: [&str; 2] = ["llm.input_messages", "llm.output_messages"];
    let is_mark = |(name, value): (&str, Value<'_>)| {
        name.starts_with("gen_ai.")
            || LISTS.iter().any(|it| name.starts_with(it))
            || name == "llm" && value.get("input_messages").is_some()
    };
    object.iter().any(is_mark)
        || object.inner("attributes").is_some_and(|it| it.iter().any(is_mark))
}
