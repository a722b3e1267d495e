import { OptionError, repair } from './index.js';
import { bytesOf } from './lib/input.js';

/** The API of a request by the end of its path, and the profile of its provider. A thread of the Assistants API has messages too. */
const APIS = [
  [/\/chat\/completions$/, 'openai', 'openai'],
  [/\/responses$/, 'responses', 'openai-responses'],
  [/(?<!\/threads\/[^/]*)\/messages$/, 'anthropic', 'anthropic'],
  [/:(?:stream)?generateContent$/i, 'gemini', 'gemini'],
  [/\/converse(?:-stream)?$/, 'bedrock', 'bedrock'],
];
/** The profiles of those who have Chat Completions of their own, by the end of the host. */
const HOSTS = [
  [/\.azure\.com$/, 'azure'], [/\.mistral\.ai$/, 'mistral'], [/\.deepseek\.com$/, 'deepseek'], [/\.moonshot\.(?:ai|cn)$/, 'kimi'],
  [/\.bigmodel\.cn$|\.z\.ai$/, 'glm'], [/^openrouter\.ai$/, 'openrouter'], [/\.groq\.com$/, 'groq'], [/\.aliyuncs\.com$/, 'qwen'],
  [/\.cohere\.(?:ai|com)$/, 'cohere'], [/\.fireworks\.ai$/, 'fireworks'], [/\.together\.(?:ai|xyz)$/, 'together'], [/\.minimax(?:i\.com|\.io)$/, 'minimax'],
  [/\.githubcopilot\.com$/, 'copilot'], [/\.perplexity\.ai$/, 'perplexity'],
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
    const body = mended(url, init?.body, init?.headers);
    if (body === undefined) return fetch(resource, init);
    return fetch(resource, { ...init, body, headers: withoutLength(init.headers) });
  };

  async function mendedRequest(request, init) {
    const it = init === undefined ? request : new Request(request, init);
    if (it.method !== 'POST' || apiOf(it.url) === undefined) return it;
    const body = mended(it.url, await it.clone().text(), it.headers);
    return body === undefined ? it : new Request(it, { body, headers: withoutLength(it.headers) });
  }

  /** What a mend leaves out is not left out in silence. */
  function logLosses(edits) {
    const lost = edits.filter(({ code }) => code.startsWith('convert::lost'));
    if (lost.length > 0) log(`the request was mended: ${lost.map((it) => it.message).join('; ')}`);
  }

  /** The mended body; nothing where it stays as it is. */
  function mended(url, body, headers) {
    const api = apiOf(url);
    const input = typeof body === 'string' ? body : bytesOf(body);
    if (api === undefined || input === undefined || headerOf(headers, 'content-encoding')) return undefined;
    const [from, profile] = api;
    let it;
    try {
      it = repair(input, { from, ...options, profile: options.profile ?? profile });
    } catch (error) {
      if (error instanceof OptionError) throw error;
      log(`the request is sent as it is: ${error.message}`);
      return undefined;
    }
    if (!it.changed) return undefined;
    if (headerOf(headers, 'authorization')?.startsWith('AWS4-')) {
      log(`the request is signed and sent as it is: ${it.edits.map(({ code }) => code).join(', ')}`);
      return undefined;
    }
    (onRepair ?? logLosses)(it.edits);
    return it.document;
  }
}

/** The format of a request and the profile that it is mended for; nothing where it is not one of these. */
function apiOf(url) {
  const path = url.split(/[?#]/, 1)[0];
  const [, format, profile] = APIS.find(([end]) => end.test(path)) ?? [];
  if (format === undefined) return undefined;
  const host = /^https?:\/\/(?:[^/@]*@)?([^/:]+)/i.exec(path)?.[1].toLowerCase();
  return [format, (format === 'openai' && host && HOSTS.find(([end]) => end.test(host))?.[1]) || profile];
}

/** The value of a header in any form in which headers are given. */
function headerOf(headers, name) {
  return headers === undefined || headers === null ? undefined : new Headers(headers).get(name) ?? undefined;
}

/** The length of the body is another one. */
function withoutLength(headers) {
  if (headers === undefined) return undefined;
  const res = new Headers(headers);
  res.delete('content-length');
  return res;
}
