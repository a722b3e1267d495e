import { engineOf } from './lib/web.js';

export const engine = engineOf(() => new URL('./wasm/sessions.wasm', import.meta.url));
