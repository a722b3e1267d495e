// In browsers and workers the module is fetched by `init()`, which takes another source too.
import { Engine } from './engine.js';

export function engineOf(url) {
  const early = () => {
    throw new Error('msg-conversations is not loaded: await init() first');
  };
  return new Engine(early, () => fetch(placeOf(url)));
}

/** Where a bundle that knows its own place has the module. */
function placeOf(url) {
  try {
    return url();
  } catch (cause) {
    throw new Error('this bundle does not know where the module is: the README says how bundlers find it, or what `init` takes', { cause });
  }
}
