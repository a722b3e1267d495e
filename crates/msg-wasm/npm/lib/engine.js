// The WebAssembly instance: texts in, answers out. `src/state.rs` is its other side.
import { InternalError, OptionError, ParseError } from './errors.js';
import { bytesOf, kindOf } from './input.js';

const REPORT = 0, DOCUMENT = 1, SAME = 2, REFUSED = 3, BAD_OPTION = 4;
/** Above this length a text is encoded first, so that no room of three times its size is asked for. */
const LARGE = 1 << 20;
const MAX_OPTIONS = 64;

const encoder = new TextEncoder();
// A byte order mark is part of a document.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class Engine {
  #module;
  #load;
  #source;
  #loading;
  #exports;
  #options = new Map();
  /** Counts instances: parsers of a lost one are lost too. */
  generation = 0;

  /** `load` gives the module synchronously, where that is possible; `source` what `init` takes if it is given nothing. */
  constructor(load, source) {
    this.#load = load;
    this.#source = source;
  }

  /** Takes a compiled module, or what one is compiled of. Without a source it loads once, however often it is asked. */
  async init(source) {
    if (source !== undefined && source !== null) return this.#take(source);
    if (this.#module) return;
    this.#loading ??= (async () => this.#take(this.#source()))().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #take(source) {
    const it = await source;
    if (it instanceof WebAssembly.Module) this.#module = it;
    else if (typeof Response === 'function' && it instanceof Response) this.#module = await compiled(it);
    else if (bytesOf(it)) this.#module = await WebAssembly.compile(it);
    else throw new TypeError(`expected a WebAssembly.Module, bytes or a Response, found ${kindOf(it)}${typeof it === 'string' || it instanceof URL ? ': `fetch` it first' : ''}`);
    this.#lose();
  }

  /**
   * Calls an act. `input` is a string or bytes; with `kept` the answer names the elements that did not change.
   * Gives `{ report, document, same }`: the report as JSON text, the document as bytes of the module.
   */
  call(act, options, input, kept = false) {
    return this.#guarded(() => {
      const number = this.options(act, options);
      const length = this.#write(input);
      const status = this.#exports.call(number, length, kept ? 1 : 0);
      const report = this.#report(status);
      return { report, same: status === SAME, document: status === DOCUMENT ? this.#document() : undefined };
    });
  }

  /** The number of options that were understood. */
  options(act, options = '{}') {
    const key = act + options;
    const known = this.#options.get(key);
    if (known !== undefined && this.#exports) return known;
    const exports = this.#instance();
    if (this.#options.size >= MAX_OPTIONS) {
      exports.forget();
      this.#options.clear();
    }
    const number = exports.options(act, this.#write(options));
    if (number === 0) this.#report(BAD_OPTION);
    this.#options.set(key, number);
    return number;
  }

  open(act, options) {
    return this.#guarded(() => this.#instance() && this.#exports.open(this.options(act, options)));
  }

  feed(parser, input) {
    return this.#guarded(() => this.#report(this.#exports.feed(parser, this.#write(input))));
  }

  finish(parser) {
    return this.#guarded(() => this.#report(this.#exports.finish(parser)));
  }

  close(parser, generation) {
    if (this.#exports && generation === this.generation) this.#exports.close(parser);
  }

  /** The answer's document as text, or as bytes of its own. */
  static text(bytes) {
    return decoder.decode(bytes);
  }

  #instance() {
    if (this.#exports) return this.#exports;
    this.#module ??= this.#load();
    this.#exports = new WebAssembly.Instance(this.#module, {}).exports;
    return this.#exports;
  }

  /** A trap leaves the instance in any state: it is dropped, and the next call makes another. */
  #guarded(act) {
    try {
      return act();
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
        this.#lose();
        throw new InternalError('a bug in msg-conversations, or no memory left: please report it', { cause: error });
      }
      throw error;
    }
  }

  #lose() {
    this.#exports = undefined;
    this.#options.clear();
    this.generation += 1;
  }

  #write(input) {
    const exports = this.#instance();
    if (typeof input === 'string' && input.length <= LARGE) {
      const most = input.length * 3;
      const at = exports.input(most) >>> 0;
      return encoder.encodeInto(input, new Uint8Array(exports.memory.buffer, at, most)).written;
    }
    const bytes = typeof input === 'string' ? encoder.encode(input) : input;
    const at = exports.input(bytes.length) >>> 0;
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    return bytes.length;
  }

  #report(status) {
    const exports = this.#exports;
    const report = decoder.decode(new Uint8Array(exports.memory.buffer, exports.report() >>> 0, exports.report_len() >>> 0));
    if (status === REPORT || status === DOCUMENT || status === SAME) return report;
    if (status === REFUSED) throw new ParseError(JSON.parse(report).error);
    if (status === BAD_OPTION) {
      const { message, code } = JSON.parse(report).error;
      throw new OptionError(message, code);
    }
    throw new InternalError('the parser is not known');
  }

  /** A view that the next call overwrites. */
  #document() {
    const exports = this.#exports;
    return new Uint8Array(exports.memory.buffer, exports.document() >>> 0, exports.document_len() >>> 0);
  }
}

/** Compiles while it downloads, where the server names the type of the file. */
async function compiled(response) {
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || type.startsWith('text/html')) {
    const found = response.ok ? 'a page' : `status ${response.status}`;
    throw new Error(`the module is not at ${response.url} (${found}): the README says how bundlers find it, or what \`init\` takes`);
  }
  if (WebAssembly.compileStreaming && type.startsWith('application/wasm')) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
