import type { Diagnostic, StreamOptions, ToolsOptions } from './lib/options.js';

export type { Diagnostic, StreamOptions, ToolsOptions };
export { InternalError, MsgError, OptionError, ParseError } from './index.js';

/** What a module can be made of. */
export type ModuleSource = WebAssembly.Module | BufferSource | Response;

/** Loads the module. Browsers and workers need it once, Node loads by itself. Default: the file of this package. */
export function init(source?: ModuleSource | Promise<ModuleSource>): Promise<void>;

/** An event of a stream or of model text. `type` says which members it has: `text-delta`, `tool-call`, … */
export interface StreamEvent {
  type: string;
  [member: string]: unknown;
}

/** Model text that was read: what `msg tools --json` prints. */
export interface Segmented {
  segments: Array<Record<string, unknown>>;
  diagnostics: Diagnostic[];
  [member: string]: unknown;
}

/** A stream that was assembled: what `msg stream --json` prints. */
export interface Streamed {
  message?: Record<string, unknown>;
  finish_reason?: string | null;
  complete?: boolean;
  usage?: Record<string, unknown> | null;
  errors: Diagnostic[];
  warnings: Diagnostic[];
  events?: StreamEvent[];
  [member: string]: unknown;
}

/** Reads tool calls and thinking from model text while it arrives. Any cutting of the text gives the same events. */
export class ToolParser {
  constructor(options?: ToolsOptions);
  /** The events that a piece completes. `null` and `undefined` are read as no text. */
  feed(piece: string | ArrayBufferView | ArrayBuffer | null | undefined): StreamEvent[];
  /** The events that the end completes; nothing can be fed after it. */
  finish(): StreamEvent[];
  /** Drops what was fed. */
  close(): void;
}

/** Assembles a provider's stream into its final message. Any chunking gives the same message. */
export class StreamAssembler {
  constructor(options?: StreamOptions);
  /** The events that a chunk completes: of the body, or an event that an SDK parsed. */
  feed(chunk: string | ArrayBufferView | ArrayBuffer | object | null | undefined): StreamEvent[];
  /** The final message, and what was odd; `events` are those that the end completes. */
  finish(): Streamed;
  /** Drops what was fed. */
  close(): void;
}

/** Text, thinking and tool calls of a whole text of a model. */
export function tools(text: string | ArrayBufferView | ArrayBuffer, options?: ToolsOptions): Segmented;

/** The final message of a captured stream. */
export function stream(body: string | ArrayBufferView | ArrayBuffer, options?: StreamOptions): Streamed;

/** Model text in, events out: `textStream.pipeThrough(toolEvents())`. */
export function toolEvents(options?: ToolsOptions): TransformStream<string | Uint8Array, StreamEvent>;

/** The body of a response in, events out; `result` is what {@link StreamAssembler.finish} gives. */
export function streamEvents(
  options?: StreamOptions,
): TransformStream<string | Uint8Array, StreamEvent> & { readonly result: Promise<Streamed> };
