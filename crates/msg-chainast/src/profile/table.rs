//! The built-in profiles, written by `cargo xtask codegen` from `profiles.toml`; not to be edited.

use super::Value::{self, Flag, List, Number, Text};

/// A profile: the fields in which it differs from the default.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) fields: Fields,
    /// What holds for some models besides, by their names.
    pub(super) models: &'static [(&'static str, Fields)],
}

pub(super) type Fields = &'static [(&'static str, Value<'static>)];

/// What holds where a profile says nothing else.
pub(super) const DEFAULT: Fields = &[
    ("account", Text("")), ("after_tool", Text("any")), ("aliases", List(&[])),
    ("alternate", Flag(false)), ("arguments", Text("any")), ("blank", Flag(false)),
    ("cache_max", Number(0)), ("cache_members", List(&[])), ("call_signature", Text("drop")),
    ("consecutive_user", Text("reject")), ("developer", Text("system")), ("doubt", List(&[])),
    ("empty", List(&[])), ("empty_is", Text("text")), ("empty_result", Text("accept")),
    ("empty_text", Text("accept")), ("error_result", Text("accept")),
    ("file_name_class", Text("any")), ("file_name_max", Number(0)),
    ("file_needs_text", Flag(false)), ("file_types", List(&[])), ("first_role", Text("reject")),
    ("format", Text("openai")), ("id_class", Text("any")), ("id_max", Number(0)),
    ("id_min", Number(1)), ("id_pattern", Text("call_{r:24:b}")), ("id_severity", Text("error")),
    ("id_shape", Flag(false)), ("id_unique", Text("message")), ("image_bytes_max", Number(0)),
    ("image_side_max", Number(0)), ("image_types", List(&[])),
    ("interleaved_calls", Text("reject")), ("item_ids", List(&[])), ("known_members", List(&[])),
    ("last", Text("any")), ("last_trim", Flag(false)), ("later_system", Text("hoist")),
    ("leading_results", Text("reject")), ("lone_reasoning", Text("accept")),
    ("many_images", Number(0)), ("many_images_side_max", Number(0)), ("max_calls", Number(0)),
    ("media_roles", List(&["any"])), ("media_urls", Text("accept")), ("members", Text("any")),
    ("message_name", Text("none")), ("message_name_max", Number(64)), ("model", Text("")),
    ("name_class", Text("[a-zA-Z0-9_-]")), ("name_first", Text("any")), ("name_max", Number(64)),
    ("null_content", Text("accept")), ("prefill", Text("")), ("reasoning_bound", Text("none")),
    ("reasoning_fallback", Text("")), ("reasoning_first", Flag(false)),
    ("reasoning_keep", Text("none")), ("reasoning_require", Text("none")),
    ("reasoning_signed", Flag(false)), ("reasoning_stored", Text("reject")),
    ("refused_members", List(&[])), ("repeated_system", Text("reject")),
    ("result_name", Text("any")), ("server_tools", Text("keep")), ("system", Text("message")),
    ("system_place", Text("reject")), ("title", Text("")), ("untyped_parts", Text("accept")),
    ("user", Text("any")),
];

/// The profiles, in the order of the file.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "openai",
        fields: &[
            ("consecutive_user", Text("accept")), ("developer", Text("keep")),
            ("doubt", List(&["id_max", "reasoning_keep"])), ("first_role", Text("accept")),
            ("id_max", Number(40)), ("max_calls", Number(128)),
            ("media_roles", List(&["user", "assistant:audio"])), ("message_name", Text("[a-zA-Z0-9_-]")),
            ("null_content", Text("reject")), ("repeated_system", Text("accept")),
            ("system_place", Text("accept")), ("title", Text("OpenAI Chat Completions")),
            ("untyped_parts", Text("reject")),
        ],
        models: &[
            ("o1-mini*", &[
                ("system", Text("user")),
            ]),
            ("o1-preview*", &[
                ("system", Text("user")),
            ]),
        ],
    },
    Row {
        name: "openai-responses",
        fields: &[
            ("consecutive_user", Text("accept")), ("developer", Text("keep")),
            ("doubt", List(&["reasoning_signed"])), ("first_role", Text("accept")),
            ("format", Text("responses")), ("id_max", Number(64)), ("interleaved_calls", Text("accept")),
            ("item_ids", List(&["reasoning:rs", "text:msg", "tool_call:fc", "tool_call:ctc"])),
            ("leading_results", Text("accept")), ("lone_reasoning", Text("reject")),
            ("reasoning_bound", Text("account")), ("reasoning_keep", Text("all")),
            ("reasoning_signed", Flag(true)), ("reasoning_stored", Text("accept")),
            ("repeated_system", Text("accept")), ("system_place", Text("accept")),
            ("title", Text("OpenAI Responses")), ("untyped_parts", Text("reject")),
        ],
        models: &[
            ("gpt-3.5*", &[
                ("reasoning_keep", Text("none")),
            ]),
            ("gpt-4o*", &[
                ("reasoning_keep", Text("none")),
            ]),
        ],
    },
    Row {
        name: "anthropic",
        fields: &[
            ("arguments", Text("object")), ("blank", Flag(true)), ("cache_max", Number(4)),
            ("cache_members", List(&["type", "ttl"])), ("consecutive_user", Text("accept")),
            ("doubt", List(&["id_max", "last", "system_place", "members"])),
            ("empty", List(&["system", "user", "assistant"])), ("empty_text", Text("reject")),
            ("error_result", Text("reject")), ("file_types", List(&["application/pdf", "text/plain"])),
            ("first_role", Text("accept")), ("format", Text("anthropic")),
            ("id_class", Text("[a-zA-Z0-9_-]")), ("id_max", Number(64)),
            ("id_pattern", Text("toolu_{r:24:b}")), ("image_bytes_max", Number(5242880)),
            ("image_side_max", Number(8000)),
            ("image_types", List(&["image/jpeg", "image/png", "image/gif", "image/webp"])),
            ("interleaved_calls", Text("joined")),
            ("known_members", List(&["cache_control", "citations", "caller", "title", "context"])),
            ("last", Text("user")), ("last_trim", Flag(true)), ("many_images", Number(20)),
            ("many_images_side_max", Number(2000)),
            ("media_roles", List(&["user:image", "user:file", "tool:image", "tool:file"])),
            ("members", Text("known")), ("name_max", Number(128)), ("reasoning_bound", Text("model")),
            ("reasoning_first", Flag(true)), ("reasoning_keep", Text("all")),
            ("reasoning_signed", Flag(true)), ("repeated_system", Text("accept")),
            ("server_tools", Text("pairs")), ("system", Text("field")), ("system_place", Text("accept")),
            ("title", Text("Anthropic Messages")), ("user", Text("some")),
        ],
        models: &[
            ("*-4-5", &[
                ("last", Text("any")), ("system_place", Text("reject")),
            ]),
            ("claude-3*", &[
                ("last", Text("any")), ("system_place", Text("reject")),
            ]),
        ],
    },
    Row {
        name: "gemini",
        fields: &[
            ("aliases", List(&["google", "gcp.gemini"])), ("alternate", Flag(true)),
            ("arguments", Text("object")), ("call_signature", Text("keep")),
            ("consecutive_user", Text("accept")),
            ("doubt", List(&["user", "alternate", "reasoning_require"])),
            ("empty", List(&["system", "user", "assistant"])), ("empty_is", Text("part")),
            ("format", Text("gemini")), ("id_pattern", Text("{r:8:x}")), ("last", Text("user")),
            ("later_system", Text("user")), ("name_class", Text("[a-zA-Z0-9_.:-]")),
            ("name_first", Text("[a-zA-Z_]")), ("reasoning_bound", Text("model")),
            ("reasoning_fallback", Text("skip_thought_signature_validator")),
            ("reasoning_keep", Text("all")), ("reasoning_require", Text("call-signature")),
            ("repeated_system", Text("accept")), ("result_name", Text("call")), ("system", Text("field")),
            ("title", Text("Google Gemini generateContent")), ("untyped_parts", Text("reject")),
            ("user", Text("first")),
        ],
        models: &[
            ("gemini-1*", &[
                ("reasoning_require", Text("none")),
            ]),
            ("gemini-2*", &[
                ("reasoning_require", Text("none")),
            ]),
            ("gemini-3*", &[
                ("doubt", List(&["user", "alternate"])),
            ]),
            ("gemini-4*", &[
                ("doubt", List(&["user", "alternate"])),
            ]),
        ],
    },
    Row {
        name: "mistral",
        fields: &[
            ("aliases", List(&["mistral_ai"])), ("consecutive_user", Text("accept")),
            ("doubt", List(&["arguments", "consecutive_user", "system_place", "repeated_system"])),
            ("empty", List(&["assistant"])), ("first_role", Text("accept")),
            ("id_pattern", Text("{r:9:b}")), ("last", Text("user")), ("prefill", Text("prefix")),
            ("reasoning_keep", Text("parts")), ("repeated_system", Text("accept")),
            ("system_place", Text("accept")), ("title", Text("Mistral chat completions")),
        ],
        models: &[
        ],
    },
    Row {
        name: "bedrock",
        fields: &[
            ("alternate", Flag(true)), ("arguments", Text("object")), ("blank", Flag(true)),
            ("consecutive_user", Text("accept")),
            ("doubt", List(&["id_unique", "reasoning_signed", "first_role", "alternate"])),
            ("empty", List(&["system", "user", "assistant"])), ("empty_result", Text("reject")),
            ("empty_text", Text("reject")), ("file_name_class", Text("[a-zA-Z0-9 _()[]-]")),
            ("file_name_max", Number(200)), ("file_needs_text", Flag(true)),
            ("file_types", List(&["application/pdf", "text/csv", "application/msword", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/vnd.ms-excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "text/html", "text/plain", "text/markdown"])),
            ("first_role", Text("accept")), ("format", Text("bedrock")),
            ("id_class", Text("[a-zA-Z0-9_.:-]")), ("id_max", Number(64)),
            ("id_pattern", Text("tooluse_{r:22:x}")), ("id_unique", Text("chain")),
            ("image_types", List(&["image/png", "image/jpeg", "image/gif", "image/webp"])),
            ("last", Text("user")), ("media_urls", Text("reject")), ("reasoning_keep", Text("all")),
            ("reasoning_signed", Flag(true)), ("repeated_system", Text("accept")),
            ("system", Text("field")), ("title", Text("Amazon Bedrock Converse")), ("user", Text("some")),
        ],
        models: &[
            ("*llama*", &[
                ("after_tool", Text("assistant")),
            ]),
        ],
    },
    Row {
        name: "deepseek",
        fields: &[
            ("alternate", Flag(true)), ("consecutive_user", Text("accept")),
            ("doubt", List(&["alternate", "message_name", "system_place", "repeated_system"])),
            ("first_role", Text("accept")), ("id_pattern", Text("call_{r:2:d}_{r:24:b}")),
            ("media_roles", List(&[])), ("message_name", Text("[a-zA-Z0-9_-]")),
            ("prefill", Text("prefix")), ("reasoning_fallback", Text(" ")), ("reasoning_keep", Text("all")),
            ("reasoning_require", Text("calls")), ("repeated_system", Text("accept")),
            ("system_place", Text("accept")), ("title", Text("DeepSeek chat completions")),
        ],
        models: &[
            ("deepseek-chat", &[
                ("reasoning_require", Text("none")),
            ]),
            ("deepseek-reasoner", &[
                ("consecutive_user", Text("reject")), ("first_role", Text("reject")), ("last", Text("user")),
            ]),
        ],
    },
    Row {
        name: "kimi",
        fields: &[
            ("aliases", List(&["moonshot"])), ("consecutive_user", Text("accept")),
            ("doubt", List(&["media_roles", "name_first", "message_name", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("empty", List(&["assistant"])), ("empty_text", Text("reject")), ("first_role", Text("accept")),
            ("id_pattern", Text("functions.{f}:{n}")), ("id_severity", Text("warning")),
            ("id_shape", Flag(true)), ("id_unique", Text("chain")),
            ("media_roles", List(&["user:image", "user:audio", "user:file", "tool", "assistant"])),
            ("name_first", Text("[a-zA-Z_]")), ("reasoning_fallback", Text(" ")),
            ("reasoning_keep", Text("all")), ("reasoning_require", Text("calls")),
            ("repeated_system", Text("accept")), ("system_place", Text("accept")),
            ("title", Text("Moonshot Kimi chat completions")),
        ],
        models: &[
        ],
    },
    Row {
        name: "glm",
        fields: &[
            ("aliases", List(&["zai", "zhipu"])), ("consecutive_user", Text("accept")),
            ("doubt", List(&["message_name", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("empty", List(&["assistant"])), ("first_role", Text("accept")),
            ("id_pattern", Text("call_{r:19:d}")), ("reasoning_keep", Text("all")),
            ("repeated_system", Text("accept")), ("system_place", Text("accept")),
            ("title", Text("Z.ai GLM chat completions")), ("user", Text("some")),
        ],
        models: &[
            ("glm-4.6", &[
                ("media_roles", List(&[])),
            ]),
            ("glm-5", &[
                ("media_roles", List(&[])),
            ]),
            ("glm-5.3", &[
                ("media_roles", List(&[])),
            ]),
        ],
    },
    Row {
        name: "vertex",
        fields: &[
            ("alternate", Flag(true)), ("arguments", Text("object")), ("call_signature", Text("keep")),
            ("consecutive_user", Text("accept")),
            ("doubt", List(&["user", "alternate", "reasoning_require"])),
            ("empty", List(&["system", "user", "assistant"])), ("empty_is", Text("part")),
            ("format", Text("gemini")), ("id_pattern", Text("{r:8:x}")), ("last", Text("user")),
            ("later_system", Text("user")), ("name_class", Text("[a-zA-Z0-9_.:-]")),
            ("name_first", Text("[a-zA-Z_]")), ("reasoning_bound", Text("account")),
            ("reasoning_fallback", Text("skip_thought_signature_validator")),
            ("reasoning_keep", Text("all")), ("reasoning_require", Text("call-signature")),
            ("refused_members", List(&["partMetadata", "willContinue", "scheduling"])),
            ("repeated_system", Text("accept")), ("result_name", Text("call")), ("system", Text("field")),
            ("title", Text("Gemini on Vertex AI")), ("untyped_parts", Text("reject")),
            ("user", Text("first")),
        ],
        models: &[
            ("gemini-1*", &[
                ("reasoning_require", Text("none")),
            ]),
            ("gemini-2*", &[
                ("reasoning_require", Text("none")),
            ]),
            ("gemini-3*", &[
                ("doubt", List(&["user", "alternate"])),
            ]),
            ("gemini-4*", &[
                ("doubt", List(&["user", "alternate"])),
            ]),
        ],
    },
    Row {
        name: "openrouter",
        fields: &[
            ("call_signature", Text("keep")), ("consecutive_user", Text("accept")),
            ("developer", Text("keep")), ("doubt", List(&["id_max", "message_name"])),
            ("first_role", Text("accept")), ("id_max", Number(40)), ("message_name", Text("[a-zA-Z0-9_-]")),
            ("reasoning_keep", Text("all")), ("repeated_system", Text("accept")),
            ("system_place", Text("accept")), ("title", Text("OpenRouter")),
        ],
        models: &[
            ("gemini-3*", &[
                ("reasoning_require", Text("calls")),
            ]),
        ],
    },
    Row {
        name: "ollama",
        fields: &[
            ("alternate", Flag(true)), ("consecutive_user", Text("accept")),
            ("doubt", List(&["alternate", "message_name", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("first_role", Text("accept")), ("message_name", Text("[a-zA-Z0-9_-]")),
            ("reasoning_keep", Text("all")), ("repeated_system", Text("accept")),
            ("system_place", Text("accept")), ("title", Text("Ollama, OpenAI-compatible endpoint")),
        ],
        models: &[
        ],
    },
    Row {
        name: "groq",
        fields: &[
            ("consecutive_user", Text("accept")), ("developer", Text("keep")),
            ("doubt", List(&["id_max", "max_calls", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("first_role", Text("accept")), ("id_max", Number(40)), ("max_calls", Number(128)),
            ("members", Text("known")), ("message_name", Text("[a-zA-Z0-9_-]")),
            ("reasoning_keep", Text("none")), ("repeated_system", Text("accept")),
            ("system_place", Text("accept")), ("title", Text("Groq chat completions")),
        ],
        models: &[
        ],
    },
    Row {
        name: "qwen",
        fields: &[
            ("aliases", List(&["dashscope"])), ("arguments", Text("json")),
            ("consecutive_user", Text("accept")),
            ("doubt", List(&["first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("first_role", Text("accept")), ("reasoning_keep", Text("all")),
            ("repeated_system", Text("accept")), ("system_place", Text("accept")),
            ("title", Text("Alibaba DashScope (Qwen) chat completions")),
        ],
        models: &[
        ],
    },
    Row {
        name: "azure",
        fields: &[
            ("consecutive_user", Text("accept")), ("developer", Text("keep")),
            ("doubt", List(&["id_max", "reasoning_keep", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("first_role", Text("accept")), ("id_max", Number(40)), ("max_calls", Number(128)),
            ("media_roles", List(&["user", "assistant:audio"])), ("message_name", Text("[a-zA-Z0-9_-]")),
            ("null_content", Text("reject")), ("reasoning_bound", Text("account")),
            ("repeated_system", Text("accept")), ("system_place", Text("accept")),
            ("title", Text("Azure OpenAI chat completions")), ("untyped_parts", Text("reject")),
        ],
        models: &[
        ],
    },
    Row {
        name: "cohere",
        fields: &[
            ("consecutive_user", Text("accept")),
            ("doubt", List(&["empty", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("empty", List(&["user", "assistant"])), ("first_role", Text("accept")),
            ("id_pattern", Text("call_{r:24:b}")), ("repeated_system", Text("accept")),
            ("system_place", Text("accept")), ("title", Text("Cohere chat, v2")),
        ],
        models: &[
        ],
    },
    Row {
        name: "template",
        fields: &[
            ("after_tool", Text("assistant")), ("aliases", List(&["llama.cpp", "vllm"])),
            ("alternate", Flag(true)), ("arguments", Text("json")),
            ("doubt", List(&["id_class", "user", "max_calls", "last"])), ("empty", List(&["assistant"])),
            ("id_class", Text("[a-zA-Z0-9]")), ("id_max", Number(9)), ("id_min", Number(9)),
            ("id_pattern", Text("{r:9:b}")), ("last", Text("user")), ("max_calls", Number(1)),
            ("media_roles", List(&["user"])),
            ("title", Text("chat templates of open models (llama.cpp, vLLM)")), ("user", Text("first")),
        ],
        models: &[
            ("*gemma*", &[
                ("system", Text("user")),
            ]),
        ],
    },
    Row {
        name: "fireworks",
        fields: &[
            ("consecutive_user", Text("accept")),
            ("doubt", List(&["members", "reasoning_keep", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("first_role", Text("accept")), ("known_members", List(&["reasoning_content"])),
            ("members", Text("known")), ("reasoning_keep", Text("all")),
            ("repeated_system", Text("accept")), ("system_place", Text("accept")),
            ("title", Text("Fireworks chat completions")),
        ],
        models: &[
        ],
    },
    Row {
        name: "together",
        fields: &[
            ("consecutive_user", Text("accept")),
            ("doubt", List(&["reasoning_keep", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("first_role", Text("accept")), ("reasoning_keep", Text("all")),
            ("repeated_system", Text("accept")), ("system_place", Text("accept")),
            ("title", Text("Together chat completions")),
        ],
        models: &[
        ],
    },
    Row {
        name: "minimax",
        fields: &[
            ("consecutive_user", Text("accept")),
            ("doubt", List(&["reasoning_keep", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("first_role", Text("accept")), ("reasoning_keep", Text("all")),
            ("repeated_system", Text("accept")), ("system_place", Text("accept")),
            ("title", Text("MiniMax chat completions")),
        ],
        models: &[
        ],
    },
    Row {
        name: "copilot",
        fields: &[
            ("consecutive_user", Text("accept")),
            ("doubt", List(&["last", "first_role", "consecutive_user", "system_place", "repeated_system"])),
            ("first_role", Text("accept")), ("id_max", Number(40)), ("last", Text("user")),
            ("repeated_system", Text("accept")), ("system_place", Text("accept")),
            ("title", Text("GitHub Copilot, as a proxy")),
        ],
        models: &[
        ],
    },
    Row {
        name: "perplexity",
        fields: &[
            ("alternate", Flag(true)), ("doubt", List(&[])), ("title", Text("Perplexity chat completions")),
        ],
        models: &[
        ],
    },
    Row {
        name: "generic",
        fields: &[
            ("aliases", List(&["openai-compatible"])), ("alternate", Flag(true)),
            ("arguments", Text("object")), ("blank", Flag(true)),
            ("empty", List(&["system", "user", "assistant"])), ("empty_result", Text("reject")),
            ("empty_text", Text("reject")), ("id_class", Text("[a-zA-Z0-9_-]")), ("id_max", Number(40)),
            ("id_unique", Text("chain")), ("last", Text("user")), ("max_calls", Number(128)),
            ("media_roles", List(&["user"])),
            ("title", Text("any OpenAI-compatible server (what passes everywhere)")),
            ("untyped_parts", Text("reject")), ("user", Text("first")),
        ],
        models: &[
        ],
    },
];
