import type { Diagnostic, RepairOptions } from './index.js';

export interface MendingOptions extends Omit<RepairOptions, 'from'> {
  /** Is told of a conversation that cannot be read, in one line. Default: `console.warn`. */
  log?: (line: string) => void;
  /** Is told of what was mended in a request. */
  onRepair?: (edits: Diagnostic[]) => void;
}

/**
 * A `fetch` that mends the conversation of each request to Chat Completions, Responses, Anthropic Messages, Gemini or
 * Bedrock Converse before it is sent. All else goes through as it is, and so does a conversation that cannot be read.
 *
 * ```ts
 * const openai = new OpenAI({ fetch: mendingFetch() });
 * const claude = new Anthropic({ fetch: mendingFetch() });
 * const model = createOpenAI({ fetch: mendingFetch() })('gpt-5');
 * ```
 */
export function mendingFetch(options?: MendingOptions, fetch?: typeof globalThis.fetch): typeof globalThis.fetch;
