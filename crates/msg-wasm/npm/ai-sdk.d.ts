import type { RepairOptions } from './index.js';

export interface RepairMessagesOptions extends Omit<RepairOptions, 'from'> {
  /** Is told of messages that cannot be read, in one line. Default: `console.warn`. */
  log?: (line: string) => void;
}

/**
 * A list of `ModelMessage`s that every provider takes: each call has a result, each result a call. The list itself is given
 * back where nothing changed, and its own message objects where these did not.
 */
export function repairMessages<M>(messages: readonly M[], options?: RepairMessagesOptions): M[];

/**
 * For `generateText`, `streamText` and agents of the AI SDK, mends the history before every step.
 *
 * ```ts
 * await generateText({ model, messages, tools, prepareStep: prepareStep() });
 * ```
 */
export function prepareStep(options?: RepairMessagesOptions): <M>(step: { messages: M[] }) => { messages: M[] };

/**
 * A middleware for `wrapLanguageModel`. The AI SDK refuses a call without a result before any middleware runs, so that
 * this mends results without a call only: use {@link prepareStep} where you can.
 */
export function repairMiddleware(options?: RepairMessagesOptions): {
  /** What the AI SDK 6 calls `v3` and 7 calls `v4`: the same to both. */
  specificationVersion: any;
  transformParams: <P extends { prompt: any[] }>(options: { params: P }) => Promise<P>;
};
