// What is fed in pieces: tool calls in model text, and streams of providers.
import { ACTS } from './acts.js';
import { InternalError, OptionError } from './errors.js';
import { adviceOn, bytesOf, kindOf } from './input.js';
import { optionsOf, spelled } from './names.js';

/** A parser of the engine, which is closed when the object is collected. */
export class Parser {
  #engine;
  #number;
  #generation;
  #half = '';
  #closed;
  static #registry = new FinalizationRegistry(({ engine, number, generation }) => engine.close(number, generation));

  constructor(engine, act, options) {
    this.#engine = engine;
    const given = optionsOf(act, options);
    try {
      this.#number = engine.open(ACTS[act], given);
    } catch (error) {
      if (error instanceof OptionError) error.message = spelled(error.message, given);
      throw error;
    }
    this.#generation = engine.generation;
    Parser.#registry.register(this, { engine, number: this.#number, generation: this.#generation }, this);
  }

  /** The events that a piece completes: a string, bytes, or nothing. */
  feed(piece) {
    this.#expectOpen();
    if (piece === null || piece === undefined || piece === '') return [];
    if (typeof piece !== 'string') {
      const bytes = this.#bytes(piece);
      const half = this.#takeHalf();
      return [...half, ...JSON.parse(this.#engine.feed(this.#number, bytes))];
    }
    const text = this.#half + piece;
    // The second half of the last character may be in the next piece.
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#half = isHalf ? text[text.length - 1] : '';
    const whole = isHalf ? text.slice(0, -1) : text;
    return whole === '' ? [] : JSON.parse(this.#engine.feed(this.#number, whole));
  }

  /** What the end completes; nothing can be fed after it. */
  finish() {
    this.#expectOpen();
    const half = this.#takeHalf();
    this.#close();
    return { half, rest: JSON.parse(this.#engine.finish(this.#number)) };
  }

  /** Drops what was fed. */
  close() {
    if (this.#closed) return;
    this.#close();
    this.#engine.close(this.#number, this.#generation);
  }

  /** The events of a half character that nothing completes. */
  #takeHalf() {
    const half = this.#half;
    this.#half = '';
    return half === '' ? [] : JSON.parse(this.#engine.feed(this.#number, half));
  }

  #bytes(piece) {
    const bytes = bytesOf(piece);
    if (bytes === undefined) throw new TypeError(`expected a string or bytes, found ${kindOf(piece)}${adviceOn(piece) ?? ''}`);
    return bytes;
  }

  #close() {
    this.#closed = true;
    Parser.#registry.unregister(this);
  }

  #expectOpen() {
    if (this.#closed) throw new Error('finished: make a new parser for the next text');
    if (this.#generation !== this.#engine.generation) throw new InternalError('the parser was lost with its instance');
  }
}

/** A function over a whole text, which answers with a report. */
export const whole = (engine, act) => (text, options) => {
  const input = typeof text === 'string' ? text : bytesOf(text);
  if (input === undefined) {
    const isEvents = act === 'stream' && typeof text === 'object' && text !== null;
    const advice = adviceOn(text) ?? (isEvents ? ': `new StreamAssembler()` takes events' : '');
    throw new TypeError(`expected a string or bytes, found ${kindOf(text)}${advice}`);
  }
  const given = optionsOf(act, options);
  try {
    return JSON.parse(engine.call(ACTS[act], given, input).report);
  } catch (error) {
    if (error instanceof OptionError) error.message = spelled(error.message, given);
    throw error;
  }
};
