// Tool calls in model text.
import { Parser, whole } from './parser.js';

export function toolFunctions(engine) {
  class ToolParser {
    #parser;
    constructor(options) {
      this.#parser = new Parser(engine, 'tools', options);
    }
    feed(piece) {
      return this.#parser.feed(piece);
    }
    finish() {
      const { half, rest } = this.#parser.finish();
      return [...half, ...rest];
    }
    close() {
      this.#parser.close();
    }
  }

  const toolEvents = (options) => {
    const parser = new ToolParser(options);
    return new TransformStream({
      transform: (piece, out) => parser.feed(piece).forEach((it) => out.enqueue(it)),
      flush: (out) => parser.finish().forEach((it) => out.enqueue(it)),
    });
  };

  return { ToolParser, tools: whole(engine, 'tools'), toolEvents };
}
