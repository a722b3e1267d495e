//! The options of each function: its name, and which types of Python it takes. Written by `cargo xtask codegen`.

use crate::options::Known;

#[rustfmt::skip]
pub(crate) const READ: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("calls", "str"),
    Known::new("max_bytes", "int"),
];

#[rustfmt::skip]
pub(crate) const CHECK: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("field", "str|list"),
    Known::new("join", "str|list"),
    Known::new("calls", "str"),
    Known::new("max_bytes", "int"),
    Known::new("model", "str"),
    Known::new("provider", "str"),
    Known::new("profile", "str"),
    Known::new("for_model", "str"),
    Known::new("request", "bool"),
    Known::new("open", "bool"),
    Known::new("messages", "bool"),
    Known::new("max_chars", "int"),
];

#[rustfmt::skip]
pub(crate) const REPAIR: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("field", "str|list"),
    Known::new("join", "str|list"),
    Known::new("calls", "str"),
    Known::new("max_bytes", "int"),
    Known::new("model", "str"),
    Known::new("provider", "str"),
    Known::new("profile", "str"),
    Known::new("for_model", "str"),
    Known::new("request", "bool"),
    Known::new("open", "bool"),
    Known::new("orphans", "str"),
    Known::new("first", "str"),
    Known::new("unknown_role", "str"),
    Known::new("arguments", "str"),
    Known::new("all", "bool"),
    Known::new("strict", "bool"),
    Known::new("id_pattern", "str"),
];

#[rustfmt::skip]
pub(crate) const CONVERT: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("field", "str|list"),
    Known::new("join", "str|list"),
    Known::new("calls", "str"),
    Known::new("max_bytes", "int"),
    Known::new("request", "bool"),
    Known::new("response", "bool"),
    Known::new("model", "str"),
    Known::new("strict", "bool"),
    Known::new("context", "str"),
    Known::new("cwd", "str"),
    Known::new("session_id", "str"),
    Known::new("provenance", "bool"),
    Known::new("preview", "int"),
    Known::new("agent_form", "str"),
    Known::new("layout", "str"),
    Known::new("content_when_empty", "str"),
    Known::new("text_parts", "str"),
    Known::new("text_separator", "str"),
    Known::new("reasoning", "str"),
    Known::new("reasoning_field", "str"),
    Known::new("item_ids", "str"),
    Known::new("later_system", "str"),
    Known::new("cache_control", "str"),
    Known::new("thinking", "str"),
    Known::new("max_tokens", "int"),
    Known::new("cache", "str"),
    Known::new("unsigned", "str"),
    Known::new("ids", "str"),
    Known::new("thoughts", "str"),
    Known::new("profile", "str"),
    Known::new("system_prompt", "str"),
    Known::new("system_role", "str"),
    Known::new("agent_display_name", "str"),
    Known::new("product_name", "str"),
    Known::new("failed_tools", "str"),
    Known::new("empty_tool_output", "str"),
    Known::new("invalid_arguments", "str"),
    Known::new("arguments", "str"),
    Known::new("split_interleaved", "bool"),
];

#[rustfmt::skip]
pub(crate) const FIT: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("field", "str|list"),
    Known::new("join", "str|list"),
    Known::new("calls", "str"),
    Known::new("max_bytes", "int"),
    Known::new("budget", "int"),
    Known::new("unit", "str"),
    Known::new("reserve", "int|str"),
    Known::new("trigger", "int"),
    Known::new("target", "int|str"),
    Known::new("cache", "str"),
    Known::new("keep", "int"),
    Known::new("cold", "bool"),
    Known::new("counter", "str"),
    Known::new("tools", "list"),
    Known::new("usage", "dict"),
    Known::new("preset", "str"),
    Known::new("config", "dict"),
    Known::new("policies", "list"),
    Known::new("pin", "list"),
    Known::new("tool_caps", "dict"),
    Known::new("profile", "str"),
    Known::new("repair", "bool"),
    Known::new("open", "bool"),
    Known::new("on_failure", "str"),
    Known::new("best_effort", "bool"),
    Known::new("strict", "bool"),
    Known::new("test_summarizer", "str|list"),
    Known::new("records", "bool"),
    Known::new("plan", "bool"),
    Known::new("apply", "dict|list"),
    Known::new("undo", "dict|list"),
    Known::new("top", "int"),
];

#[rustfmt::skip]
pub(crate) const STATS: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("field", "str|list"),
    Known::new("join", "str|list"),
    Known::new("calls", "str"),
    Known::new("max_bytes", "int"),
    Known::new("budget", "int"),
    Known::new("counter", "str"),
    Known::new("tools", "list"),
    Known::new("usage", "dict"),
    Known::new("top", "int"),
];

#[rustfmt::skip]
pub(crate) const SUMMARY: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("field", "str|list"),
    Known::new("join", "str|list"),
    Known::new("calls", "str"),
    Known::new("max_bytes", "int"),
    Known::new("model", "str"),
    Known::new("provider", "str"),
    Known::new("profile", "str"),
    Known::new("for_model", "str"),
    Known::new("request", "bool"),
    Known::new("open", "bool"),
    Known::new("messages", "bool"),
    Known::new("max_chars", "int"),
    Known::new("counter", "str"),
    Known::new("price_model", "str"),
];

#[rustfmt::skip]
pub(crate) const COMPARE: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("provider", "str"),
];

#[rustfmt::skip]
pub(crate) const CACHE: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("provider", "str"),
    Known::new("prices", "dict"),
    Known::new("min_missed", "int"),
    Known::new("runs", "int"),
];

#[rustfmt::skip]
pub(crate) const DOCTOR: &[Known] = &[
    Known::new("all", "bool"),
    Known::new("drop_thinking", "bool"),
    Known::new("drop_encrypted", "bool"),
    Known::new("drop", "bool"),
    Known::new("error", "str"),
    Known::new("agent_version", "str"),
    Known::new("leaf", "str"),
    Known::new("max_record", "int"),
    Known::new("xml", "bool"),
];

#[rustfmt::skip]
pub(crate) const KEY: &[Known] = &[
    Known::new("from_", "str"),
    Known::new("calls", "str"),
    Known::new("max_bytes", "int"),
    Known::new("exact", "bool"),
];

#[rustfmt::skip]
pub(crate) const TOOLS: &[Known] = &[
    Known::new("thinking", "str"),
    Known::new("implicit_thinking", "bool"),
    Known::new("fenced_tools", "str"),
    Known::new("dialects", "str|list"),
    Known::new("tools", "str|list"),
    Known::new("schema", ""),
    Known::new("finish_reason", "str"),
    Known::new("chunk", "int"),
    Known::new("max_tool_bytes", "int"),
    Known::new("max_depth", "int"),
    Known::new("max_retries", "int"),
    Known::new("events", "bool"),
];

#[rustfmt::skip]
pub(crate) const STREAM: &[Known] = &[
    Known::new("provider", "str"),
    Known::new("chunk", "int"),
    Known::new("to", "str"),
    Known::new("events", "bool"),
    Known::new("split_concatenated", "bool"),
    Known::new("max_event_bytes", "int"),
    Known::new("interrupt_after", "int"),
    Known::new("max_bytes", "int"),
];
