// What a caller hands in: text, bytes, or objects.

const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

export const isWellFormed = (text) => (text.isWellFormed ? text.isWellFormed() : text.search(LONE) < 0);

/** JSON text in which half a surrogate pair is spelled as an escape: UTF-8 has no other way to keep it. */
export function wellFormed(text) {
  if (isWellFormed(text)) return text;
  return text.replace(LONE, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

/** Bytes of any kind of buffer, or nothing. A buffer of another context, such as that of a test runner, is of no class of ours. */
export function bytesOf(value) {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value === 'object' && /^(?:Shared)?ArrayBuffer$/.test(tagOf(value))) return new Uint8Array(value);
  return undefined;
}

export function kindOf(value) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name = value.constructor?.name;
  return `an object of ${name && name !== 'Object' ? name : tagOf(value)}`;
}

/** What a value that JSON cannot hold becomes in JSON text: most documents with neither are not walked. */
const SUSPECT = /null|\{\}|\{"0":/;

/** The JSON text of objects; a TypeError with the place where a value would be lost in it. */
export function jsonOf(value, replacer) {
  let json;
  try {
    json = JSON.stringify(value, replacer);
  } catch (error) {
    if (error instanceof RangeError) throw new TypeError('the value is nested too deeply', { cause: error });
    if (!(error instanceof TypeError)) throw error;
    expectKept(value);
    expectNoCircle(value);
    throw error;
  }
  if (json !== undefined && SUSPECT.test(json)) expectKept(value);
  return json;
}

function expectKept(root) {
  const found = [[root, '']];
  const seen = new Set();
  for (let at = found.pop(); at !== undefined; at = found.pop()) {
    const [given, path] = at;
    const value = BOXES.some((it) => given instanceof it) ? given.valueOf() : given;
    if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${path || 'it'} is ${value}, which JSON cannot hold`);
    if (typeof value === 'bigint') throw new TypeError(`${path || 'it'} is ${kindOf(value)}, which JSON cannot hold`);
    if (value instanceof Date && Number.isNaN(value.getTime())) throw new TypeError(`${path || 'it'} is an invalid Date, which JSON cannot hold`);
    if (typeof value !== 'object' || value === null || typeof value.toJSON === 'function' || seen.has(value)) continue;
    seen.add(value);
    if (Array.isArray(value)) {
      for (const [n, it] of value.entries()) {
        if (['function', 'symbol', 'undefined'].includes(typeof it)) throw new TypeError(`${path}[${n}] is ${kindOf(it)}, which JSON cannot hold`);
        found.push([it, `${path}[${n}]`]);
      }
    } else if (Symbol.iterator in value || Symbol.asyncIterator in value || isLost(value)) {
      throw new TypeError(`${path || 'it'} is ${kindOf(value)}, which JSON cannot hold`);
    } else {
      for (const name of Object.keys(value)) found.push([value[name], path === '' ? name : `${path}.${name}`]);
    }
  }
}

/** A TypeError with the place where a value leads back to one that it is in. */
function expectNoCircle(root) {
  const places = new Map();
  const found = [[root, '']];
  while (found.length > 0) {
    const [value, path] = found.at(-1);
    // It is there a second time when all that it holds was seen.
    if (places.get(value) === path) {
      places.delete(value);
      found.pop();
      continue;
    }
    const outer = places.get(value);
    if (outer !== undefined) throw new TypeError(`${path} leads back to ${outer || 'the whole'}: JSON cannot hold a circle`);
    places.set(value, path);
    const members = Array.isArray(value) ? value.map((it, n) => [it, `${path}[${n}]`]) : Object.keys(value).map((name) => [value[name], path === '' ? name : `${path}.${name}`]);
    found.push(...members.filter(([it]) => typeof it === 'object' && it !== null && typeof it.toJSON !== 'function'));
  }
}

const BOXES = [String, Number, Boolean, BigInt];

/** Whether an object says what it is in other ways than by members. Objects of any context have a prototype without one. */
function isLost(value) {
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return value instanceof Promise || value instanceof Error || (!isPlain && Object.keys(value).length === 0);
}

/** Objects that hold a document and are none, and how to get it. */
const ADVICE = [
  [(it) => it instanceof String, ': `it.toString()` is one'],
  [(it) => typeof it.then === 'function', ': await it first'],
  [(it) => typeof it.text === 'function' && typeof it.arrayBuffer === 'function', ': `await it.text()` first'],
  [(it) => Symbol.asyncIterator in it || typeof it.getReader === 'function', ': collect its items first, in a list'],
  [(it) => Symbol.iterator in it && !Array.isArray(it) && typeof it.toJSON !== 'function', ': `Array.from(it)` is a list'],
];

/** How to get what an object holds; nothing where it is not one of these. */
export function adviceOn(value) {
  return typeof value === 'object' && value !== null ? ADVICE.find(([is]) => is(value))?.[1] : undefined;
}

/** A document as text or bytes, and which of the three it was. */
export function documentOf(document) {
  if (typeof document === 'string') return { input: wellFormed(document), kind: 'text' };
  const bytes = bytesOf(document);
  if (bytes) return { input: bytes, kind: 'bytes' };
  const isObject = typeof document === 'object' && document !== null;
  const advice = adviceOn(document);
  const json = isObject && advice === undefined ? jsonOf(document) : undefined;
  if (json === undefined) {
    throw new TypeError(`expected a string, bytes, a list of messages or a request, found ${kindOf(document)}${advice ?? ''}`);
  }
  return { input: json, kind: 'objects' };
}
