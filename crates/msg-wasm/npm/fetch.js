import { OptionError, repair } from './index.js';

/** The API of a request, by the end of its path, and the profile of its provider. */
const APIS = [
  [/\/chat\/completions$/, 'openai', undefined],
  [/\/responses$/, 'responses', undefined],
  [/\/messages$/, 'anthropic', 'anthropic'],
  [/:(?:stream)?generateContent$/i, 'gemini', 'gemini'],
  [/\/converse(?:-stream)?$/, 'bedrock', 'bedrock'],
];

const warn = (line) => console.warn(`msg-conversations: ${line}`);

/**
 * A `fetch` that mends the conversation of each request to a provider before it is sent. All else goes through as it is,
 * and so does a conversation that cannot be read.
 */
export function mendingFetch({ log = warn, onRepair, ...options } = {}, fetch = globalThis.fetch) {
  return async (resource, init) => {
    // Options of its own hide those of a `Request`.
    if (resource instanceof Request && init?.body === undefined) {
      return fetch(await mendedRequest(resource, init));
    }
    const url = resource instanceof Request ? resource.url : String(resource);
    const body = mended(url, init?.body);
    if (body === undefined) return fetch(resource, init);
    return fetch(resource, { ...init, body, headers: withoutLength(init.headers) });
  };

  async function mendedRequest(request, init) {
    const it = init === undefined ? request : new Request(request, init);
    if (it.method !== 'POST' || apiOf(it.url) === undefined) return it;
    const body = mended(it.url, await it.clone().text());
    return body === undefined ? it : new Request(it, { body, headers: withoutLength(it.headers) });
  }

  /** The mended body; nothing where it stays as it is. */
  function mended(url, body) {
    const api = apiOf(url);
    if (api === undefined || !(typeof body === 'string' || body instanceof Uint8Array)) return undefined;
    const [, from, profile] = api;
    let it;
    try {
      it = repair(body, { from, ...(profile && { profile }), ...options });
    } catch (error) {
      if (error instanceof OptionError) throw error;
      log(`the request is sent as it is: ${error.message}`);
      return undefined;
    }
    if (!it.changed) return undefined;
    onRepair?.(it.edits);
    return it.document;
  }
}

function apiOf(url) {
  const path = url.split(/[?#]/, 1)[0];
  return APIS.find(([end]) => end.test(path));
}

/** The length of the body is another one. */
function withoutLength(headers) {
  if (headers === undefined) return undefined;
  const res = new Headers(headers);
  res.delete('content-length');
  return res;
}
