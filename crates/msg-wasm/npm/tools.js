import { engineOf } from '#engine';
import { toolFunctions } from './lib/tools.js';

const engine = engineOf(() => new URL('./wasm/tools.wasm', import.meta.url));

/** Loads the module: needed in browsers and workers, harmless elsewhere. */
export const init = (from) => engine.init(from);

export const { ToolParser, tools, toolEvents } = toolFunctions(engine);
export { InternalError, MsgError, OptionError, ParseError } from './lib/errors.js';
