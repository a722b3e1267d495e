import type { Diagnostic, RepairOptions } from './index.js';

/** The default of `profile` is that of the provider of the model, if it is known. */
export interface RepairMessagesOptions extends Omit<RepairOptions, 'from' | 'field' | 'join' | 'calls'> {
  /** Receives one line about messages that cannot be read. Default: `console.warn`. */
  log?: ((line: string) => void) | undefined;
  /** Receives what was repaired. */
  onRepair?: ((edits: Diagnostic[]) => void) | undefined;
}

/**
 * Repairs a list of `ModelMessage`s so that each call has a result and each result a call. Returns the list itself if nothing
 * changed, and keeps message objects and parts that did not change. Calls that wait for an approval or that the provider ran
 * need no result. Results at the start of a list need no call if the list contains nothing that a model wrote.
 */
export function repairMessages<M>(messages: readonly M[], options?: RepairMessagesOptions): M[];

/**
 * Repairs the history before every step of `generateText`, `streamText` and agents of the AI SDK.
 *
 * ```ts
 * await generateText({ model, messages, tools, prepareStep: prepareStep() });
 * ```
 */
export function prepareStep(options?: RepairMessagesOptions): <M>(step: { messages: M[] }) => { messages: M[] };

/**
 * A middleware for `wrapLanguageModel`. The AI SDK refuses a call without a result before any middleware runs, so this
 * repairs only results without a call. Use {@link prepareStep} if you can.
 */
export function repairMiddleware(options?: RepairMessagesOptions): {
  /** What the AI SDK 6 calls `v3` and 7 calls `v4`: the same to both. */
  specificationVersion: any;
  transformParams: <P extends { prompt: unknown[] }>(options: { params: P }) => Promise<P>;
};
