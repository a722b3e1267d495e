// Streams of providers.
import { adviceOn, bytesOf, jsonOf, kindOf } from './input.js';
import { Parser, whole } from './parser.js';

/** The JSON text of an event that an SDK parsed. */
function eventOf(chunk) {
  const advice = adviceOn(chunk);
  const json = advice === undefined && !Array.isArray(chunk) ? jsonOf(chunk) : undefined;
  if (json?.startsWith('{')) return json;
  throw new TypeError(`expected a string, bytes or an event, found ${kindOf(chunk)}${advice ?? ''}`);
}

export function streamFunctions(engine) {
  class StreamAssembler {
    #parser;
    constructor(options) {
      this.#parser = new Parser(engine, 'stream', options);
    }
    feed(chunk) {
      const isObject = typeof chunk === 'object' && chunk !== null && bytesOf(chunk) === undefined;
      return this.#parser.feed(isObject ? `data: ${eventOf(chunk)}\n\n` : chunk);
    }
    finish() {
      const { half, rest } = this.#parser.finish();
      if (half.length > 0) rest.events = [...half, ...(rest.events ?? [])];
      return rest;
    }
    close() {
      this.#parser.close();
    }
  }

  const streamEvents = (options) => {
    const assembler = new StreamAssembler(options);
    let settle;
    let fail;
    const result = new Promise((resolve, reject) => {
      settle = resolve;
      fail = reject;
    });
    // A caller who does not ask for the result needs no handler for its failure.
    result.catch(() => {});
    const end = () => {
      const { events = [], ...rest } = assembler.finish();
      settle(rest);
      return events;
    };
    return { ...pair((chunk) => assembler.feed(chunk), end, fail), result };
  };

  return { StreamAssembler, stream: whole(engine, 'stream'), streamEvents };
}

/**
 * Two ends of a stream. Unlike a `TransformStream` it is told in every engine when either end is given up: `end` is called
 * once, whether the stream ends or is cut, and `fail` where one of the two throws.
 */
function pair(feed, end, fail) {
  let input;
  let output;
  let wanted;
  let isOver = false;
  const over = () => {
    if (isOver) return [];
    isOver = true;
    return end();
  };
  const put = (act) => {
    try {
      const events = act();
      events.forEach((it) => output.enqueue(it));
      return events.length;
    } catch (error) {
      isOver = true;
      fail(error);
      output.error(error);
      throw error;
    }
  };
  const readable = new ReadableStream({
    start: (controller) => void (output = controller),
    pull: () => wanted?.(),
    cancel(reason) {
      over();
      wanted?.();
      input.error(reason ?? new TypeError('the events were cancelled'));
    },
  }, { highWaterMark: 0 });
  const writable = new WritableStream({
    start: (controller) => void (input = controller),
    write(chunk) {
      const isWaiting = put(() => feed(chunk)) > 0 && output.desiredSize <= 0;
      // The next chunk is taken once the events of this one were.
      if (isWaiting && !isOver) return new Promise((resolve) => (wanted = resolve));
    },
    close() {
      put(over);
      output.close();
    },
    abort(reason) {
      over();
      output.error(reason);
    },
  });
  return { readable, writable };
}
