// In Node the module is read from its file when it is first needed.
import { readFileSync } from 'node:fs';
import { Engine } from './engine.js';

const file = (name) => new URL(`../wasm/${name}.wasm`, import.meta.url);

export function engineOf(name) {
  return new Engine(() => new WebAssembly.Module(readFileSync(file(name))));
}

export function source() {
  return undefined;
}
