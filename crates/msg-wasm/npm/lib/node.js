// In Node the module is read from its file when it is first needed.
import { readFileSync } from 'node:fs';
import { Engine } from './engine.js';

export function engineOf(url) {
  const load = () => new WebAssembly.Module(read(url));
  return new Engine(load, load);
}

function read(url) {
  let file = 'its place';
  try {
    file = url();
    return readFileSync(file);
  } catch (cause) {
    throw new Error(`the module is not at ${file}: leave msg-conversations out of the bundle, or await init(bytes) first`, { cause });
  }
}
