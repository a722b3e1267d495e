import { engine } from '#msg';
import { documentFunctions } from './lib/documents.js';
import { streamFunctions } from './lib/streams.js';
import { toolFunctions } from './lib/tools.js';

/** Loads the module: needed in browsers and workers, harmless elsewhere. */
export const init = (from) => engine.init(from);

export const { check, isValid, repair, convert, fit, fitRequests, stats, cache, messages, key } = documentFunctions(engine);
export const { ToolParser, tools, toolEvents } = toolFunctions(engine);
export const { StreamAssembler, stream, streamEvents } = streamFunctions(engine);
export { FORMATS, PROFILES } from './lib/options.js';
export { CannotFit, InternalError, MsgError, OptionError, ParseError } from './lib/errors.js';
