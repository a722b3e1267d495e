import { engineOf, source } from '#engine';
import { streamFunctions } from './lib/streams.js';

const engine = engineOf('stream');

/** Loads the module: needed in browsers and workers, harmless elsewhere. */
export const init = (from) => engine.init(from ?? (engine.isReady ? undefined : source('stream')));

export const { ToolParser, StreamAssembler, tools, stream, toolEvents, streamEvents } = streamFunctions(engine);
export { InternalError, MsgError, OptionError, ParseError } from './lib/errors.js';
