import { engineOf } from '#engine';
import { streamFunctions } from './lib/streams.js';

const engine = engineOf(() => new URL('./wasm/stream.wasm', import.meta.url));

/** Loads the module: needed in browsers and workers, harmless elsewhere. */
export const init = (from) => engine.init(from);

export const { StreamAssembler, stream, streamEvents } = streamFunctions(engine);
export { InternalError, MsgError, OptionError, ParseError } from './lib/errors.js';
