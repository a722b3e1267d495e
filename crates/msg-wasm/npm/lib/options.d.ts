// Written by `cargo xtask codegen` from the option structs of the libraries.

export type Profile =
    'openai' | 'openai-responses' | 'anthropic' | 'gemini' | 'gemini-interactions' | 'mistral' | 'bedrock' |
    'deepseek' | 'kimi' | 'glm' | 'vertex' | 'openrouter' | 'ollama' | 'groq' | 'qwen' | 'azure' | 'cohere' |
    'template' | 'fireworks' | 'together' | 'minimax' | 'copilot' | 'perplexity' | 'generic';

export type Format =
    'openai' | 'anthropic' | 'bedrock' | 'gemini' | 'interactions' | 'responses' | 'agent' | 'otel' | 'turns' |
    'plain' | 'native' | 'langchaingo' | 'claude-code' | 'codex' | 'gemini-cli' | 'opencode' | 'goose' | 'cline' |
    'aider' | 'openhands' | 'swe-agent' | 'langchain' | 'pydantic-ai' | 'agents-sdk' | 'vercel-ui' | 'ai-sdk' |
    'ag-ui' | 'adk' | 'haystack' | 'llama-index' | 'autogen' | 'agent-framework' | 'semantic-kernel' | 'sharegpt' |
    'openai-jsonl' | 'inspect' | 'qwen-code' | 'pi' | 'copilot-cli' | 'claude-stream' | 'codex-exec' | 'atif' |
    'kimi' | 'droid' | 'grok';

export type ListFormat =
    'openai' | 'responses' | 'agent' | 'otel' | 'turns' | 'plain' | 'native' | 'langchaingo' | 'claude-code' |
    'codex' | 'gemini-cli' | 'aider' | 'openhands' | 'swe-agent' | 'langchain' | 'pydantic-ai' | 'agents-sdk' |
    'vercel-ui' | 'ai-sdk' | 'ag-ui' | 'haystack' | 'llama-index' | 'autogen' | 'agent-framework' | 'inspect' |
    'qwen-code' | 'pi' | 'copilot-cli' | 'claude-stream' | 'codex-exec' | 'kimi' | 'droid' | 'grok';

export type ObjectFormat =
    'anthropic' | 'bedrock' | 'gemini' | 'interactions' | 'opencode' | 'goose' | 'cline' | 'adk' |
    'semantic-kernel' | 'sharegpt' | 'openai-jsonl' | 'atif';

export type Preset =
    'balanced' | 'pentagi' | 'wolo' | 'forge' | 'window';

export type Counter =
    'script' | 'o200k' | 'cl100k' | 'forge' | 'wolo';

export type Provider =
    'auto' | 'openai' | 'responses' | 'anthropic' | 'gemini' | 'interactions' | 'bedrock';

export type ToolDialect =
    'invoke' | 'hermes' | 'glm' | 'qwen' | 'cline' | 'dsml' | 'minimax' | 'harmony' | 'kimi' | 'deepseek' |
    'llama' | 'pythonic' | 'mistral' | 'fenced' | 'all' | 'none';

export type Agent =
    'claude-code' | 'codex' | 'gemini-cli' | 'opencode' | 'goose' | 'cline' | 'aider' | 'openhands' | 'swe-agent' |
    'langchain' | 'pydantic-ai' | 'agents-sdk' | 'vercel-ui' | 'ai-sdk' | 'ag-ui' | 'adk' | 'haystack' |
    'llama-index' | 'autogen' | 'agent-framework' | 'semantic-kernel' | 'sharegpt' | 'openai-jsonl' | 'inspect' |
    'otel' | 'qwen-code' | 'pi' | 'copilot-cli' | 'claude-stream' | 'codex-exec' | 'atif' | 'kimi' | 'droid' |
    'grok';

/** Prompt tokens that a provider reported for the first messages. */
export interface Usage {
  messages: number;
  promptTokens: number;
}

/** How a document is read: options of `messages`. */
export interface ReadOptions {
  /** The format of the input [default: recognised from its content, then its name]. */
  from?: Format | undefined;
  /** Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]. */
  calls?: 'auto' | 'native' | 'xml' | undefined;
  /** Refuse documents larger than this many bytes [default: 256 MiB]. */
  maxBytes?: number | undefined;
}

/** Options of `check` and `isValid`. */
export interface CheckOptions {
  /** The format of the input [default: recognised from its content, then its name]. */
  from?: Format | undefined;
  /** Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list. */
  field?: string | ReadonlyArray<string> | undefined;
  /** Take the request from one member and its answer from another, such as `input,output`; several as a list. */
  join?: string | ReadonlyArray<string> | undefined;
  /** Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]. */
  calls?: 'auto' | 'native' | 'xml' | undefined;
  /** Refuse documents larger than this many bytes [default: 256 MiB]. */
  maxBytes?: number | undefined;
  /** The model that wrote the assistant messages, if the document does not name it: some providers refuse signed reasoning of other models. */
  model?: string | undefined;
  /** The provider that wrote them, if the document does not name it. */
  provider?: string | undefined;
  /** Also apply the rules of this provider. */
  profile?: Profile | undefined;
  /** With profile: the model of the request, if the document does not name it. */
  forModel?: string | undefined;
  /** Judge the document as a request: with profile also its tools, settings and last message. */
  request?: boolean | undefined;
  /** Allow calls without results at the end, which the agent has not run yet. */
  open?: boolean | undefined;
  /** Also check each message by itself: roles, empty content, misplaced parts, arguments. */
  messages?: boolean | undefined;
  /** With messages: report user texts of more than N characters. */
  maxChars?: number | undefined;
}

/** Options of `repair`. */
export interface RepairOptions {
  /** The format of the input [default: recognised from its content, then its name]. */
  from?: Format | undefined;
  /** Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list. */
  field?: string | ReadonlyArray<string> | undefined;
  /** Take the request from one member and its answer from another, such as `input,output`; several as a list. */
  join?: string | ReadonlyArray<string> | undefined;
  /** Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]. */
  calls?: 'auto' | 'native' | 'xml' | undefined;
  /** Refuse documents larger than this many bytes [default: 256 MiB]. */
  maxBytes?: number | undefined;
  /** The model that wrote the assistant messages, if the document does not name it: some providers refuse signed reasoning of other models. */
  model?: string | undefined;
  /** The provider that wrote them, if the document does not name it. */
  provider?: string | undefined;
  /** Also apply the rules of this provider. */
  profile?: Profile | undefined;
  /** With profile: the model of the request, if the document does not name it. */
  forModel?: string | undefined;
  /** Judge the document as a request: with profile also its tools, settings and last message. */
  request?: boolean | undefined;
  /** Allow calls without results at the end, which the agent has not run yet. */
  open?: boolean | undefined;
  /** What to do with results that match no call: fabricate a call, drop them, or keep them [default: fabricate]. */
  orphans?: 'fabricate' | 'drop' | 'keep' | undefined;
  /** What to do with an assistant message at the start: insert a user message before it, or drop it [default: insert]. */
  first?: 'insert' | 'drop' | undefined;
  /** What to do with a message of unknown role: drop it, or make it a user message [default: drop]. */
  unknownRole?: 'drop' | 'user' | undefined;
  /** What to do with arguments that are not JSON: keep them; mend those with one possible meaning; complete also truncated ones, for display; sanitize: escape control characters, else write `{}` [default: keep]. */
  arguments?: 'keep' | 'sanitize' | 'mend' | 'complete' | undefined;
  /** Also repair warnings: what the provider accepts but ignores, or may refuse [default: errors only]. */
  all?: boolean | undefined;
  /** Treat losses as errors. */
  strict?: boolean | undefined;
  /** The pattern of fresh tool call ids, such as `call_{r:24:x}`. */
  idPattern?: string | undefined;
}

/** Options of `convert`. Options of a format that is not the target do nothing. */
export interface ConvertOptions {
  /** The format of the input [default: recognised from its content, then its name]. */
  from?: Format | undefined;
  /** Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list. */
  field?: string | ReadonlyArray<string> | undefined;
  /** Take the request from one member and its answer from another, such as `input,output`; several as a list. */
  join?: string | ReadonlyArray<string> | undefined;
  /** Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]. */
  calls?: 'auto' | 'native' | 'xml' | undefined;
  /** Refuse documents larger than this many bytes [default: 256 MiB]. */
  maxBytes?: number | undefined;
  /** Convert the whole request (tools, limits, temperature …), not only its conversation. */
  request?: boolean | undefined;
  /** Convert a response into a response, with id, model, stop reason and usage. */
  response?: boolean | undefined;
  /** With request: the model to write; the name in the input belongs to another provider. */
  model?: string | undefined;
  /** Treat losses as errors. */
  strict?: boolean | undefined;
  /** To an agent's session: keep or drop system texts and context that an agent injected. */
  context?: 'keep' | 'drop' | undefined;
  /** To an agent's session: the folder that it works in. */
  cwd?: string | undefined;
  /** To an agent's session: its id. */
  sessionId?: string | undefined;
  /** Write who made each message, where the format has a place for it. */
  provenance?: boolean | undefined;
  /** For `plain`: role and preview only, of so many characters. */
  preview?: number | undefined;
  /** Which form of `agent` is written. */
  agentForm?: 'document' | 'sdk' | undefined;
  /** Whether to keep the shape of the source. */
  layout?: 'keep' | 'canonical' | undefined;
  /** The content of an assistant message with calls and without content. */
  contentWhenEmpty?: 'omit' | 'null' | 'empty' | undefined;
  /** How to write a content of several texts. */
  textParts?: 'array' | 'join' | undefined;
  /** The separator of joined texts [default: a line break]. */
  textSeparator?: string | undefined;
  /** Which messages keep their reasoning. */
  reasoning?: 'all' | 'with_calls' | 'none' | undefined;
  /** The member for reasoning. */
  reasoningField?: 'reasoning_content' | 'reasoning' | undefined;
  /** What to do with the ids of Responses items. */
  itemIds?: 'keep' | 'drop' | undefined;
  /** What to do with later system messages. */
  laterSystem?: 'user' | 'keep' | 'hoist' | undefined;
  /** What to do with `cacheControl`. */
  cacheControl?: 'carry' | 'drop' | undefined;
  /** What to do with thinking. */
  thinking?: 'keep' | 'none' | undefined;
  /** With request: the token limit of the answer, if the target requires one and the input has none. */
  maxTokens?: number | undefined;
  /** What to do with cache points. */
  cache?: 'carry' | 'drop' | undefined;
  /** What to do with unsigned reasoning; `keep` in the same format, else `drop`, by default. */
  unsigned?: 'drop' | 'keep' | undefined;
  /** What to do with ids. */
  ids?: 'keep' | 'omit' | undefined;
  /** What to do with reasoning. */
  thoughts?: 'keep' | 'none' | undefined;
  /** Repair the output for this provider, as `msg repair profile` does. */
  profile?: 'strict' | 'doc' | 'shipped' | undefined;
  /** The prompt to inject if a system message is missing. */
  systemPrompt?: string | undefined;
  /** The role of system turns and of the prompt. */
  systemRole?: 'system' | 'developer' | undefined;
  /** The name that replaces `productName` in the injected prompt. */
  agentDisplayName?: string | undefined;
  /** The name that the prompt contains. */
  productName?: string | undefined;
  /** Whether the rules `doc` send failed tools. */
  failedTools?: 'filter' | 'include_error' | undefined;
  /** The output of a tool that returned nothing. */
  emptyToolOutput?: 'by_profile' | 'placeholder' | 'literal' | undefined;
  /** What the rules `strict` send for arguments that are not JSON. */
  invalidArguments?: 'keep' | 'wrap' | undefined;
  /** The spelling of a tool's `input`. */
  arguments?: 'spaced' | 'compact' | undefined;
  /** Whether text after a tool part begins another assistant message. */
  splitInterleaved?: boolean | undefined;
}

/** Options of `fit` and `fitRequests`. */
export interface FitOptions {
  /** The format of the input [default: recognised from its content, then its name]. */
  from?: Format | undefined;
  /** Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list. */
  field?: string | ReadonlyArray<string> | undefined;
  /** Take the request from one member and its answer from another, such as `input,output`; several as a list. */
  join?: string | ReadonlyArray<string> | undefined;
  /** Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]. */
  calls?: 'auto' | 'native' | 'xml' | undefined;
  /** Refuse documents larger than this many bytes [default: 256 MiB]. */
  maxBytes?: number | undefined;
  /** The limit, in tokens unless unit says otherwise. */
  budget?: number | undefined;
  /** What the limit counts [default: tokens]. */
  unit?: 'tokens' | 'bytes' | undefined;
  /** What to keep free of the limit, as a number or a percentage. */
  reserve?: number | string | undefined;
  /** Compact only above this percentage of what is usable. */
  trigger?: number | undefined;
  /** Compact down to this percentage of what is usable, or as deep as costs least (`cache`). */
  target?: number | 'cache' | undefined;
  /** Choose how deep to cut by the prices of a prompt cache, as shares of the input price or those of a provider [default: 0.1:1.25]. */
  cache?: string | undefined;
  /** With cache, keep at least this much [default: an eighth of the budget]. */
  keep?: number | undefined;
  /** Compact from three quarters of the budget on: the prompt cache has expired anyway. */
  cold?: boolean | undefined;
  /** How tokens are counted [default: script, or the preset's]. */
  counter?: Counter | undefined;
  /** Count these tool definitions instead of those of the request body. */
  tools?: ReadonlyArray<Readonly<Record<string, unknown>>> | undefined;
  /** Calibrate by a reported usage: so many prompt tokens for the first K messages. */
  usage?: Usage | undefined;
  /** What to do, in which order [default: balanced]. */
  preset?: Preset | undefined;
  /** Options of the preset. */
  config?: Readonly<Record<string, unknown>> | undefined;
  /** The policies to run instead of a preset, as a JSON list. */
  policies?: ReadonlyArray<Readonly<Record<string, unknown>>> | undefined;
  /** What stays: first-user, contains:TEXT, tool:NAME; replaces first-user. */
  pin?: ReadonlyArray<string> | undefined;
  /** Bytes to which the outputs of a tool are cut first. */
  toolCaps?: Readonly<Record<string, number>> | undefined;
  /** Keep to what this provider accepts. */
  profile?: Profile | undefined;
  /** Repair the chain first. */
  repair?: boolean | undefined;
  /** Accept unanswered calls at the end. */
  open?: boolean | undefined;
  /** When a summary fails: keep the messages, or replace them with a digest [default: the preset's]. */
  onFailure?: 'keep' | 'digest' | undefined;
  /** Give what was reached even if it does not fit. */
  bestEffort?: boolean | undefined;
  /** Treat losses other than cuts as errors. */
  strict?: boolean | undefined;
  /** A summariser for tests: fixed:TEXT, len, hash, echo:N, digest, error, fail-on:TEXT. */
  testSummarizer?: string | ReadonlyArray<string> | undefined;
  /** Add the records of the compaction to the report. */
  records?: boolean | undefined;
  /** Add the plan to the report; `apply` repeats it on the grown conversation, `undo` undoes it. */
  plan?: boolean | undefined;
  /** Apply this plan instead of compacting. */
  apply?: Readonly<Record<string, unknown>> | undefined;
  /** Undo this plan instead of compacting. */
  undo?: Readonly<Record<string, unknown>> | undefined;
  /** How many parts `stats` lists. */
  top?: number | undefined;
}

/** Options of `stats`. */
export interface StatsOptions {
  /** The format of the input [default: recognised from its content, then its name]. */
  from?: Format | undefined;
  /** Take the conversation from this member of each document or line, such as `request.body`; `[]` represents each element of a list; several as a list. */
  field?: string | ReadonlyArray<string> | undefined;
  /** Take the request from one member and its answer from another, such as `input,output`; several as a list. */
  join?: string | ReadonlyArray<string> | undefined;
  /** Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]. */
  calls?: 'auto' | 'native' | 'xml' | undefined;
  /** Refuse documents larger than this many bytes [default: 256 MiB]. */
  maxBytes?: number | undefined;
  /** A limit in tokens, drawn as a line over the growth. */
  budget?: number | undefined;
  /** How tokens are counted [default: script, or the preset's]. */
  counter?: Counter | undefined;
  /** Count these tool definitions instead of those of the request body. */
  tools?: ReadonlyArray<Readonly<Record<string, unknown>>> | undefined;
  /** Calibrate by a reported usage: so many prompt tokens for the first K messages. */
  usage?: Usage | undefined;
  /** How many of the largest parts to list. */
  top?: number | undefined;
}

/** Options of `cache`. */
export interface CacheOptions {
  /** The API of the requests (anthropic, openai, responses, gemini, bedrock) or the agent of the session. Default: recognised. */
  from?: 'anthropic' | 'openai' | 'responses' | 'gemini' | 'bedrock' | undefined;
  /** The provider whose caching rules apply: one of `rules`, or a profile, which has those of OpenAI if it is not one of these. Default: by API, model and address. */
  provider?: string | undefined;
  /** Prices in LiteLLM's format, instead of the built-in list. */
  prices?: Readonly<Record<string, unknown>> | undefined;
  /** Report misses of at least this many tokens. */
  minMissed?: number | undefined;
  /** Remember at most this many runs of a log. */
  runs?: number | undefined;
}

/** Options of `key`. */
export interface KeyOptions {
  /** The format of the input [default: recognised from its content, then its name]. */
  from?: Format | undefined;
  /** Where to look for tool calls: `native` fields, or `xml` also in the text, with `Tool: NAME` results [default: native; xml for plain]. */
  calls?: 'auto' | 'native' | 'xml' | undefined;
  /** Refuse documents larger than this many bytes [default: 256 MiB]. */
  maxBytes?: number | undefined;
  /** Hash the bytes, which need not be a document, instead of what is said. */
  exact?: boolean | undefined;
}

/** Options of `tools`, `ToolParser` and `toolEvents`. */
export interface ToolsOptions {
  /** How to handle thinking. */
  thinking?: 'extract' | 'drop' | 'off' | undefined;
  /** The text begins inside thinking, because the template opened the tag. */
  implicitThinking?: boolean | undefined;
  /** How to handle calls in code fences. */
  fencedTools?: 'fallback' | 'always' | 'never' | undefined;
  /** Read only calls of these dialects and `<tool>` blocks: invoke, hermes, glm, qwen, cline, dsml, minimax, harmony, kimi, deepseek, llama, pythonic, mistral, fenced; or all, or none [default: none]. */
  dialects?: ToolDialect | ReadonlyArray<ToolDialect> | undefined;
  /** The registered tools: names, or definitions. */
  tools?: string | ReadonlyArray<string | Readonly<Record<string, unknown>>> | undefined;
  /** Types of parameters: tool definitions, or an object from tool to JSON Schema. */
  schema?: unknown | undefined;
  /** Why the model stopped; `length` and the like mean that the text was cut off. */
  finishReason?: string | undefined;
  /** Feed N bytes at a time; 0 feeds everything at once. The result is the same. */
  chunk?: number | undefined;
  /** The largest block that is kept, in bytes. */
  maxToolBytes?: number | undefined;
  /** The deepest nesting of parameters. */
  maxDepth?: number | undefined;
  /** The number of blocks and fences that may be read twice. */
  maxRetries?: number | undefined;
  /** Add the events of the stream to the JSON form. */
  events?: boolean | undefined;
}

/** Options of `stream`, `StreamAssembler` and `streamEvents`. */
export interface StreamOptions {
  /** The provider of the stream. */
  provider?: Provider | undefined;
  /** Feed N bytes at a time; 0 feeds everything at once. The result is the same. */
  chunk?: number | undefined;
  /** Write the stream that this API would send, instead of the message. */
  to?: 'openai' | 'native' | 'turns' | 'openai-chunks' | 'responses-events' | 'anthropic-events' | 'gemini-chunks' | 'interactions-events' | 'bedrock-events' | 'bedrock-frames' | undefined;
  /** Also return the events. */
  events?: boolean | undefined;
  /** Treat concatenated JSON objects as separate events. */
  splitConcatenated?: boolean | undefined;
  /** The maximum size of an event, in bytes. */
  maxEventBytes?: number | undefined;
  /** Cut the stream off after this many bytes. */
  interruptAfter?: number | undefined;
  /** Refuse documents larger than this many bytes [default: 256 MiB]. */
  maxBytes?: number | undefined;
}

/** A finding: what is wrong, where, and what would mend it. */
export interface Diagnostic {
  /** The sentence with which the provider would refuse it. */
  answer?: string;
  /** Where it is: the members that are known. */
  at?: {
    /** Column in characters, from 1. */
    column?: number;
    /** The byte after the last. */
    end?: number;
    /** Line of the input, from 1. */
    line?: number;
    /** Index of the message in the input, from 0. */
    message?: number;
    /** Index of the other message that the sentence names. */
    other_message?: number;
    /** Index of the part in its message, from 0. */
    part?: number;
    /** Place in the input document, a JSON Pointer (RFC 6901). */
    pointer?: string;
    /** Index of the section in the tree, from 0. */
    section?: number;
    /** First byte, from 0. */
    start?: number;
    /** Id of the tool call. */
    tool_call_id?: string;
  };
  /** The stable name of the kind of finding, `area::kebab-case`. */
  code: string;
  /** The edit: made by `repair` and `fit`, suggested by `check`. */
  fix?: string;
  /** What is wrong and what was expected. */
  message: string;
  severity: 'error' | 'warning' | 'info';
}

/** An event of a stream or of model text. `type` says which members it has. */
export type StreamEvent =
  | {
      choice?: number;
      text: string;
      type: 'text-delta';
    }
  | {
      choice?: number;
      text: string;
      type: 'reasoning-delta';
    }
  | {
      choice?: number;
      text: string;
      type: 'refusal-delta';
    }
  | {
      choice?: number;
      part: Record<string, unknown>;
      type: 'part-end';
    }
  | {
      choice?: number;
      id?: string;
      index: number;
      name: string;
      type: 'tool-call-begin';
    }
  | {
      arguments: string;
      choice?: number;
      index: number;
      type: 'tool-call-delta';
    }
  | {
      arguments: string;
      choice?: number;
      complete: boolean;
      id: string;
      index: number;
      kind?: string;
      name: string;
      type: 'tool-call';
    }
  | {
      choice?: number;
      type: 'usage';
      usage: Record<string, unknown>;
    }
  | {
      choice?: number;
      reason: string;
      type: 'finish';
    }
  | {
      choice?: number;
      message: string;
      type: 'error';
    };
