import type { Diagnostic, RepairOptions } from './index.js';

/** `profile` is that of the provider of the model, where it is known, unless it is given. */
export interface RepairMessagesOptions extends Omit<RepairOptions, 'from' | 'field' | 'join' | 'calls'> {
  /** Is told of messages that cannot be read, in one line. Default: `console.warn`. */
  log?: ((line: string) => void) | undefined;
  /** Is told of what was mended. */
  onRepair?: ((edits: Diagnostic[]) => void) | undefined;
}

/**
 * A list of `ModelMessage`s that every provider takes: each call has a result, each result a call. The list itself is given
 * back where nothing changed, and its own message objects and parts where these did not. Calls that wait for an approval or
 * that the provider ran need no result, and results at the start of a list without anything that a model wrote no call.
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
  transformParams: <P extends { prompt: unknown[] }>(options: { params: P }) => Promise<P>;
};
