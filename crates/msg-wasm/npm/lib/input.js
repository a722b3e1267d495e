// What a caller hands in: text, bytes, or objects.

const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** JSON text in which half a surrogate pair is spelled as an escape: UTF-8 has no other way to keep it. */
export function wellFormed(text) {
  if (text.isWellFormed ? text.isWellFormed() : text.search(LONE) < 0) return text;
  return text.replace(LONE, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** Bytes of any kind of buffer, or nothing. */
export function bytesOf(value) {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return undefined;
}

export function kindOf(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? `an object of ${value.constructor?.name ?? 'no class'}` : `a ${typeof value}`;
}

/** A document as text or bytes, and which of the three it was. */
export function documentOf(document) {
  if (typeof document === 'string') return { input: wellFormed(document), kind: 'text' };
  const bytes = bytesOf(document);
  if (bytes) return { input: bytes, kind: 'bytes' };
  const json = typeof document === 'object' && document !== null ? JSON.stringify(document) : undefined;
  if (json === undefined) {
    throw new TypeError(`expected a string, bytes, a list of messages or a request, found ${kindOf(document)}`);
  }
  return { input: json, kind: 'objects' };
}
