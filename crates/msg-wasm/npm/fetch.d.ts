import type { Diagnostic, RepairOptions } from './index.js';

/** `profile` is that of the provider, by the host and the path, unless it is given. */
export interface MendingOptions extends Omit<RepairOptions, 'from' | 'field' | 'join'> {
  /** Is told of a conversation that cannot be read or is signed, in one line. Default: `console.warn`. */
  log?: ((line: string) => void) | undefined;
  /** Is told of what was mended in a request. Default: `log` is told of what was left out. */
  onRepair?: ((edits: Diagnostic[]) => void) | undefined;
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
