import { engineOf } from './lib/web.js';

export const engine = engineOf(() => new URL('./wasm/msg.wasm', import.meta.url));
