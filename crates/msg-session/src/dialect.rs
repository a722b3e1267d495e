//! The dialects: whose session it is (SE-10). How each is read is in `dialects/`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

macro_rules! dialects {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
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
        }
    };
}

dialects! {
    /// Claude Code, JSON lines that form a tree.
    ClaudeCode = "claude-code",
    /// Codex, JSON lines of Responses items.
    Codex = "codex",
    /// Gemini CLI, JSON lines or one document.
    GeminiCli = "gemini-cli",
    /// opencode, a folder of small files or an export.
    OpenCode = "opencode",
    /// goose, JSON lines or rows.
    Goose = "goose",
    /// Cline and Roo Code, an array of Anthropic messages.
    Cline = "cline",
    /// aider, a Markdown log.
    Aider = "aider",
    /// OpenHands, a file an event.
    OpenHands = "openhands",
    /// SWE-agent trajectories.
    SweAgent = "swe-agent",
    /// LangChain messages.
    LangChain = "langchain",
    /// Pydantic AI messages.
    PydanticAi = "pydantic-ai",
    /// OpenAI Agents SDK items.
    AgentsSdk = "agents-sdk",
    /// Vercel AI SDK UI messages.
    VercelUi = "vercel-ui",
    /// Vercel AI SDK messages for a model.
    AiSdk = "ai-sdk",
    /// AG-UI messages.
    AgUi = "ag-ui",
    /// Google ADK events.
    Adk = "adk",
    /// Haystack chat messages.
    Haystack = "haystack",
    /// LlamaIndex chat messages.
    LlamaIndex = "llama-index",
    /// AutoGen messages.
    AutoGen = "autogen",
    /// Microsoft Agent Framework messages.
    AgentFramework = "agent-framework",
    /// Semantic Kernel chat histories.
    SemanticKernel = "semantic-kernel",
    /// ShareGPT conversations.
    ShareGpt = "sharegpt",
    /// OpenAI fine-tuning lines.
    OpenAiJsonl = "openai-jsonl",
    /// Inspect evaluation logs.
    Inspect = "inspect",
    /// OpenTelemetry GenAI spans.
    Otel = "otel",
    /// Qwen Code, JSON lines that form a tree.
    QwenCode = "qwen-code",
    /// pi and openclaw, JSON lines that form a tree.
    Pi = "pi",
    /// Copilot CLI, a file of events.
    CopilotCli = "copilot-cli",
    /// What `claude -p --output-format stream-json` prints.
    ClaudeStream = "claude-stream",
    /// What `codex exec --json` prints.
    CodexExec = "codex-exec",
    /// ATIF trajectories.
    Atif = "atif",
    /// Kimi CLI, a file of events.
    Kimi = "kimi",
    /// droid, JSON lines of Anthropic messages.
    Droid = "droid",
    /// Grok CLI, JSON lines of messages.
    Grok = "grok",
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

impl Dialect {
    /// What people call the agent.
    ///
    /// ```
    /// use msg_session::Dialect;
    ///
    /// assert_eq!(Dialect::QwenCode.agent(), "Qwen Code");
    /// assert_eq!(Dialect::LangChain.agent(), "langchain");
    /// ```
    pub fn agent(self) -> &'static str {
        match self {
            Dialect::ClaudeCode | Dialect::ClaudeStream => "Claude Code",
            Dialect::Codex | Dialect::CodexExec => "Codex",
            Dialect::GeminiCli => "Gemini CLI",
            Dialect::QwenCode => "Qwen Code",
            Dialect::CopilotCli => "Copilot CLI",
            Dialect::Cline => "Cline",
            Dialect::OpenHands => "OpenHands",
            other => other.name(),
        }
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
