// What the functions answer, beside the program's own answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import * as msg from 'msg-conversations';
import * as sessions from 'msg-conversations/sessions';

const USER = { role: 'user', content: 'hi' };
const CALL = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'w', arguments: '{"a":12345678901234567890}' } }],
};
const ORPHAN = { role: 'tool', tool_call_id: 'c9', content: '42' };

test('check finds what is wrong, in text, bytes and objects', () => {
  const document = [USER, CALL, USER];
  const json = JSON.stringify(document);
  const expected = msg.check(document);
  assert.equal(expected.ok, false);
  assert.equal(expected.format, 'openai');
  assert.equal(expected.messages, 3);
  assert.deepEqual(msg.check(json).diagnostics.map((it) => it.code), expected.diagnostics.map((it) => it.code));
  assert.deepEqual(msg.check(new TextEncoder().encode(json)), msg.check(json));
  assert.deepEqual(msg.check(Buffer.from(json)), msg.check(json));
  assert.equal(msg.isValid(document), false);
  assert.equal(msg.isValid([USER]), true);
});

test('repair keeps objects that did not change', () => {
  const document = [USER, CALL, { role: 'user', content: 'and?' }];
  const repaired = msg.repair(document);
  assert.equal(repaired.changed, true);
  assert.equal(repaired.document.length, 4);
  assert.equal(repaired.document[0], document[0]);
  assert.equal(repaired.document[1], document[1]);
  assert.equal(repaired.document[3], document[2]);
  assert.equal(repaired.document[2].tool_call_id, 'c1');
  assert.equal(msg.check(repaired.document).ok, true);
  assert.equal(document.length, 3);
});

test('repair of a request keeps its members, and of a sound document the document', () => {
  const tools = [{ type: 'function', function: { name: 'w', parameters: { type: 'object' } } }];
  const request = { model: 'm', tools, messages: [USER, CALL, ORPHAN] };
  const { document } = msg.repair(request);
  assert.equal(document.messages[0], USER);
  assert.equal(document.tools[0], tools[0]);
  assert.deepEqual(Object.keys(document), ['model', 'tools', 'messages']);
  const sound = { model: 'm', messages: [USER] };
  assert.equal(msg.repair(sound).document, sound);
  assert.equal(msg.repair(sound).changed, false);
  const bytes = new TextEncoder().encode(JSON.stringify(sound));
  assert.equal(msg.repair(bytes).document, bytes);
});

test('equal messages are each other, once', () => {
  const [a, b] = [{ role: 'user', content: 'x' }, { role: 'user', content: 'x' }];
  const { document } = msg.repair([a, CALL, b]);
  assert.equal(document[0], a);
  assert.equal(document.at(-1), b);
});

test('every API keeps its form', () => {
  const answers = [
    [{ model: 'm', input: [{ role: 'user', content: 'hi' }, { type: 'function_call', call_id: 'c1', name: 'w', arguments: '{}' }] }, 'input'],
    [{ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'w', input: {} }] }, { role: 'user', content: 'and?' }] }, 'messages'],
    [{ contents: [{ role: 'user', parts: [{ text: 'hi' }] }, { role: 'model', parts: [{ functionCall: { name: 'w', args: {} } }] }, { role: 'user', parts: [{ text: 'and?' }] }] }, 'contents'],
  ];
  for (const [request, member] of answers) {
    const repaired = msg.repair(request);
    assert.equal(repaired.changed, true, member);
    assert.equal(repaired.document[member][0], request[member][0], member);
    assert.equal(msg.check(repaired.document).ok, true, member);
  }
});

test('text is laid out as it came, with numbers of any size', () => {
  const text = `[ {"role":"user","content":"hi"},\n  ${JSON.stringify(CALL).replace('"content":null', '"content":1234567890123456789012345678901234567890')} ]`;
  const checked = msg.check(text.replace('1234567890123456789012345678901234567890', 'null'));
  assert.equal(checked.ok, false);
  const { document } = msg.repair(text.replace('1234567890123456789012345678901234567890', 'null'));
  assert.ok(document.startsWith('[ {"role":"user","content":"hi"},\n  {'));
  assert.ok(document.includes('12345678901234567890'));
});

test('a byte order mark and half a surrogate pair are kept', () => {
  const marked = `\ufeff${JSON.stringify([USER, CALL, USER])}`;
  assert.ok(msg.repair(marked).document.startsWith('\ufeff['));
  const half = [{ role: 'user', content: 'a\ud83d' }, CALL, USER];
  assert.equal(msg.repair(half).document[0], half[0]);
  const raw = `[{"role":"user","content":"a\ud83d"},${JSON.stringify(CALL)},${JSON.stringify(USER)}]`;
  const read = JSON.parse(msg.repair(raw).document);
  assert.equal(read[0].content, 'a\ud83d');
});

test('convert answers in kind', () => {
  const { document, edits } = msg.convert([USER], 'gemini');
  assert.deepEqual(document, { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
  assert.deepEqual(edits, []);
  assert.equal(msg.convert(JSON.stringify([USER]), 'gemini').document, '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}');
  const request = msg.convert({ model: 'gpt-5', messages: [USER] }, 'anthropic', { request: true, model: 'c', maxTokens: 9 });
  assert.equal(request.document.max_tokens, 9);
  assert.throws(() => msg.convert([USER], 'nope'), msg.OptionError);
  assert.throws(() => msg.convert([USER]), TypeError);
});

test('fit cuts, or says why it cannot', () => {
  const long = Array.from({ length: 40 }, (_, at) => ({ role: at % 2 ? 'assistant' : 'user', content: 'word '.repeat(200) + at }));
  const fitted = msg.fit(long, { budget: 3000 });
  assert.ok(fitted.document.length < long.length);
  assert.ok(msg.stats(fitted.document).tokens <= 3000);
  assert.equal(fitted.document.at(-1), long.at(-1));
  assert.throws(() => msg.fit(long, { budget: 5 }), (it) => it instanceof msg.CannotFit && it.fitted.reason.length > 0);
  const small = [USER];
  assert.equal(msg.fit(small, { budget: 1000 }).document, small);
  const requests = msg.fitRequests(long, { budget: 3000 });
  assert.ok(Array.isArray(requests));
});

test('stats, messages and key', () => {
  const stats = msg.stats([USER]);
  assert.equal(stats.messages, 1);
  assert.ok(stats.tokens > 0);
  assert.equal(msg.messages([USER, CALL])[1].role, 'assistant');
  const key = msg.key([USER]);
  assert.match(key, /^[0-9a-f]{32}$/);
  assert.equal(key, msg.key(msg.convert([USER], 'gemini').document));
});

test('cache says where the prompt cache broke', () => {
  const [a, b] = ['gpt-5', 'gpt-5-mini'].map((model) => ({ model, messages: [{ role: 'user', content: 'What time is it?' }] }));
  const { rows, totals } = msg.cache([a, JSON.stringify(b)]);
  assert.equal(rows.length, 2);
  assert.equal(rows[1].changes[0].code, 'cache::model-changed');
  assert.equal(totals.requests, 2);
  assert.equal(msg.cache([a, 7].map((it) => (it === 7 ? '7' : it))).rows[1].error.code.startsWith('cache::'), true);
  assert.throws(() => msg.cache([a], { from: 'nope' }), msg.OptionError);
});

test('unknown options and wrong arguments are said at once', () => {
  assert.throws(() => msg.check([USER], { profil: 'openai' }), (it) => it instanceof msg.OptionError && it.message.includes('did you mean "profile"'));
  assert.throws(() => msg.check([USER], { for_model: 'x' }), (it) => it.message.includes('did you mean "forModel"'));
  assert.throws(() => msg.check([USER], { profile: 'nope' }), msg.OptionError);
  assert.throws(() => msg.check([USER], { maxChars: 3 }), (it) => it instanceof msg.OptionError && it.message.includes('maxChars'));
  assert.throws(() => msg.check([USER], []), TypeError);
  for (const wrong of [null, undefined, 3, true, () => {}, Symbol('x')]) assert.throws(() => msg.check(wrong), TypeError);
  assert.throws(() => msg.check('{'), (it) => it instanceof msg.ParseError && it.diagnostic.code.length > 0 && it.name === 'ParseError');
  assert.throws(() => msg.check([{ role: 'user', content: 1n }]), TypeError);
  assert.equal(msg.check([USER], { profile: undefined }).ok, true);
});

test('options are understood once, and many of them do not grow memory', () => {
  for (let n = 0; n < 500; n += 1) assert.equal(msg.check([USER], { maxBytes: 1000 + n }).ok, true);
  assert.throws(() => msg.check([USER], { maxBytes: 3 }), msg.ParseError);
});

test('large documents are taken', () => {
  const large = Array.from({ length: 60_000 }, (_, at) => ({ role: at % 2 ? 'assistant' : 'user', content: `text ${at} 𝄞 `.repeat(5) }));
  assert.equal(msg.check(large).messages, 60_000);
  const { document } = msg.repair([...large, CALL]);
  assert.equal(document[59_999], large[59_999]);
  assert.equal(document.length, 60_002);
});

test('what JSON cannot hold is refused with its place, never lost', () => {
  const there = runInNewContext('[new ArrayBuffer(2), new Error("x")]');
  const values = [
    NaN, Infinity, new Map([[1, 2]]), new Set([1]), new Uint8Array([1]), /a/, Promise.resolve(1), [1].values(), 10n, (function* one() { yield 1; })(),
    new SharedArrayBuffer(2), new DataView(new ArrayBuffer(2)), new WeakMap(), new Blob(['x']), new Response('x'), new Number(NaN), Object(1n), ...there,
  ];
  for (const value of values) {
    assert.throws(() => msg.check([{ ...USER, metadata: { x: value } }]), { name: 'TypeError', message: /^\[0\]\.metadata\.x is .*, which JSON cannot hold$/ });
  }
  const round = { ...USER };
  round.self = round;
  assert.throws(() => msg.check([round]), TypeError);
  assert.throws(() => msg.check([{ ...USER, metadata: [() => 1] }]), { name: 'TypeError', message: '[0].metadata[0] is a function, which JSON cannot hold' });
  for (const list of [[undefined], new Array(1)]) {
    assert.throws(() => msg.check([{ ...USER, metadata: list }]), { name: 'TypeError', message: '[0].metadata[0] is undefined, which JSON cannot hold' });
  }
  const bare = Object.create(null);
  const plain = { x: null, y: {}, z: new Date(0), bare, there: runInNewContext('({})'), boxes: [new Number(1), new String(''), new Boolean(true)] };
  assert.equal(msg.isValid([{ ...USER, metadata: plain }]), true);
  assert.throws(() => msg.fit([USER], { budget: NaN }), { name: 'OptionError', message: 'budget: expected a number, found NaN' });
});

test('buffers of any kind and of any context are bytes', () => {
  const shared = new SharedArrayBuffer(2);
  new Uint8Array(shared).set([91, 93]);
  const there = runInNewContext('new Uint8Array([91, 93]).buffer');
  for (const buffer of [shared, new Uint8Array(shared), there]) {
    assert.equal(msg.isValid(buffer), true);
    assert.equal(new msg.ToolParser().feed(buffer).concat(msg.tools(buffer).segments).at(-1).text, '[]');
    assert.deepEqual(new msg.StreamAssembler().feed(buffer), []);
    assert.equal(msg.cache([buffer]).rows.length, 1);
  }
  assert.throws(() => new msg.StreamAssembler().feed(new Error('x')), TypeError);
});

test('errors have a code, and places that the caller has written', () => {
  const of = (act) => {
    try {
      return act();
    } catch (error) {
      return [error.name, error.message, error.code];
    }
  };
  const round = { ...USER };
  round.meta = { list: [round] };
  assert.deepEqual(of(() => msg.check([round])), ['TypeError', '[0].meta.list[0] leads back to [0]: JSON cannot hold a circle', undefined]);
  const shared = { a: 1 };
  assert.equal(msg.check([{ ...USER, meta: [shared, shared, { shared }] }]).ok, true);
  assert.deepEqual(of(() => msg.check([null, USER])), ['ParseError', 'message 0: expected a message, which is an object', 'message::bad-shape']);
  assert.match(of(() => msg.check({ request: [USER] }))[1], /; `field: "request"` reads its conversation$/);
  assert.match(of(() => msg.check('[null]'))[1], /at byte 1|without objects/);
  assert.equal(of(() => msg.check([USER], { profile: 'x' }))[2], 'cli::bad-option');
  assert.equal(of(() => msg.fit([{ ...USER, content: 'word '.repeat(99) }], { budget: 5 }))[0], 'CannotFit');
  let deep = [];
  for (let n = 0; n < 100_000; n += 1) deep = [deep];
  assert.deepEqual(of(() => msg.check([{ ...USER, deep }])), ['TypeError', 'the value is nested too deeply', undefined]);
  assert.equal(of(() => msg.check('['.repeat(1_000_000)))[0], 'ParseError');
  const broken = { ...USER, content: { toJSON: () => { throw new RangeError('mine'); } } };
  assert.match(of(() => msg.check([broken]))[1], /nested too deeply|mine/);
  assert.deepEqual(of(() => msg.check(new String('[]')))[1], 'expected a string, bytes, a list of messages or a request, found an object of String: `it.toString()` is one');
});

test('options that JSON cannot hold are refused, with their names', () => {
  const refused = (options, message, name = 'OptionError') => assert.throws(() => msg.fit([USER], options), { name, message });
  refused({ preset: () => 'x' }, 'preset: expected a value that JSON has, found a function');
  refused({ preset: Symbol('x') }, 'preset: expected a value that JSON has, found a symbol');
  refused({ counter: 'a\ud800' }, 'counter: half of a surrogate pair, which UTF-8 cannot hold');
  refused({ budget: 9, usage: { messages: NaN, promptTokens: 1 } }, 'messages: expected a number, found NaN');
  refused({ budget: 9, answers: 'x' }, 'answers: expected a list, found "x"');
  refused(new Map([['budget', 9]]), 'expected an object of options, found an object of Map', 'TypeError');
  const round = {};
  round.it = round;
  refused({ budget: 9, apply: round }, 'apply.it leads back to apply: JSON cannot hold a circle');
});

test('a request that is not JSON is named', () => {
  const request = { model: 'gpt-5', messages: [USER] };
  const refused = (value, message) => assert.throws(() => msg.cache([request, value]), { name: 'TypeError', message });
  refused('{', /^\[1\]: .*JSON/);
  refused('{}],[{}', /^\[1\]: .*JSON/);
  refused(new Uint8Array([255]), /^\[1\]: .*utf-8/);
  refused(undefined, /^\[1\]: expected a string, .* found undefined$/);
  refused({ a: 1n }, /^\[1\]: a is a bigint/);
});

test('what holds a document is not one, and the error says how to get it', () => {
  const refused = (value, message) => assert.throws(() => msg.check(value), { name: 'TypeError', message });
  refused(Promise.resolve([USER]), /found an object of Promise: await it first$/);
  refused(new Response('[]'), /found an object of Response: `await it.text\(\)` first$/);
  refused(new Blob(['[]']), /found an object of Blob: `await it.text/);
  refused(new ReadableStream(), /found an object of ReadableStream: collect its items first/);
  refused((async function* all() { yield USER; })(), /collect its items first/);
  refused((function* all() { yield USER; })(), /`Array.from\(it\)` is a list$/);
  refused(new Set([USER]), /`Array.from\(it\)` is a list$/);
  refused([{ ...USER, at: new Date(NaN) }], '[0].at is an invalid Date, which JSON cannot hold');
  assert.throws(() => msg.fit([USER], { budget: 9n }), { name: 'OptionError', message: 'budget: expected a number, found 9n' });
  assert.throws(() => msg.check({}), { name: 'ParseError', message: /\(`FORMATS` lists them\)$/ });
});

test('a value of a wrong type is refused with the name of its option', () => {
  const refused = (act, message) => assert.throws(act, { name: 'OptionError', message });
  refused(() => msg.fit([USER], { budget: 1.5 }), 'budget: expected a whole number, found 1.5');
  refused(() => msg.fit([USER], { budget: '9' }), 'budget: expected a whole number, found "9"');
  refused(() => msg.tools('x', { maxDepth: -1 }), 'maxDepth: expected a number from 0, found -1');
  refused(() => msg.tools('x', { thinking: 'of' }), /^thinking: unknown value `of`, .*did you mean "off"\?$/);
  refused(() => msg.repair([USER], { profile: 'openai', strict: 'yes' }), 'strict: expected a boolean, found "yes"');
  refused(() => msg.fit([USER], { toolCaps: 3, budget: 9 }), 'toolCaps: expected an object, found 3');
  refused(() => msg.check([USER], { profile: ['openai'] }), 'profile: expected a string, found a list');
});

test('functions of a request outlive its repair', () => {
  const request = { model: 'm', messages: [USER, ORPHAN], tools: { w: { execute: () => 1 } }, onEnd: () => 2 };
  const repaired = msg.repair(request);
  assert.equal(repaired.changed, true);
  assert.equal(repaired.document.tools, request.tools);
  assert.equal(repaired.document.onEnd, request.onEnd);
  assert.equal(repaired.document.messages[0], USER);
});

test('cache takes requests as text, bytes and objects', () => {
  const request = { model: 'gpt-5', messages: [USER] };
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const { rows } = msg.cache([request, JSON.stringify(request), bytes]);
  assert.deepEqual(rows.map((it) => it.relation), [undefined, 'same', 'same']);
});

test('logs of agents are left to another module', () => {
  const log = [
    { type: 'user', uuid: 'a', parentUuid: null, sessionId: 's', version: '2.0.0', cwd: '/', message: { role: 'user', content: 'hi' } },
    { type: 'assistant', uuid: 'b', parentUuid: 'a', sessionId: 's', version: '2.0.0', cwd: '/', message: { role: 'assistant', content: [{ type: 'text', text: 'yes' }] } },
  ].map((it) => JSON.stringify(it)).join('\n');
  const elsewhere = { message: 'this module has no logs of agents: `msg-conversations/sessions` has' };
  assert.throws(() => msg.check(log), { ...elsewhere, name: 'ParseError' });
  assert.throws(() => msg.repair(log), elsewhere);
  assert.throws(() => msg.convert([USER], 'codex'), { ...elsewhere, name: 'OptionError' });
  assert.equal(sessions.check(log).format, 'claude-code');
  assert.equal(JSON.parse(sessions.convert(log, 'openai').document).length, 2);
  assert.ok(sessions.convert([USER], 'codex').document.length > 1);
  assert.deepEqual(sessions.check([USER, CALL]), msg.check([USER, CALL]));
});

test('the lists of frameworks are read without the logs', () => {
  assert.equal(msg.check([{ type: 'human', content: 'hi' }]).format, 'langchain');
  for (const to of ['langchain', 'vercel-ui', 'ai-sdk', 'sharegpt']) assert.ok(msg.convert([USER], to).document);
});

test('errors say what to do, in the words of this package', () => {
  const cases = [
    [() => msg.check('logs/chat.json'), /the name of a file.*; pass what is in the file$/],
    [() => msg.convert({ model: 'm', messages: [USER] }, 'anthropic', { request: true }), /; set the option `maxTokens`/],
    [() => msg.fit([USER, ORPHAN], { budget: 1000 }), /; `repair: true` mends the chain first; `check` lists what is wrong with it$/],
    [() => msg.check([USER], { maxBytes: 3 }), /; a larger maxBytes raises the limit$/],
    [() => msg.check(USER), /; put the messages of a conversation into one list$/],
    [() => msg.check([USER], { profile: 'opnai' }), /; did you mean "openai"\?$/],
    [() => msg.convert([USER], 'antropic'), /; did you mean "anthropic"\?$/],
    [() => msg.repair([USER], { orphans: 'fabricat' }), /; did you mean "fabricate"\?$/],
    [() => msg.stream([{ choices: [] }]), /: `new StreamAssembler\(\)` takes events$/],
  ];
  for (const [act, expected] of cases) {
    assert.throws(act, (error) => expected.test(error.message) && !/--|`msg |jq /.test(error.message) ? true : assert.fail(error.message));
  }
});

test('a module is loaded from bytes, and what is none is named', async () => {
  const named = (value, message) => assert.rejects(msg.init(value), { message });
  await named('/msg.wasm', 'expected a WebAssembly.Module, bytes or a Response, found a string: `fetch` it first');
  await named({}, /found an object of Object$/);
  const page = new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } });
  await named(page, /^the module is not at .* \(a page\): the README says/);
  await named(new Response('', { status: 404 }), /\(status 404\)/);
  assert.equal(msg.check([USER]).ok, true);
});

test('a buffer is answered with a buffer', () => {
  const json = JSON.stringify([USER, ORPHAN]);
  const { document } = msg.repair(Buffer.from(json));
  assert.ok(Buffer.isBuffer(document));
  assert.deepEqual(JSON.parse(document.toString()), [USER]);
  assert.equal(Buffer.isBuffer(msg.repair(new TextEncoder().encode(json)).document), false);
});
