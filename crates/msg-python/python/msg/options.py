"""The options of each function as types: ``def mine(**options: Unpack[msg.options.RepairOptions])``.

Written by `cargo xtask codegen` from the option structs. They cost nothing at run time: ``import msg`` does not load them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

Profile = Literal[
    "openai", "openai-responses", "anthropic", "gemini", "gemini-interactions", "mistral", "bedrock", "deepseek",
    "kimi", "glm", "vertex", "openrouter", "ollama", "groq", "qwen", "azure", "cohere", "template", "fireworks",
    "together", "minimax", "copilot", "perplexity", "generic",
]

Format = Literal[
    "openai", "anthropic", "bedrock", "gemini", "interactions", "responses", "agent", "otel", "turns", "plain",
    "native", "langchaingo", "claude-code", "codex", "gemini-cli", "opencode", "goose", "cline", "aider",
    "openhands", "swe-agent", "langchain", "pydantic-ai", "agents-sdk", "vercel-ui", "ai-sdk", "ag-ui", "adk",
    "haystack", "llama-index", "autogen", "agent-framework", "semantic-kernel", "sharegpt", "openai-jsonl",
    "inspect", "qwen-code", "pi", "copilot-cli", "claude-stream", "codex-exec", "atif", "kimi", "droid", "grok",
]

ListFormat = Literal[
    "openai", "responses", "agent", "otel", "turns", "plain", "native", "langchaingo", "claude-code", "codex",
    "gemini-cli", "aider", "openhands", "swe-agent", "langchain", "pydantic-ai", "agents-sdk", "vercel-ui",
    "ai-sdk", "ag-ui", "haystack", "llama-index", "autogen", "agent-framework", "inspect", "qwen-code", "pi",
    "copilot-cli", "claude-stream", "codex-exec", "kimi", "droid", "grok",
]

ObjectFormat = Literal[
    "anthropic", "bedrock", "gemini", "interactions", "opencode", "goose", "cline", "adk", "semantic-kernel",
    "sharegpt", "openai-jsonl", "atif",
]

Preset = Literal[
    "balanced", "pentagi", "wolo", "forge", "window",
]

Counter = Literal[
    "script", "o200k", "cl100k", "forge", "wolo",
]

Provider = Literal[
    "auto", "openai", "responses", "anthropic", "gemini", "interactions", "bedrock",
]

ToolDialect = Literal[
    "invoke", "hermes", "glm", "qwen", "cline", "dsml", "minimax", "harmony", "kimi", "deepseek", "llama",
    "pythonic", "mistral", "fenced", "all", "none",
]

Agent = Literal[
    "claude-code", "codex", "gemini-cli", "opencode", "goose", "cline", "aider", "openhands", "swe-agent",
    "langchain", "pydantic-ai", "agents-sdk", "vercel-ui", "ai-sdk", "ag-ui", "adk", "haystack", "llama-index",
    "autogen", "agent-framework", "semantic-kernel", "sharegpt", "openai-jsonl", "inspect", "otel", "qwen-code",
    "pi", "copilot-cli", "claude-stream", "codex-exec", "atif", "kimi", "droid", "grok",
]


class Usage(TypedDict):
    """Prompt tokens that a provider reported for the first messages."""

    messages: int
    prompt_tokens: int


class ReadOptions(TypedDict, total=False):
    """How a document is read: of ``messages`` and ``prefix_keys``."""

    from_: Union[Format, None]
    """The format of the input [default: recognised from its content, then its name]"""
    calls: Union[Literal["auto", "native", "xml"], None]
    """Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]"""
    max_bytes: Union[int, None]
    """Refuse documents larger than this many bytes [default: 256 MiB]"""


class CheckOptions(TypedDict, total=False):
    """Of ``check``, ``is_valid`` and ``Checker``."""

    from_: Union[Format, None]
    """The format of the input [default: recognised from its content, then its name]"""
    field: Union[Union[str, Sequence[str]], None]
    """Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list"""
    join: Union[Union[str, Sequence[str]], None]
    """Take the request from one member and its answer from another, such as `input,output`; several as a list"""
    calls: Union[Literal["auto", "native", "xml"], None]
    """Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]"""
    max_bytes: Union[int, None]
    """Refuse documents larger than this many bytes [default: 256 MiB]"""
    model: Union[str, None]
    """The model that wrote the assistant messages, if the document does not name it: some providers refuse signed reasoning of other models"""
    provider: Union[str, None]
    """The provider that wrote them, if the document does not name it"""
    profile: Union[Profile, None]
    """Also apply the rules of this provider"""
    for_model: Union[str, None]
    """With profile: the model of the request, if the document does not name it"""
    request: Union[bool, None]
    """Judge the document as a request: with profile also its tools, settings and last message"""
    open: Union[bool, None]
    """Allow calls without results at the end, which the agent has not run yet"""
    messages: Union[bool, None]
    """Also check each message by itself: roles, empty content, misplaced parts, arguments"""
    max_chars: Union[int, None]
    """With messages: report user texts of more than N characters"""


class RepairOptions(TypedDict, total=False):
    """Of ``repair``."""

    from_: Union[Format, None]
    """The format of the input [default: recognised from its content, then its name]"""
    field: Union[Union[str, Sequence[str]], None]
    """Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list"""
    join: Union[Union[str, Sequence[str]], None]
    """Take the request from one member and its answer from another, such as `input,output`; several as a list"""
    calls: Union[Literal["auto", "native", "xml"], None]
    """Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]"""
    max_bytes: Union[int, None]
    """Refuse documents larger than this many bytes [default: 256 MiB]"""
    model: Union[str, None]
    """The model that wrote the assistant messages, if the document does not name it: some providers refuse signed reasoning of other models"""
    provider: Union[str, None]
    """The provider that wrote them, if the document does not name it"""
    profile: Union[Profile, None]
    """Also apply the rules of this provider"""
    for_model: Union[str, None]
    """With profile: the model of the request, if the document does not name it"""
    request: Union[bool, None]
    """Judge the document as a request: with profile also its tools, settings and last message"""
    open: Union[bool, None]
    """Allow calls without results at the end, which the agent has not run yet"""
    orphans: Union[Literal["fabricate", "drop", "keep"], None]
    """What to do with results that match no call: fabricate a call, drop them, or keep them [default: fabricate]"""
    first: Union[Literal["insert", "drop"], None]
    """What to do with an assistant message at the start: insert a user message before it, or drop it [default: insert]"""
    unknown_role: Union[Literal["drop", "user"], None]
    """What to do with a message of unknown role: drop it, or make it a user message [default: drop]"""
    arguments: Union[Literal["keep", "sanitize", "mend", "complete"], None]
    """What to do with arguments that are not JSON: keep them; mend those with one possible meaning; complete also truncated ones, for display; sanitize: escape control characters, else write `{}` [default: keep]"""
    all: Union[bool, None]
    """Also repair warnings: what the provider accepts but ignores, or may refuse [default: errors only]"""
    strict: Union[bool, None]
    """Treat losses as errors"""
    id_pattern: Union[str, None]
    """The pattern of fresh tool call ids, such as `call_{r:24:x}`"""


class ConvertOptions(TypedDict, total=False):
    """Of ``convert``. Options of a format that is not the target do nothing."""

    from_: Union[Format, None]
    """The format of the input [default: recognised from its content, then its name]"""
    field: Union[Union[str, Sequence[str]], None]
    """Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list"""
    join: Union[Union[str, Sequence[str]], None]
    """Take the request from one member and its answer from another, such as `input,output`; several as a list"""
    calls: Union[Literal["auto", "native", "xml"], None]
    """Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]"""
    max_bytes: Union[int, None]
    """Refuse documents larger than this many bytes [default: 256 MiB]"""
    model: Union[str, None]
    """With request: the model to write; the name in the input belongs to another provider"""
    strict: Union[bool, None]
    """Treat losses as errors"""
    context: Union[Literal["keep", "drop"], None]
    """To an agent's session: keep or drop system texts and context that an agent injected"""
    cwd: Union[str, None]
    """To an agent's session: the folder that it works in"""
    session_id: Union[str, None]
    """To an agent's session: its id"""
    provenance: Union[bool, None]
    """Write who made each message, where the format has a place for it"""
    preview: Union[int, None]
    """For `plain`: role and preview only, of so many characters"""
    agent_form: Union[Literal["document", "sdk"], None]
    """Which form of `agent` is written"""
    layout: Union[Literal["keep", "canonical"], None]
    """Whether to keep the shape of the source"""
    content_when_empty: Union[Literal["omit", "null", "empty"], None]
    """The content of an assistant message with calls and without content"""
    text_parts: Union[Literal["array", "join"], None]
    """How to write a content of several texts"""
    text_separator: Union[str, None]
    """The separator of joined texts [default: a line break]"""
    reasoning: Union[Literal["all", "with_calls", "none"], None]
    """Which messages keep their reasoning"""
    reasoning_field: Union[Literal["reasoning_content", "reasoning"], None]
    """The member for reasoning"""
    item_ids: Union[Literal["keep", "drop"], None]
    """What to do with the ids of Responses items"""
    later_system: Union[Literal["user", "keep", "hoist"], None]
    """What to do with later system messages"""
    cache_control: Union[Literal["carry", "drop"], None]
    """What to do with `cache_control`"""
    thinking: Union[Literal["keep", "none"], None]
    """What to do with thinking"""
    max_tokens: Union[int, None]
    """With request: the token limit of the answer, if the target requires one and the input has none"""
    cache: Union[Literal["carry", "drop"], None]
    """What to do with cache points"""
    unsigned: Union[Literal["drop", "keep"], None]
    """What to do with unsigned reasoning; `keep` in the same format, else `drop`, by default"""
    ids: Union[Literal["keep", "omit"], None]
    """What to do with ids"""
    thoughts: Union[Literal["keep", "none"], None]
    """What to do with reasoning"""
    profile: Union[Literal["strict", "doc", "shipped"], None]
    """Repair the output for this provider, as `msg repair profile` does"""
    system_prompt: Union[str, None]
    """The prompt to inject if a system message is missing"""
    system_role: Union[Literal["system", "developer"], None]
    """The role of system turns and of the prompt"""
    agent_display_name: Union[str, None]
    """The name that replaces `product_name` in the injected prompt"""
    product_name: Union[str, None]
    """The name that the prompt contains"""
    failed_tools: Union[Literal["filter", "include_error"], None]
    """Whether the rules `doc` send failed tools"""
    empty_tool_output: Union[Literal["by_profile", "placeholder", "literal"], None]
    """The output of a tool that returned nothing"""
    invalid_arguments: Union[Literal["keep", "wrap"], None]
    """What the rules `strict` send for arguments that are not JSON"""
    arguments: Union[Literal["spaced", "compact"], None]
    """The spelling of a tool's `input`"""
    split_interleaved: Union[bool, None]
    """Whether text after a tool part begins another assistant message"""


class FitOptions(TypedDict, total=False):
    """Of ``fit``, ``fit_requests`` and ``fit_apply``."""

    from_: Union[Format, None]
    """The format of the input [default: recognised from its content, then its name]"""
    field: Union[Union[str, Sequence[str]], None]
    """Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list"""
    join: Union[Union[str, Sequence[str]], None]
    """Take the request from one member and its answer from another, such as `input,output`; several as a list"""
    calls: Union[Literal["auto", "native", "xml"], None]
    """Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]"""
    max_bytes: Union[int, None]
    """Refuse documents larger than this many bytes [default: 256 MiB]"""
    unit: Union[Literal["tokens", "bytes"], None]
    """What the limit counts [default: tokens]"""
    reserve: Union[Union[int, str], None]
    """What to keep free of the limit, as a number or a percentage"""
    trigger: Union[int, None]
    """Compact only above this percentage of what is usable"""
    target: Union[Union[int, Literal["cache"]], None]
    """Compact down to this percentage of what is usable, or as deep as costs least (`cache`)"""
    cache: Union[str, None]
    """Choose how deep to cut by the prices of a prompt cache, as shares of the input price or those of a provider [default: 0.1:1.25]"""
    keep: Union[int, None]
    """With cache, keep at least this much [default: an eighth of the budget]"""
    cold: Union[bool, None]
    """Compact from three quarters of the budget on: the prompt cache has expired anyway"""
    counter: Union[Counter, None]
    """How tokens are counted [default: script, or the preset's]"""
    tools: Union[Sequence[Mapping[str, Any]], None]
    """Count these tool definitions instead of those of the request body"""
    usage: Union[Usage, None]
    """Calibrate by a reported usage: so many prompt tokens for the first K messages"""
    preset: Union[Preset, None]
    """What to do, in which order [default: balanced]"""
    config: Union[Mapping[str, Any], None]
    """Options of the preset"""
    policies: Union[Sequence[Mapping[str, Any]], None]
    """The policies to run instead of a preset, as a JSON list"""
    pin: Union[Sequence[str], None]
    """What stays: first-user, contains:TEXT, tool:NAME; replaces first-user"""
    tool_caps: Union[Mapping[str, int], None]
    """Bytes to which the outputs of a tool are cut first"""
    profile: Union[Profile, None]
    """Keep to what this provider accepts"""
    repair: Union[bool, None]
    """Repair the chain first"""
    open: Union[bool, None]
    """Accept unanswered calls at the end"""
    on_failure: Union[Literal["keep", "digest"], None]
    """When a summary fails: keep the messages, or replace them with a digest [default: the preset's]"""
    best_effort: Union[bool, None]
    """Give what was reached even if it does not fit"""
    strict: Union[bool, None]
    """Treat losses other than cuts as errors"""
    test_summarizer: Union[Union[str, Sequence[str]], None]
    """A summariser for tests: fixed:TEXT, len, hash, echo:N, digest, error, fail-on:TEXT"""
    records: Union[bool, None]
    """Add the records of the compaction to the report"""
    plan: Union[bool, None]
    """Add the plan to the report; `apply` repeats it on the grown conversation, `undo` undoes it"""
    apply: Union[Mapping[str, Any], None]
    """Apply this plan instead of compacting"""
    undo: Union[Mapping[str, Any], None]
    """Undo this plan instead of compacting"""
    top: Union[int, None]
    """How many parts `stats` lists"""


class StatsOptions(TypedDict, total=False):
    """Of ``stats`` and ``tokens``."""

    from_: Union[Format, None]
    """The format of the input [default: recognised from its content, then its name]"""
    field: Union[Union[str, Sequence[str]], None]
    """Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list"""
    join: Union[Union[str, Sequence[str]], None]
    """Take the request from one member and its answer from another, such as `input,output`; several as a list"""
    calls: Union[Literal["auto", "native", "xml"], None]
    """Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]"""
    max_bytes: Union[int, None]
    """Refuse documents larger than this many bytes [default: 256 MiB]"""
    budget: Union[int, None]
    """A limit in tokens, drawn as a line over the growth"""
    counter: Union[Counter, None]
    """How tokens are counted [default: script, or the preset's]"""
    tools: Union[Sequence[Mapping[str, Any]], None]
    """Count these tool definitions instead of those of the request body"""
    usage: Union[Usage, None]
    """Calibrate by a reported usage: so many prompt tokens for the first K messages"""
    top: Union[int, None]
    """How many of the largest parts to list"""


class SummaryOptions(TypedDict, total=False):
    """Of ``msg.arrow.summary``."""

    from_: Union[Format, None]
    """The format of the input [default: recognised from its content, then its name]"""
    field: Union[Union[str, Sequence[str]], None]
    """Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list"""
    join: Union[Union[str, Sequence[str]], None]
    """Take the request from one member and its answer from another, such as `input,output`; several as a list"""
    calls: Union[Literal["auto", "native", "xml"], None]
    """Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]"""
    max_bytes: Union[int, None]
    """Refuse documents larger than this many bytes [default: 256 MiB]"""
    model: Union[str, None]
    """The model that wrote the assistant messages, if the document does not name it: some providers refuse signed reasoning of other models"""
    provider: Union[str, None]
    """The provider that wrote them, if the document does not name it"""
    profile: Union[Profile, None]
    """Also apply the rules of this provider"""
    for_model: Union[str, None]
    """With profile: the model of the request, if the document does not name it"""
    request: Union[bool, None]
    """Judge the document as a request: with profile also its tools, settings and last message"""
    open: Union[bool, None]
    """Allow calls without results at the end, which the agent has not run yet"""
    messages: Union[bool, None]
    """Also check each message by itself: roles, empty content, misplaced parts, arguments"""
    max_chars: Union[int, None]
    """With messages: report user texts of more than N characters"""
    counter: Union[Counter, None]
    """How tokens are counted [default: script]"""
    price_model: Union[str, None]
    """The model whose price counts for documents that name none"""


class CompareOptions(TypedDict, total=False):
    """Of ``msg.arrow.cache``."""

    from_: Union[Literal["anthropic", "openai", "responses", "gemini", "bedrock"], None]
    """The API of the requests (anthropic, openai, responses, gemini, bedrock) or the agent of the session. Default: recognised"""
    provider: Union[str, None]
    """The provider whose caching rules apply: one of `rules`, or a profile, which has those of OpenAI if it is not one of these. Default: by API, model and address"""


class CacheOptions(TypedDict, total=False):
    """Of ``cache`` and ``CacheLedger``."""

    from_: Union[Literal["anthropic", "openai", "responses", "gemini", "bedrock"], None]
    """The API of the requests (anthropic, openai, responses, gemini, bedrock) or the agent of the session. Default: recognised"""
    provider: Union[str, None]
    """The provider whose caching rules apply: one of `rules`, or a profile, which has those of OpenAI if it is not one of these. Default: by API, model and address"""
    prices: Union[Mapping[str, Any], None]
    """Prices in LiteLLM's format, instead of the built-in list"""
    min_missed: Union[int, None]
    """Report misses of at least this many tokens"""
    runs: Union[int, None]
    """Remember at most this many runs of a log"""


class DoctorOptions(TypedDict, total=False):
    """Of ``doctor``."""

    all: Union[bool, None]
    """Also repair warnings"""
    drop_thinking: Union[bool, None]
    """Remove the reasoning of the model"""
    drop_encrypted: Union[bool, None]
    """Remove reasoning that only another account can decrypt"""
    drop: Union[bool, None]
    """Remove lines with errors from a data set"""
    error: Union[str, None]
    """Find the place that this message of the provider is about"""
    agent_version: Union[str, None]
    """Judge by the rules of this version of the agent, such as 2.1.197 [default: the newest known]"""
    leaf: Union[str, None]
    """Read the branch of the session that contains this record"""
    max_record: Union[int, None]
    """Do not parse records larger than this, in bytes"""
    xml: Union[bool, None]
    """Also read tool calls in the texts of older sessions"""


class KeyOptions(TypedDict, total=False):
    """Of ``key``."""

    from_: Union[Format, None]
    """The format of the input [default: recognised from its content, then its name]"""
    calls: Union[Literal["auto", "native", "xml"], None]
    """Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]"""
    max_bytes: Union[int, None]
    """Refuse documents larger than this many bytes [default: 256 MiB]"""
    exact: Union[bool, None]
    """Hash the bytes, which need not be a document, instead of what is said"""


class ToolsOptions(TypedDict, total=False):
    """Of ``tools`` and ``ToolParser``."""

    thinking: Union[Literal["extract", "drop", "off"], None]
    """How to handle thinking"""
    implicit_thinking: Union[bool, None]
    """The text begins inside thinking, because the template opened the tag"""
    fenced_tools: Union[Literal["fallback", "always", "never"], None]
    """How to handle calls in code fences"""
    dialects: Union[Union[ToolDialect, Sequence[ToolDialect]], None]
    """Read only calls of these dialects and `<tool>` blocks: invoke, hermes, glm, qwen, cline, dsml, minimax, harmony, kimi, deepseek, llama, pythonic, mistral, fenced; or all, or none [default: none]"""
    tools: Union[Union[str, Sequence[Union[str, Mapping[str, Any]]]], None]
    """The registered tools: names, or definitions"""
    schema: Union[Any, None]
    """Types of parameters: tool definitions, or an object from tool to JSON Schema"""
    finish_reason: Union[str, None]
    """Why the model stopped; `length` and the like mean that the text was cut off"""
    chunk: Union[int, None]
    """Feed N bytes at a time; 0 feeds everything at once. The result is the same"""
    max_tool_bytes: Union[int, None]
    """The largest block that is kept, in bytes"""
    max_depth: Union[int, None]
    """The deepest nesting of parameters"""
    max_retries: Union[int, None]
    """The number of blocks and fences that may be read twice"""
    events: Union[bool, None]
    """Add the events of the stream to the JSON form"""


class StreamOptions(TypedDict, total=False):
    """Of ``stream`` and ``StreamAssembler``."""

    provider: Union[Provider, None]
    """The provider of the stream"""
    chunk: Union[int, None]
    """Feed N bytes at a time; 0 feeds everything at once. The result is the same"""
    to: Union[Literal["openai", "native", "turns", "openai-chunks", "responses-events", "anthropic-events", "gemini-chunks", "interactions-events", "bedrock-events", "bedrock-frames"], None]
    """Write the stream that this API would send, instead of the message"""
    events: Union[bool, None]
    """Also return the events"""
    split_concatenated: Union[bool, None]
    """Treat concatenated JSON objects as separate events"""
    max_event_bytes: Union[int, None]
    """The maximum size of an event, in bytes"""
    interrupt_after: Union[int, None]
    """Cut the stream off after this many bytes"""
    max_bytes: Union[int, None]
    """Refuse documents larger than this many bytes [default: 256 MiB]"""
