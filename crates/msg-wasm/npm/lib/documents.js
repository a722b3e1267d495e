// The functions over whole documents.
import { ACTS } from './acts.js';
import { Engine } from './engine.js';
import { CannotFit, OptionError, ParseError } from './errors.js';
import { documentOf, kindOf } from './input.js';
import { optionsOf, spelled } from './names.js';

const strict = new TextDecoder('utf-8', { fatal: true });

/** Calls an act, with the error's sentence in the names of this package. */
function called(engine, act, options, { input, kind }, kept) {
  try {
    return engine.call(ACTS[act], options, input, kept);
  } catch (error) {
    if (error instanceof OptionError) error.message = spelled(error.message, options);
    if (error instanceof ParseError && kind === 'objects') throw withoutBytes(error);
    throw error;
  }
}

/** The error about objects, of which nobody has written the bytes. */
function withoutBytes({ diagnostic }) {
  const { start: _, end: __, line: ___, column: ____, ...at } = diagnostic.at ?? {};
  const { at: _____, ...rest } = diagnostic;
  const message = diagnostic.message.replace(/ at byte \d+(?=$|;)/, '');
  return new ParseError({ ...rest, message, ...(Object.keys(at).length > 0 && { at }) });
}

/** What the engine made of a document, in the kind of the caller's. */
function like(document, kind, answer) {
  if (answer.same || answer.document === undefined) return document;
  if (kind === 'bytes') {
    const bytes = answer.document.slice();
    return globalThis.Buffer?.isBuffer(document) ? Buffer.from(bytes.buffer) : bytes;
  }
  const text = Engine.text(answer.document);
  return kind === 'text' ? text : objects(text);
}

/** JSON as objects; JSON Lines, which sessions are, as a list. */
function objects(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const lines = text.split('\n').filter((it) => it.trim() !== '');
    if (lines.length < 2) throw error;
    return lines.map((it) => JSON.parse(it));
  }
}

/** The document in which elements that did not change are the caller's own objects. */
function withOwn(document, answer) {
  const marked = JSON.parse(Engine.text(answer.document));
  const { document: mended, kept } = marked;
  if (kept === undefined) return marked;
  for (const [name, places] of Object.entries(kept)) {
    const [list, own] = name === '' ? [mended, document] : [mended[name], document[name]];
    places.forEach((at, n) => {
      if (at !== null) list[n] = own[at];
    });
  }
  if (!Array.isArray(mended)) keepMembers(mended, document, kept);
  return mended;
}

/** Members that are not lists stay the caller's own too, with functions and all else that JSON does not have. */
function keepMembers(mended, document, kept) {
  for (const [name, own] of Object.entries(document)) {
    const isObject = typeof own === 'object' && own !== null && !(name in kept);
    if (isObject && JSON.stringify(own) === JSON.stringify(mended[name])) mended[name] = own;
    else if (typeof own === 'function') mended[name] = own;
  }
}

/** The JSON text of a request of a list, which one that is not JSON would end. */
function requestOf(request, at) {
  try {
    const { input, kind } = documentOf(request);
    if (kind === 'objects') return input;
    const text = typeof input === 'string' ? input : strict.decode(input.slice());
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new TypeError(`[${at}]: ${error.message}`, { cause: error });
  }
}

export function documentFunctions(engine) {
  const report = (act) => (document, options) =>
    JSON.parse(called(engine, act, optionsOf(act, options), documentOf(document)).report);

  /** An answer with a document of the caller's format. */
  const edited = (act, document, options) => {
    const given = documentOf(document);
    const isKept = given.kind === 'objects' && typeof document.toJSON !== 'function';
    const answer = called(engine, act, optionsOf(act, options), given, isKept);
    const isMarked = isKept && answer.document !== undefined;
    const mended = isMarked ? withOwn(document, answer) : like(document, given.kind, answer);
    return { mended, changed: !answer.same, line: JSON.parse(answer.report) };
  };

  const repair = (document, options) => {
    const { mended, changed, line } = edited('repair', document, options);
    return { document: mended, changed, edits: line.edits, remaining: line.remaining ?? [] };
  };

  const convert = (document, to, options) => {
    if (typeof to !== 'string') throw new TypeError(`expected the name of a format, found ${kindOf(to)}`);
    const given = documentOf(document);
    const members = { ...JSON.parse(optionsOf('convert', options) ?? '{}'), to };
    const answer = called(engine, 'convert', JSON.stringify(members), given);
    const line = JSON.parse(answer.report);
    return { document: like(document, given.kind, answer), edits: line.edits, remaining: line.remaining ?? [] };
  };

  const fit = (document, options) => {
    const { mended, line } = edited('fit', document, options);
    const { messages: _, ...rest } = line;
    const reason = rest.edits?.find((it) => it.severity === 'error')?.message;
    const fitted = { document: mended, status: rest.status, edits: rest.edits ?? [], reason, report: rest };
    if (rest.status === 'cannot-fit' || rest.fits === false) throw new CannotFit(fitted);
    return fitted;
  };

  const cache = (requests, options) => {
    if (!Array.isArray(requests)) throw new TypeError(`expected a list of requests, found ${kindOf(requests)}`);
    const input = `[${requests.map(requestOf).join(',')}]`;
    return JSON.parse(called(engine, 'cache', optionsOf('cache', options), { input, kind: 'text' }).report);
  };

  return {
    check: report('check'), isValid: report('isValid'), stats: report('stats'), messages: report('messages'),
    key: report('key'), fitRequests: report('fitRequests'), repair, convert, fit, cache,
  };
}
