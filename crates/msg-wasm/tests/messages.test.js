// What the hooks of the AI SDK give back: a sound history is the caller's own object, and of a broken one every value
// that is not broken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROFILES } from 'msg-conversations';
import { prepareStep, repairMessages, repairMiddleware } from 'msg-conversations/ai-sdk';

class Place {
  constructor(x) {
    this.x = x;
  }
}
const around = {};
around.self = around;
/** Values of which JSON has none, or not as they are. */
const ODD = { big: 10n, date: new Date(0), bad: new Date(NaN), error: new Error('x'), none: undefined, place: new Place(1), around, map: new Map([[1, 2]]), call: () => 1, nan: NaN, bytes: new Uint8Array([1]), url: new URL('https://example.org/') };

const text = (it, more) => ({ type: 'text', text: it, ...more });
const call = (id, more) => ({ type: 'tool-call', toolCallId: id, toolName: 'w', input: { city: 'Zürich' }, ...more });
const result = (id, output = { type: 'text', value: 'r' }, more) => ({ type: 'tool-result', toolCallId: id, toolName: 'w', output, ...more });
const user = (content, more) => ({ role: 'user', content, ...more });
const assistant = (...content) => ({ role: 'assistant', content });
const tool = (...content) => ({ role: 'tool', content });
const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** A history with every kind of part, in the order that all providers take. */
const SOUND = [
  { role: 'system', content: 'be kind [object Object] ⟦0⟧', providerOptions: cached },
  user([
    text('⟦1⟧', { providerOptions: cached }),
    { type: 'image', image: new Uint8Array([1, 2]), mediaType: 'image/png' },
    { type: 'image', image: new URL('https://example.org/a.png') },
    { type: 'file', data: Buffer.from('x'), mediaType: 'text/plain', filename: 'a.txt' },
    { type: 'file', data: { type: 'url', url: new URL('https://example.org/b') }, mediaType: 'application/pdf' },
    { type: 'file', data: new ArrayBuffer(2), mediaType: 'audio/wav' },
    { type: 'data-weather', data: ODD },
  ], { id: 'm1', providerOptions: undefined }),
  assistant(
    { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 's' }, openai: { itemId: 'rs_1', reasoningEncryptedContent: 'e' } } },
    text('let me look'),
    { type: 'reasoning-file', data: new Uint8Array(2), mediaType: 'image/png' },
    { type: 'custom', kind: 'x.y', providerOptions: { x: ODD } },
    call('srv1', { providerExecuted: true, toolName: 'web_search' }),
    result('srv1', { type: 'json', value: ODD }, { toolName: 'web_search' }),
    call('call00001', { input: ODD, dynamic: true, providerOptions: { google: { thoughtSignature: 't' } } }),
    call('call00002', { providerOptions: { openai: { itemId: 'fc_1' } } }),
    call('call00003'),
    { type: 'tool-approval-request', approvalId: 'a3', toolCallId: 'call00003', signature: 'h' },
    { type: 'source', sourceType: 'url', id: 's', url: 'https://example.org' },
  ),
  tool(
    { type: 'tool-approval-response', approvalId: 'a3', approved: false, reason: 'no' },
    result('call00001', { type: 'content', value: [text('t'), { type: 'media', data: 'AA==', mediaType: 'image/png' }, { type: 'file-data', data: 'AA==', mediaType: 'text/plain' }] }, { providerOptions: cached }),
    result('call00002', { type: 'json', value: { rows: [1, { a: undefined }], odd: ODD } }),
    result('call00003', { type: 'execution-denied', reason: 'no' }),
  ),
  assistant(text('so it is')),
  { role: 'user', content: 'and?' },
];
const LOST = assistant(text('wait'), { type: 'reasoning', text: 'oh', providerOptions: { anthropic: { signature: 'z' } } }, call('call0lost', { input: ODD }));

const parts = (messages) => messages.flatMap((it) => (Array.isArray(it.content) ? it.content : [it]));
const noLine = { log: (line) => assert.fail(line) };
const codes = (options) => {
  const seen = [];
  return [seen, { ...noLine, onRepair: (edits) => seen.push(...edits.map((it) => it.code)), ...options }];
};

test('a sound history is the caller\'s own, for every profile', () => {
  // Templates of open models take one call at a time.
  for (const profile of [undefined, ...PROFILES].filter((it) => it !== 'template')) {
    const [seen, options] = codes({ profile });
    assert.equal(repairMessages(SOUND, options), SOUND, profile);
    assert.deepEqual(seen, [], profile);
  }
});

test('messages of one role in a row are not made one where the AI SDK joins them', async () => {
  const list = [
    { role: 'system', content: 'a' }, { role: 'system', content: 'b', providerOptions: cached },
    user('x', { name: 'anna' }), user([text('y')], { name: 'bob', providerOptions: cached }), assistant(text('1')), assistant(text('2')), user('z'), user('w'),
  ];
  assert.equal(repairMessages(list, noLine), list);
  assert.equal(repairMessages(list, { ...noLine, profile: 'anthropic' }), list);
  for (const provider of ['openai.chat', 'openai.responses', 'anthropic.messages', 'amazon-bedrock', 'mistral.chat', 'google.generative-ai', 'deepseek.chat', 'elsewhere']) {
    const model = { provider };
    assert.equal((await prepareStep(noLine)({ messages: list, steps: [], model })).messages, list, provider);
    const params = { prompt: list };
    assert.equal(await repairMiddleware(noLine).transformParams({ params, model }), params, provider);
  }
});

test('of a broken history each part that is not broken is the caller\'s own', () => {
  for (const profile of [undefined, ...PROFILES]) {
    const [seen, options] = codes({ profile });
    const broken = [...SOUND, LOST, user([{ type: 'file', data: new Uint8Array(1), mediaType: 'image/png' }]), tool(result('c9'))];
    const mended = repairMessages(broken, options);
    assert.ok(seen.includes('chain::missing-tool-result') && seen.includes('chain::orphan-tool-result'), `${profile}: ${seen}`);
    const found = new Set(parts(mended));
    for (const part of parts(broken.slice(0, -1))) {
      const isIn = found.has(part) || [...found].some((it) => it.toolCallId !== undefined && it.input === part.input && it.output === part.output);
      assert.ok(isIn, `${profile}: ${part.type ?? part.role}`);
    }
    assert.equal(mended.some((it) => it.role === 'tool' && it.content.some((part) => part.toolCallId === 'c9')), false);
    assert.deepEqual(repairMessages(mended, options), mended, profile);
  }
});

test('a system prompt amid the messages is moved, never written anew', () => {
  const late = { role: 'system', content: 'be brief', providerOptions: cached };
  const list = [{ role: 'system', content: 'be kind' }, user('x'), late, user('y')];
  const mended = repairMessages(list, noLine);
  assert.deepEqual(mended, [list[0], late, list[1], list[3]]);
  assert.equal(mended[1], late);
  assert.deepEqual(repairMessages(list, { ...noLine, profile: 'gemini' }), [list[0], list[1], { ...late, role: 'user', content: [text('be brief')] }, list[3]]);
});

test('messages that have to be one keep their options, and differing names are kept apart', () => {
  const strict = { ...noLine, profile: 'template' };
  const list = [user('x', { id: 'm1', providerOptions: cached }), user([text('y', { providerOptions: { anthropic: { a: 1 }, x: { b: 2 } } })], { providerOptions: { anthropic: { c: 3 } } })];
  assert.deepEqual(repairMessages(list, strict), [{
    role: 'user',
    id: 'm1',
    content: [text('x', { providerOptions: cached }), text('\n\ny', { providerOptions: { anthropic: { a: 1, c: 3 }, x: { b: 2 } } })],
  }]);
  const same = [user('x', { providerOptions: cached }), user('y', { providerOptions: { ...cached } })];
  assert.deepEqual(repairMessages(same, strict), [{ ...same[0], content: [text('x'), text('\n\ny')] }]);
  assert.deepEqual(repairMessages([user('x', { name: 'anna' }), user('y', { name: 'bob' })], strict).length, 2);
  const system = [{ role: 'system', content: 'a' }, user('x'), { role: 'system', content: 'b', providerOptions: cached }, assistant(text('y'))];
  assert.deepEqual(repairMessages(system, strict)[0], { role: 'system', content: 'a\n\nb', providerOptions: cached });
});

test('what is left of a message keeps its place and its members', () => {
  const approval = { type: 'tool-approval-response', approvalId: 'a1', approved: true, providerExecuted: true };
  const message = { ...tool(approval, result('c1'), result('c9'), result('c1', { type: 'text', value: 'again' })), id: 't', providerOptions: cached };
  const [, spoken, mended] = repairMessages([user('x'), assistant(call('c1')), message], { ...noLine, orphans: 'drop' });
  assert.deepEqual(spoken.content, [call('c1')]);
  assert.deepEqual(mended, { ...message, content: [message.content[3], approval] });
  const lone = tool(approval);
  const list = [user('x'), assistant(call('srv', { providerExecuted: true })), lone, user('y'), tool(result('c9'))];
  assert.deepEqual(repairMessages(list, noLine), list.slice(0, 4));
  assert.deepEqual(repairMessages([...list.slice(0, 4), tool(result('c9'), approval)], noLine), [...list.slice(0, 4), lone]);
});

test('a result of a call that the provider ran stays in its message', () => {
  const list = [user('x'), assistant(call('srv', { providerExecuted: true }), call('c1')), tool(result('srv'), result('c1')), user('y'), tool(result('c9'))];
  const mended = repairMessages(list, noLine);
  assert.deepEqual(mended, list.slice(0, 4));
  assert.equal(mended[2], list[2]);
});

test('results in messages of their own stay there', () => {
  const list = [user('x'), assistant(call('c1'), call('c2'), call('c3')), { ...tool(result('c1')), providerOptions: cached }, tool(result('c2'))];
  const mended = repairMessages(list, noLine);
  assert.equal(mended[2], list[2]);
  assert.equal(mended[3].content[0], list[3].content[0]);
  assert.deepEqual(mended[3].content[1].output.type, 'error-text');
  const late = repairMessages([list[0], list[1], user('y'), list[2], list[3], tool(result('c3'))], noLine);
  assert.deepEqual(late.map((it) => it.role), ['user', 'assistant', 'tool', 'tool', 'tool', 'user']);
  assert.equal(late[2], list[2]);
});

test('calls: ids that are there twice, names and arguments that a provider refuses', () => {
  const twice = [user('x'), assistant(call('c1', { input: ODD }), call('c1', { input: { a: 2 } })), tool(result('c1'), result('c1', { type: 'text', value: 'b' }))];
  const [, { content: calls }, { content: results }] = repairMessages(twice, noLine);
  assert.equal(calls[0], twice[1].content[0]);
  assert.deepEqual(calls[1].input, { a: 2 });
  assert.notEqual(calls[1].toolCallId, 'c1');
  assert.deepEqual(results.map((it) => it.toolCallId), calls.map((it) => it.toolCallId));
  assert.equal(results[1].output, twice[2].content[1].output);
  const named = [user('x'), assistant(call('c1', { toolName: 'my tool', input: ODD })), tool(result('c1', undefined, { toolName: 'my tool' }))];
  const renamed = repairMessages(named, { ...noLine, profile: 'openai' });
  assert.deepEqual([renamed[1].content[0].toolName, renamed[1].content[0].input], ['my_tool', ODD]);
  const asked = (input, options) => repairMessages([user('x'), assistant(call('c1', { input })), tool(result('c1'))], { ...noLine, ...options })[1].content[0].input;
  for (const input of ['{bad', '{"a":1}', '[1]', undefined, null, 3, [1], 10n]) assert.equal(asked(input), input);
  const claude = { profile: 'anthropic' };
  assert.deepEqual([asked('{bad', claude), asked('{"a":1}', claude), asked(undefined, claude), asked([1], claude)], [{}, { a: 1 }, {}, {}]);
  assert.deepEqual(asked('{"a":1,}', { arguments: 'mend' }), { a: 1 });
  const moved = [user('x'), assistant(call('a b'), { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'a b' }), tool(result('a b'))];
  const [, { content: [made, request] }] = repairMessages(moved, { ...noLine, profile: 'anthropic' });
  assert.equal(made.toolCallId, request.toolCallId);
  assert.notEqual(made.toolCallId, 'a b');
});

test('a call that the AI SDK is about to run is not answered', () => {
  const asking = assistant(call('c1'), call('c2'), { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' });
  const approved = tool({ type: 'tool-approval-response', approvalId: 'a1', approved: true });
  const list = [user('x'), assistant(call('c1')), approved];
  list[1].content.push(asking.content[2]);
  assert.equal(repairMessages(list, noLine), list);
  const mended = repairMessages([user('x'), asking, approved], noLine);
  assert.equal(mended.at(-1), approved);
  assert.deepEqual(parts(mended).filter((it) => it.type === 'tool-result').map((it) => it.toolCallId), ['c2']);
  // Once the user says something else, nothing runs it.
  assert.equal(parts(repairMessages([...list, user('y')], noLine)).filter((it) => it.type === 'tool-result').length, 1);
});

test('results of calls that are kept at the provider are not orphans', async () => {
  const [kept, next] = [tool(result('c9')), assistant(call('c2'))];
  assert.deepEqual(repairMessages([kept, user('x')], noLine), [kept, user('x')]);
  const list = [{ role: 'system', content: 's' }, kept, next];
  const { messages } = prepareStep(noLine)({ messages: list, steps: [{ response: { messages: [next] } }] });
  assert.deepEqual([messages[1], messages.at(-1).content[0].toolCallId], [kept, 'c2']);
  const initial = prepareStep(noLine)({ messages: list, steps: [], initialMessages: list.slice(0, 2) });
  assert.equal(initial.messages[1], kept);
  // A history that was cut begins with a result too, and not every API keeps turns.
  assert.equal(repairMessages([kept, user('x')], { ...noLine, profile: 'anthropic' }).includes(kept), false);
  assert.deepEqual(prepareStep(noLine)({ messages: list, steps: [], initialMessages: list }).messages.some((it) => it === kept), false);
  const model = { provider: 'openai.responses' };
  const of = async (providerOptions) => (await repairMiddleware(noLine).transformParams({ params: { prompt: [kept, user('x'), assistant(text('y')), user('z')], providerOptions }, model })).prompt[0] === kept;
  assert.deepEqual(await Promise.all([{ openai: { previousResponseId: 'r' } }, { azure: { conversation: 'c' } }, { google: { previousInteractionId: 'i' } }, { openai: { store: true } }, undefined].map(of)), [true, true, true, false, false]);
});

test('the profile is that of the provider of the model', async () => {
  const list = [user('x'), assistant(call('a b')), tool(result('a b'))];
  const ids = async (provider, options) => {
    const { prompt } = await repairMiddleware({ ...noLine, ...options }).transformParams({ params: { prompt: list }, model: { provider } });
    return prompt[1].content[0].toolCallId;
  };
  assert.equal(await ids('unknown.chat'), 'a b');
  assert.match(await ids('anthropic.messages'), /^toolu_/);
  assert.match(await ids('vertex.anthropic.messages'), /^toolu_/);
  assert.match(await ids('amazon-bedrock'), /^tooluse_/);
  assert.match(await ids('mistral.chat', { profile: 'anthropic' }), /^toolu_/);
  assert.match(await ids('anthropic.messages', { profile: undefined }), /^toolu_/);
  assert.equal(prepareStep(noLine)({ messages: list, steps: [], model: 'openai/gpt-5' }).messages, list);
});

test('what is not a list of such messages is passed on, with a line that says why', () => {
  const cases = [
    [null, /expected a list of messages, found null/],
    ['hi', /expected a list of messages, found a string/],
    [[undefined], /^.*\[0\]: expected a message with a role, found undefined$/],
    [[user('x'), { role: 'user', content: { a: 1 } }], /\[1\]\.content: expected a string or a list, found an object of Object$/],
    [[{ id: 'u', role: 'user', parts: [{ type: 'data-x', data: ODD }] }], /\[0\] is a message of a page: `convertToModelMessages` first$/],
  ];
  for (const [value, expected] of cases) {
    const lines = [];
    assert.equal(repairMessages(value, { log: (line) => lines.push(line) }), value);
    assert.equal(lines.length, 1);
    assert.match(lines[0], expected);
  }
  assert.equal(repairMessages(SOUND.slice(0, 0), noLine).length, 0);
  assert.throws(() => repairMessages([user('x')], { profil: 'openai' }), { name: 'OptionError' });
});

test('a long history is mended in linear time', () => {
  const of = (size) => Array.from({ length: size }, (_, at) => [user('x'), assistant(call(`c${at}`)), tool({ type: 'tool-approval-response', approvalId: `a${at}`, approved: true }), tool(result(`c${at}`))]).flat();
  const mended = repairMessages([...of(10_000), assistant(call('last')), tool(result('lost'))], noLine);
  assert.equal(mended.length, 40_002);
});
