// Each hook against the real library and an endpoint that refuses: an error without it, 200 with it.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, wrapLanguageModel } from 'ai';
import { mendingFetch } from 'msg-conversations/fetch';
import { prepareStep, repairMessages, repairMiddleware } from 'msg-conversations/ai-sdk';
import OpenAI from 'openai';
import { endpoint } from './endpoint.js';

const { url, statuses, stop } = await endpoint();
after(stop);
const baseURL = `${url}/v1`;
const [apiKey, maxRetries] = ['x', 0];

/** What happens without the hook and with it. */
async function both(name, run) {
  statuses.length = 0;
  await assert.rejects(run(undefined), `${name} without the hook`);
  assert.notEqual(statuses.at(-1), 200, name);
  await run(mendingFetch());
  assert.equal(statuses.at(-1), 200, name);
}

const CHAT = {
  unanswered: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'w', arguments: '{}' } }] }, { role: 'user', content: '?' }],
  orphan: [{ role: 'user', content: 'hi' }, { role: 'tool', tool_call_id: 'c9', content: '42' }, { role: 'user', content: '?' }],
};
const RESPONSES = {
  unanswered: [{ role: 'user', content: 'hi' }, { type: 'function_call', call_id: 'c1', name: 'w', arguments: '{}' }, { role: 'user', content: '?' }],
  orphan: [{ role: 'user', content: 'hi' }, { type: 'function_call_output', call_id: 'c9', output: '42' }, { role: 'user', content: '?' }],
};
const MESSAGES = {
  unanswered: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'w', input: {} }] }, { role: 'user', content: '?' }],
  orphan: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'ok' }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c9', content: '42' }, { type: 'text', text: '?' }] }],
};

for (const fault of ['unanswered', 'orphan']) {
  test(`the SDK of OpenAI, Chat Completions: ${fault}`, () =>
    both(fault, (fetch) => new OpenAI({ baseURL, apiKey, maxRetries, fetch }).chat.completions.create({ model: 'm', messages: CHAT[fault] })));
  test(`the SDK of OpenAI, Responses: ${fault}`, () =>
    both(fault, (fetch) => new OpenAI({ baseURL, apiKey, maxRetries, fetch }).responses.create({ model: 'm', input: RESPONSES[fault] })));
  test(`the SDK of Anthropic: ${fault}`, () =>
    both(fault, (fetch) => new Anthropic({ baseURL: url, apiKey, maxRetries, fetch }).messages.create({ model: 'm', max_tokens: 9, messages: MESSAGES[fault] })));
}

const MODEL_MESSAGES = {
  unanswered: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'w', input: {} }] }, { role: 'user', content: '?' }],
  orphan: [{ role: 'user', content: 'hi' }, { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c9', toolName: 'w', output: { type: 'text', value: '42' } }] }, { role: 'user', content: '?' }],
};
const MODELS = {
  chat: (fetch) => createOpenAI({ baseURL, apiKey, fetch }).chat('m'),
  responses: (fetch) => createOpenAI({ baseURL, apiKey, fetch }).responses('m'),
  anthropic: (fetch) => createAnthropic({ baseURL, apiKey, fetch })('claude-x'),
};

for (const [name, model] of Object.entries(MODELS)) {
  for (const [fault, messages] of Object.entries(MODEL_MESSAGES)) {
    test(`the AI SDK, ${name}: ${fault}`, async () => {
      const go = (given, more) => generateText({ model: given, messages, maxRetries, ...more });
      await assert.rejects(go(model()), 'without a hook');
      assert.equal((await go(model(), { prepareStep: prepareStep() })).text, 'ok');
      assert.equal((await go(model(), { messages: repairMessages(messages) })).text, 'ok');
      // The AI SDK refuses a call without a result before a middleware or a `fetch` sees it.
      if (fault === 'unanswered') return;
      assert.equal((await go(wrapLanguageModel({ model: model(), middleware: repairMiddleware() }))).text, 'ok');
      assert.equal((await go(model(mendingFetch()))).text, 'ok');
    });
  }
}

test('messages that did not change are the same objects', () => {
  const messages = MODEL_MESSAGES.unanswered;
  const repaired = repairMessages(messages);
  assert.equal(repaired[0], messages[0]);
  assert.equal(repaired.at(-1), messages.at(-1));
  assert.equal(repairMessages([messages[0]])[0], messages[0]);
});

test('fetch: a `Request`, bytes, and what is none of its business', async () => {
  const body = JSON.stringify({ model: 'm', messages: CHAT.orphan });
  const request = () => new Request(`${baseURL}/chat/completions`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  const mended = [];
  const fetch = mendingFetch({ onRepair: (edits) => mended.push(edits[0].code) });
  assert.equal((await globalThis.fetch(request())).status, 400);
  assert.equal((await fetch(request())).status, 200);
  assert.equal((await fetch(`${baseURL}/chat/completions`, { method: 'POST', body: new TextEncoder().encode(body) })).status, 200);
  assert.deepEqual(mended, ['chain::orphan-tool-result', 'chain::orphan-tool-result']);
  const seen = [];
  const spy = async (...args) => seen.push(args) && new Response('{}');
  const init = { method: 'POST', body: '{' };
  const lines = [];
  await mendingFetch({ log: (line) => lines.push(line) }, spy)(`${baseURL}/chat/completions`, init);
  assert.equal(seen[0][1], init);
  assert.equal(lines.length, 1);
  await mendingFetch({}, spy)(`${baseURL}/embeddings`, init);
  assert.equal(seen[1][1], init);
  await assert.rejects(mendingFetch({ nope: true }, spy)(`${baseURL}/chat/completions`, { method: 'POST', body }), /nope/);
});
