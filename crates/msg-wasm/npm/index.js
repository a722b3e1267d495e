import { engineOf, source } from '#engine';
import { documentFunctions } from './lib/documents.js';
import { streamFunctions } from './lib/streams.js';

const engine = engineOf('msg');

/** Loads the module: needed in browsers and workers, harmless elsewhere. */
export const init = (from) => engine.init(from ?? (engine.isReady ? undefined : source('msg')));

export const { check, isValid, repair, convert, fit, fitRequests, stats, cache, messages, key } = documentFunctions(engine);
export const { ToolParser, StreamAssembler, tools, stream, toolEvents, streamEvents } = streamFunctions(engine);
export { FORMATS, PROFILES } from './lib/options.js';
export { CannotFit, InternalError, MsgError, OptionError, ParseError } from './lib/errors.js';
