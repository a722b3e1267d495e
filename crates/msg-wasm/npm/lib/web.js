// In browsers and workers the module is fetched by `init()`, which takes another source too.
import { Engine } from './engine.js';

/** Spelled out, so that bundlers find the files. */
const files = {
  msg: () => new URL('../wasm/msg.wasm', import.meta.url),
  stream: () => new URL('../wasm/stream.wasm', import.meta.url),
};

export function engineOf() {
  return new Engine(() => {
    throw new Error('msg-conversations is not loaded: await init() first');
  });
}

/** Where the module is, if nothing else was said. */
export function source(name) {
  return fetch(files[name]());
}
