// Written by `cargo xtask codegen` from the option structs of the libraries.

export const PROFILES = Object.freeze([
    'openai', 'openai-responses', 'anthropic', 'gemini', 'gemini-interactions', 'mistral', 'bedrock', 'deepseek',
    'kimi', 'glm', 'vertex', 'openrouter', 'ollama', 'groq', 'qwen', 'azure', 'cohere', 'template', 'fireworks',
    'together', 'minimax', 'copilot', 'perplexity', 'generic',
]);

export const FORMATS = Object.freeze([
    'openai', 'anthropic', 'bedrock', 'gemini', 'interactions', 'responses', 'agent', 'otel', 'turns', 'plain',
    'native', 'langchaingo', 'claude-code', 'codex', 'gemini-cli', 'opencode', 'goose', 'cline', 'aider',
    'openhands', 'swe-agent', 'langchain', 'pydantic-ai', 'agents-sdk', 'vercel-ui', 'ai-sdk', 'ag-ui', 'adk',
    'haystack', 'llama-index', 'autogen', 'agent-framework', 'semantic-kernel', 'sharegpt', 'openai-jsonl',
    'inspect', 'qwen-code', 'pi', 'copilot-cli', 'claude-stream', 'codex-exec', 'atif', 'kimi', 'droid', 'grok',
]);

export const OPTIONS = {
  messages: [
    'from', 'calls', 'maxBytes',
  ],
  check: [
    'from', 'field', 'join', 'calls', 'maxBytes', 'model', 'provider', 'profile', 'forModel', 'request', 'open',
    'messages', 'maxChars',
  ],
  isValid: [
    'from', 'field', 'join', 'calls', 'maxBytes', 'model', 'provider', 'profile', 'forModel', 'request', 'open',
    'messages', 'maxChars',
  ],
  repair: [
    'from', 'field', 'join', 'calls', 'maxBytes', 'model', 'provider', 'profile', 'forModel', 'request', 'open',
    'orphans', 'first', 'unknownRole', 'arguments', 'all', 'strict', 'idPattern',
  ],
  convert: [
    'from', 'field', 'join', 'calls', 'maxBytes', 'request', 'response', 'model', 'strict', 'context', 'cwd',
    'sessionId', 'provenance', 'preview', 'agentForm', 'layout', 'contentWhenEmpty', 'textParts', 'textSeparator',
    'reasoning', 'reasoningField', 'itemIds', 'laterSystem', 'cacheControl', 'thinking', 'maxTokens', 'cache',
    'unsigned', 'ids', 'thoughts', 'profile', 'systemPrompt', 'systemRole', 'agentDisplayName', 'productName',
    'failedTools', 'emptyToolOutput', 'invalidArguments', 'arguments', 'splitInterleaved',
  ],
  fit: [
    'from', 'field', 'join', 'calls', 'maxBytes', 'budget', 'unit', 'reserve', 'trigger', 'target', 'cache',
    'keep', 'cold', 'counter', 'tools', 'usage', 'preset', 'config', 'policies', 'pin', 'toolCaps', 'profile',
    'repair', 'open', 'onFailure', 'bestEffort', 'strict', 'testSummarizer', 'records', 'plan', 'apply', 'undo',
    'top', 'answers',
  ],
  fitRequests: [
    'from', 'field', 'join', 'calls', 'maxBytes', 'budget', 'unit', 'reserve', 'trigger', 'target', 'cache',
    'keep', 'cold', 'counter', 'tools', 'usage', 'preset', 'config', 'policies', 'pin', 'toolCaps', 'profile',
    'repair', 'open', 'onFailure', 'bestEffort', 'strict', 'testSummarizer', 'records', 'plan', 'apply', 'undo',
    'top',
  ],
  stats: [
    'from', 'field', 'join', 'calls', 'maxBytes', 'budget', 'counter', 'tools', 'usage', 'top',
  ],
  cache: [
    'from', 'provider', 'prices', 'minMissed', 'runs',
  ],
  key: [
    'from', 'calls', 'maxBytes', 'exact',
  ],
  tools: [
    'thinking', 'implicitThinking', 'fencedTools', 'dialects', 'tools', 'schema', 'finishReason', 'chunk',
    'maxToolBytes', 'maxDepth', 'maxRetries', 'events',
  ],
  stream: [
    'provider', 'chunk', 'to', 'events', 'splitConcatenated', 'maxEventBytes', 'interruptAfter', 'maxBytes',
  ],
};
