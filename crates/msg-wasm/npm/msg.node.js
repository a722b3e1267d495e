// Built for speed, where that of a page is built for its size.
import { engineOf } from './lib/node.js';

export const engine = engineOf(() => new URL('./wasm/node/msg.wasm', import.meta.url));
