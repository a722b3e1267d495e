import type { Diagnostic, RepairOptions } from './index.js';

/** The default of `profile` is that of the provider, by host and path. */
export interface MendingOptions extends Omit<RepairOptions, 'from' | 'field' | 'join'> {
  /** Receives one line about a conversation that cannot be read or is signed. Default: `console.warn`. */
  log?: ((line: string) => void) | undefined;
  /** Receives what was repaired in a request. Default: `log` receives what was dropped. */
  onRepair?: ((edits: Diagnostic[]) => void) | undefined;
}

/**
 * A `fetch` that repairs the conversation of each request to Chat Completions, Responses, Anthropic Messages, Gemini or
 * Bedrock Converse before it is sent. Other requests, and conversations that cannot be read, are sent unchanged.
 *
 * ```ts
 * const openai = new OpenAI({ fetch: mendingFetch() });
 * const claude = new Anthropic({ fetch: mendingFetch() });
 * const model = createOpenAI({ fetch: mendingFetch() })('gpt-5');
 * ```
 */
export function mendingFetch(options?: MendingOptions, fetch?: typeof globalThis.fetch): typeof globalThis.fetch;
