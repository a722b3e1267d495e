import type {
  CacheOptions, CheckOptions, ConvertOptions, Diagnostic, FitOptions, Format, KeyOptions, ListFormat, ObjectFormat, Profile,
  ReadOptions, RepairOptions, StatsOptions,
} from './lib/options.js';

export type * from './lib/options.js';
export { StreamAssembler, init, stream, streamEvents } from './stream.js';
export type { ModuleSource, StreamEvent, StreamEvents, Streamed } from './stream.js';
export { ToolParser, toolEvents, tools } from './tools.js';
export type { Segmented } from './tools.js';

/** A conversation as JSON text, as bytes, or as objects: a list of messages, or a request. Answers are of the same kind. */
export type Document = string | ArrayBufferView | ArrayBuffer | object;

/** The names of all formats. */
export const FORMATS: readonly Format[];
/** The names of all profiles. */
export const PROFILES: readonly Profile[];

/** What a check found. */
export interface Checked {
  /** No finding is an error. */
  ok: boolean;
  format: Format;
  messages: number;
  diagnostics: Diagnostic[];
}

/** A mended conversation. */
export interface Repaired<D> {
  /** The mended document; the document itself where nothing changed, and its own message objects where these did not. */
  document: D;
  changed: boolean;
  edits: Diagnostic[];
  /** The errors that no edit mends. */
  remaining: Diagnostic[];
}

/** A conversation in another format. */
export interface Converted<D> {
  document: D;
  /** What the other format cannot hold, and what was mended for a profile. */
  edits: Diagnostic[];
  remaining: Diagnostic[];
}

/** A conversation that fits its budget. */
export interface Fitted<D> {
  document: D;
  status: string;
  edits: Diagnostic[];
  /** Why it does not fit. */
  reason: string | undefined;
  /** What `msg fit --json` prints, without the messages. */
  report: Record<string, unknown>;
}

/** Sizes of a conversation: what `msg stats --json` prints. */
export interface Stats {
  counter: string;
  messages: number;
  bytes: number;
  tokens: number;
  [member: string]: unknown;
}

/** Where the prompt cache broke: what `msg cache --json` prints. */
export interface Cached {
  rows: Array<Record<string, unknown>>;
  totals: Record<string, unknown>;
}

/** What a model would be asked for, to make a conversation fit. */
export interface FitRequest {
  prompt: string[];
  target: number;
  max: number;
  [member: string]: unknown;
}

/** A message as a row. */
export interface MessageRow {
  index: number;
  role: string;
  [member: string]: unknown;
}

/** Every problem of a conversation, by the rules of the chain and, with `profile`, by those of a provider. */
export function check(document: Document, options?: CheckOptions): Checked;

/** Whether {@link check} finds no error; stops at the first. */
export function isValid(document: Document, options?: CheckOptions): boolean;

/** The smallest edit that makes a conversation well formed or, with `profile`, one that the provider takes. */
export function repair(document: string, options?: RepairOptions): Repaired<string>;
export function repair<D extends Document>(document: D, options?: RepairOptions): Repaired<D>;

/**
 * The conversation in another format: of objects a list of messages or an object, by the format, and with `request` or
 * `response` an object. `T` is what you know of it.
 */
export function convert(document: string, to: Format, options?: ConvertOptions): Converted<string>;
export function convert(document: ArrayBufferView | ArrayBuffer, to: Format, options?: ConvertOptions): Converted<Uint8Array>;
export function convert<T = Json>(document: object, to: ObjectFormat, options?: ConvertOptions): Converted<T>;
export function convert<T = Json>(document: object, to: Format, options: ConvertOptions & ({ request: true } | { response: true })): Converted<T>;
export function convert<T = Json[]>(document: object, to: ListFormat, options?: ConvertOptions & { request?: false | undefined; response?: false | undefined }): Converted<T>;
export function convert<T = Json | Json[]>(document: object, to: Format, options?: ConvertOptions): Converted<T>;
export function convert(document: Document, to: Format, options?: ConvertOptions): Converted<unknown>;

/** An object of JSON. */
export type Json = Record<string, unknown>;

/**
 * The conversation within a budget of tokens. No model is asked: `answers` are summaries that were written elsewhere, in
 * the order of {@link fitRequests}; a digest replaces what has none. Throws {@link CannotFit}.
 */
export function fit(document: string, options?: FitOptions & Answers): Fitted<string>;
export function fit<D extends Document>(document: D, options?: FitOptions & Answers): Fitted<D>;

/** Summaries that were written elsewhere; `null` for one that there is not. */
export interface Answers {
  answers?: ReadonlyArray<string | null> | undefined;
}

/** What a model would be asked for, to make the conversation fit. */
export function fitRequests(document: Document, options?: FitOptions): FitRequest[];

/** Messages, bytes and tokens, by role, section and tool. */
export function stats(document: Document, options?: StatsOptions): Stats;

/** Where the prompt cache broke in a list of requests, why, and what it cost. Entries of a log have `request` and `response`. */
export function cache(requests: ReadonlyArray<Document>, options?: CacheOptions): Cached;

/** One row for each message. */
export function messages(document: Document, options?: ReadOptions): MessageRow[];

/** 32 hexadecimal digits that conversations with the same content share, for deduplication. */
export function key(document: Document, options?: KeyOptions): string;

/** What every error of this package is. */
export class MsgError extends Error {
  /** Which error it is: a code of a diagnostic, `cli::bad-option` or `internal`. */
  readonly code: string | undefined;
}
/** A document that cannot be read. */
export class ParseError extends MsgError {
  readonly diagnostic: Diagnostic;
}
/** An option that does not exist, or a value that it cannot have. */
export class OptionError extends MsgError {}
/** Nothing that may be cut makes the conversation fit. */
export class CannotFit extends MsgError {
  readonly fitted: Fitted<Document>;
}
/** A bug in this package. The next call starts afresh; parsers that were open are lost. */
export class InternalError extends MsgError {}
