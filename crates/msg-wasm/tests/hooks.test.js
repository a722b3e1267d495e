// Each hook against the real library and an endpoint that refuses: an error without it, 200 with it.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, jsonSchema, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { mendingFetch } from 'msg-conversations/fetch';
import { prepareStep, repairMessages, repairMiddleware } from 'msg-conversations/ai-sdk';
import OpenAI from 'openai';
import { endpoint } from './endpoint.js';

const { url, statuses, requests, stop } = await endpoint();
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

/** A request of the AI SDK without a hook and with each, and what the endpoint was sent. */
async function hooked(model, options) {
  const runs = [[model()], [model(), { prepareStep: prepareStep() }], [wrapLanguageModel({ model: model(), middleware: repairMiddleware() })], [model(mendingFetch())]];
  const sent = [];
  for (const [given, more] of runs) {
    assert.equal((await generateText({ model: given, maxRetries: 0, ...options, ...more })).text, 'ok');
    sent.push(requests.at(-1));
  }
  return sent;
}

const RESULT = { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c9', toolName: 'w', output: { type: 'text', value: '42' } }] };
for (const kept of [{ previousResponseId: 'resp_0' }, { conversation: 'conv_0' }]) {
  test(`results of calls that are kept at the provider: ${Object.keys(kept)}`, async () => {
    const sent = await hooked(MODELS.responses, { messages: [RESULT, { role: 'user', content: '?' }], providerOptions: { openai: kept } });
    for (const it of sent) assert.deepEqual(it, sent[0]);
    assert.equal(sent[0].input[0].type, 'function_call_output');
  });
}

test('items that are kept at the provider are references, and users in a row stay apart', async () => {
  const call = { type: 'tool-call', toolCallId: 'c9', toolName: 'w', input: {}, providerOptions: { openai: { itemId: 'fc_1' } } };
  const thought = { type: 'reasoning', text: '', providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x' } } };
  const messages = [{ role: 'user', content: 'a' }, { role: 'user', content: 'b' }, { role: 'assistant', content: [thought, call] }, RESULT, { role: 'user', content: '?' }];
  const sent = await hooked(MODELS.responses, { messages });
  for (const it of sent) assert.deepEqual(it, sent[0]);
  assert.ok(sent[0].input.some((it) => it.type === 'item_reference'));
  const chat = await hooked(MODELS.chat, { messages });
  for (const it of chat) assert.deepEqual(it, chat[0]);
  const claude = await hooked(MODELS.anthropic, { messages });
  for (const it of claude) assert.deepEqual(it, claude[0]);
});

for (const approved of [true, false]) {
  test(`a call that waits for an approval: ${approved}`, async () => {
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const of = (content, reason) => ({ content, finishReason: { unified: reason, raw: reason }, usage, warnings: [] });
    const calls = ['rm', 'ls'].map((toolName) => ({ type: 'tool-call', toolCallId: toolName, toolName, input: '{}' }));
    const prompts = [];
    const doGenerate = async ({ prompt }) => prompts.push(prompt) === 1 ? of(calls, 'tool-calls') : of([{ type: 'text', text: 'ok' }], 'stop');
    const ran = [];
    const withTool = (name, more) => tool({ inputSchema: jsonSchema({ type: 'object', properties: {} }), execute: async () => ran.push(name), ...more });
    const options = { model: new MockLanguageModelV4({ doGenerate }), tools: { rm: withTool('rm', { needsApproval: true }), ls: withTool('ls') }, prepareStep: prepareStep(), stopWhen: isStepCount(3) };
    const question = { role: 'user', content: 'x' };
    const asked = await generateText({ ...options, messages: [question] });
    const responses = asked.content.filter((it) => it.type === 'tool-approval-request').map(({ approvalId }) => ({ type: 'tool-approval-response', approvalId, approved }));
    const messages = [question, ...asked.response.messages, { role: 'tool', content: responses }];
    assert.equal(repairMessages(messages), messages);
    assert.equal((await generateText({ ...options, messages })).text, 'ok');
    assert.deepEqual(ran, approved ? ['ls', 'rm'] : ['ls']);
    const results = prompts.at(-1).filter((it) => it.role === 'tool').flatMap((it) => it.content);
    assert.deepEqual(results.map((it) => [it.toolCallId, it.output.type]), [['ls', 'json'], ['rm', approved ? 'json' : 'execution-denied']]);
  });
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
  const of = async (path, body, options, headers) => {
    const before = seen.length;
    await mendingFetch({ log: (line) => lines.push(line), ...options }, spy)(path, { method: 'POST', body: JSON.stringify(body), headers });
    const { body: sent } = seen[before][1];
    return JSON.parse(sent);
  };
  const named = { model: 'm', messages: ['anna', 'bob'].map((name) => ({ role: 'user', name, content: 'hi' })) };
  assert.deepEqual(await of('https://api.openai.com/v1/chat/completions', named), named);
  assert.deepEqual(await of('http://127.0.0.1/v1/chat/completions', named), named);
  lines.length = 0;
  assert.equal((await of('https://api.perplexity.ai/chat/completions', named)).messages.length, 1);
  assert.match(lines[0], /name/);
  const kept = { model: 'm', previous_response_id: 'r', input: [{ type: 'function_call_output', call_id: 'c1', output: '1' }] };
  assert.deepEqual(await of('https://api.openai.com/v1/responses', kept), kept);
  const broken = { messages: [{ role: 'user', content: [{ text: 'x' }] }, { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'w', input: {} } }] }, { role: 'user', content: [{ text: 'y' }] }] };
  const bedrock = 'https://bedrock-runtime.us-east-1.amazonaws.com/model/x/converse';
  assert.notDeepEqual(await of(bedrock, broken, {}, { authorization: 'Bearer x' }), broken);
  lines.length = 0;
  assert.deepEqual(await of(bedrock, broken, {}, { Authorization: 'AWS4-HMAC-SHA256 x' }), broken);
  assert.match(lines[0], /signed and sent as it is: chain::missing-tool-result/);
  lines.length = 0;
  assert.deepEqual(await of('https://api.openai.com/v1/threads/t/messages', CHAT.orphan[0]), CHAT.orphan[0]);
  assert.deepEqual(await of(`${baseURL}/chat/completions`, { messages: CHAT.orphan }, {}, { 'content-encoding': 'gzip' }), { messages: CHAT.orphan });
  assert.deepEqual(lines, []);
  const buffer = new TextEncoder().encode(body).buffer;
  assert.equal((await fetch(`${baseURL}/chat/completions`, { method: 'POST', body: buffer })).status, 200);
  await assert.rejects(mendingFetch({ nope: true }, spy)(`${baseURL}/chat/completions`, { method: 'POST', body }), /nope/);
});
