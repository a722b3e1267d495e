// What comes in pieces: any cutting gives the same events.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import * as main from 'msg-conversations';
import * as small from 'msg-conversations/stream';
import * as smallTools from 'msg-conversations/tools';

const TEXT = 'I look 𝄞 up.\n<tool_call>\n{"name":"w","arguments":{"city":"Zürich 😀"}}\n</tool_call>\nDone.';
const SSE = [
  { id: 'a', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'It 𝄞 ' } }] },
  { id: 'a', model: 'm', choices: [{ index: 0, delta: { content: 'works' } }] },
  { id: 'a', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
];
const BODY = `${SSE.map((it) => `data: ${JSON.stringify(it)}\n\n`).join('')}data: [DONE]\n\n`;

/** Events with neighbouring texts joined: where a text is cut is not part of it. */
function joined(events) {
  const res = [];
  for (const it of events) {
    const last = res.at(-1);
    const same = last && last.type === it.type && last.index === it.index;
    if (same && typeof it.text === 'string') last.text += it.text;
    else if (same && typeof it.arguments === 'string' && it.call === undefined) last.arguments += it.arguments;
    else res.push({ ...it });
  }
  return res;
}

const pieces = (text, size) => Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));

for (const [name, { ToolParser, StreamAssembler, tools, stream, toolEvents, streamEvents, OptionError }] of [['main', main], ['small modules', { ...small, ...smallTools }]]) {
  test(`${name}: tool calls are the same for any cutting, in the middle of a surrogate pair too`, () => {
    const all = (parts) => {
      const parser = new ToolParser({ dialects: ['hermes'] });
      return joined([...parts.flatMap((it) => parser.feed(it)), ...parser.finish()]);
    };
    const expected = all([TEXT]);
    assert.ok(JSON.stringify(expected).includes('Zürich 😀'));
    for (const size of [1, 2, 3, 4, 5, 6, 8, 100]) assert.deepEqual(all(pieces(TEXT, size)), expected, `size ${size}`);
    const bytes = new TextEncoder().encode(TEXT);
    assert.deepEqual(all(Array.from(bytes, (it) => Uint8Array.of(it))), expected);
    assert.deepEqual(all([null, TEXT, undefined, '']), expected);
  });

  test(`${name}: null is not text, and other values are refused`, () => {
    const parser = new ToolParser();
    assert.deepEqual(parser.feed(null), []);
    assert.deepEqual(parser.feed(undefined), []);
    for (const wrong of [3, true, {}, [1]]) assert.throws(() => parser.feed(wrong), TypeError);
    parser.feed('a\ud83d');
    const events = parser.finish();
    assert.ok(JSON.stringify(events).length > 2);
    assert.throws(() => parser.feed('x'), /finished/);
    assert.throws(() => parser.finish(), /finished/);
    parser.close();
    assert.throws(() => new ToolParser({ dialect: ['x'] }), OptionError);
    assert.throws(() => new StreamAssembler({ provider: 'nope' }), OptionError);
  });

  test(`${name}: a stream is assembled, from text, bytes and events`, () => {
    const all = (parts) => {
      const assembler = new StreamAssembler();
      parts.forEach((it) => assembler.feed(it));
      const { events, ...rest } = assembler.finish();
      return rest;
    };
    const expected = all([BODY]);
    assert.equal(expected.message.content, 'It 𝄞 works');
    for (const size of [1, 2, 3, 7]) assert.deepEqual(all(pieces(BODY, size)), expected);
    assert.equal(all(SSE).message.content, 'It 𝄞 works');
    assert.deepEqual(stream(BODY).message, expected.message);
    for (const wrong of [3, true, [1]]) assert.throws(() => new StreamAssembler().feed(wrong), TypeError);
  });

  test(`${name}: whole texts`, () => {
    assert.ok(JSON.stringify(tools(TEXT, { dialects: 'hermes' })).includes('"w"'));
    assert.throws(() => tools(3), TypeError);
  });

  test(`${name}: transform streams`, async () => {
    const events = [];
    for await (const it of ReadableStream.from(pieces(TEXT, 3)).pipeThrough(toolEvents({ dialects: ['hermes'] }))) events.push(it);
    assert.ok(events.some((it) => JSON.stringify(it).includes('Zürich')));
    const read = streamEvents();
    const bytes = new Response(BODY).body.pipeThrough(read);
    let text = '';
    for await (const it of bytes) if (it.type === 'text-delta') text += it.text;
    assert.equal(text, 'It 𝄞 works');
    assert.equal((await read.result).message.content, 'It 𝄞 works');
  });
}

/** What a promise comes to within a second. */
const settled = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 1000, 'nothing').unref())]);
const drained = async (stream) => {
  for await (const _ of stream);
};
const opening = () => `data: ${JSON.stringify(SSE[0])}\n\n`;

test('a stream that is cancelled has a result', async () => {
  let isLeft = false;
  const source = new ReadableStream({ start: (it) => it.enqueue(opening()), cancel: () => void (isLeft = true) });
  const read = small.streamEvents();
  for await (const _ of source.pipeThrough(read)) break;
  const result = await settled(read.result);
  assert.deepEqual([result.complete, result.message.content, isLeft], [false, 'It 𝄞 ', true]);
});

test('a stream that breaks off has a result, and its reader the error', async () => {
  let isFirst = true;
  const source = new ReadableStream({
    pull(it) {
      if (isFirst) it.enqueue(opening());
      else it.error(new Error('reset'));
      isFirst = false;
    },
  });
  const read = small.streamEvents();
  await assert.rejects(drained(source.pipeThrough(read)), /reset/);
  assert.equal((await settled(read.result)).complete, false);
});

test('what is not a chunk fails the stream and its result', async () => {
  const read = small.streamEvents();
  await assert.rejects(drained(ReadableStream.from([opening(), 3]).pipeThrough(read)), TypeError);
  await assert.rejects(settled(read.result), TypeError);
});

test('a slow reader holds the source back', async () => {
  let pulled = 0;
  const source = new ReadableStream({ pull: (it) => void it.enqueue(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `${pulled++}` } }] })}\n\n`) }, { highWaterMark: 0 });
  const reader = source.pipeThrough(small.streamEvents()).getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(pulled < 6, `${pulled} chunks were pulled`);
  for (let n = 0; n < 50; n += 1) await reader.read();
  await reader.cancel();
});

test('tool events: a slow reader holds the source back, and a failure reaches both ends', async () => {
  let pulled = 0;
  const source = new ReadableStream({ pull: (it) => void it.enqueue(`${pulled++} `) }, { highWaterMark: 0 });
  const reader = source.pipeThrough(smallTools.toolEvents()).getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(pulled < 6, `${pulled} chunks were pulled`);
  await reader.cancel();
  let isLeft = false;
  const wrong = new ReadableStream({ pull: (it) => void it.enqueue(3), cancel: () => void (isLeft = true) });
  await assert.rejects(drained(wrong.pipeThrough(smallTools.toolEvents())), { name: 'TypeError', message: 'expected a string or bytes, found a number' });
  assert.equal(isLeft, true);
  const cut = new AbortController();
  let isOver = false;
  const endless = new ReadableStream({ pull: (it) => new Promise((resolve) => setTimeout(() => resolve(isOver || it.enqueue('a ')), 1)), cancel: () => void (isOver = true) });
  const events = endless.pipeThrough(smallTools.toolEvents(), { signal: cut.signal });
  setTimeout(() => cut.abort(), 10);
  await assert.rejects(drained(events), { name: 'AbortError' });
});

test('what is not text, bytes or an event says how to get it', () => {
  const asked = (act, message) => assert.throws(act, { name: 'TypeError', message });
  for (const { StreamAssembler } of [main, small]) {
    asked(() => new StreamAssembler().feed(new Response('x')), 'expected a string, bytes or an event, found an object of Response: `await it.text()` first');
    asked(() => new StreamAssembler().feed(Promise.resolve({})), /: await it first$/);
    asked(() => new StreamAssembler().feed(new Date(0)), 'expected a string, bytes or an event, found an object of Date');
    asked(() => new StreamAssembler().feed((async function* all() { yield 1; })()), /collect its items first/);
    asked(() => new StreamAssembler().feed({ a: 1n }), 'a is a bigint, which JSON cannot hold');
  }
  asked(() => new smallTools.ToolParser().feed(Promise.resolve('a')), /: await it first$/);
  asked(() => smallTools.tools(new Blob(['a'])), /`await it.text\(\)` first$/);
});

test('the small module says what it does not have', () => {
  assert.throws(() => small.stream(BODY, { to: 'anthropic-events' }), /writes no streams/);
  assert.equal(small.stream(BODY, { to: 'native' }).complete, true);
});

test('half a character comes before the bytes after it', () => {
  const parser = new main.ToolParser();
  const text = [...parser.feed('a\ud83d'), ...parser.feed(new TextEncoder().encode('b')), ...parser.finish()].map((it) => it.text).join('');
  assert.equal(text, 'a\ufffdb');
});

test('parsers that are dropped are forgotten', () => {
  for (let n = 0; n < 20_000; n += 1) new main.ToolParser().feed('a');
  assert.equal(main.check([{ role: 'user', content: 'hi' }]).ok, true);
});

test('a worker has an instance of its own', async () => {
  const worker = new Worker(new URL('./worker.js', import.meta.url));
  assert.equal(await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject)), true);
});
