// In Node the module is read from its file when it is first needed.
import { readFileSync } from 'node:fs';
import { Engine } from './engine.js';

export function engineOf(url) {
  const load = () => new WebAssembly.Module(readFileSync(url()));
  return new Engine(load, load);
}
