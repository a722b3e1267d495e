// In browsers and workers the module is fetched by `init()`, which takes another source too.
import { Engine } from './engine.js';

export function engineOf(url) {
  const early = () => {
    throw new Error('msg-conversations is not loaded: await init() first');
  };
  return new Engine(early, () => fetch(url()));
}
