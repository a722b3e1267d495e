// What has to hold in a page and in a worker of a browser.
import * as main from 'msg-conversations';
import { repairMessages } from 'msg-conversations/ai-sdk';
import { mendingFetch } from 'msg-conversations/fetch';
import * as sessions from 'msg-conversations/sessions';
import * as small from 'msg-conversations/stream';
import * as tools from 'msg-conversations/tools';

const USER = { role: 'user', content: 'hi' };
const ORPHAN = { role: 'tool', tool_call_id: 'c9', content: '42' };
const TEXT = 'I look 𝄞 up.\n<tool_call>\n{"name":"w","arguments":{"city":"Zürich 😀"}}\n</tool_call>\nDone.';
const CHUNKS = [
  { id: 'a', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'It 𝄞 ' } }] },
  { id: 'a', model: 'm', choices: [{ index: 0, delta: { content: 'works' }, finish_reason: 'stop' }] },
];
const SSE = `${CHUNKS.map((it) => `data: ${JSON.stringify(it)}\n\n`).join('')}data: [DONE]\n\n`;

function equal(found, expected) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`found ${a}, expected ${b}`);
}

function thrown(act) {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

const pieces = (text, size) => Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
const callsOf = (events) => events.filter((it) => it.type === 'tool-call-begin').map((it) => it.name);

function source(parts) {
  return new ReadableStream({
    start(it) {
      parts.forEach((part) => it.enqueue(part));
      it.close();
    },
  });
}

async function read(stream) {
  const res = [];
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return res;
    res.push(value);
  }
}

const CASES = {
  'check finds an orphan': () => {
    const { ok, diagnostics } = main.check([USER, ORPHAN]);
    equal([ok, diagnostics.map((it) => it.code)], [false, ['chain::orphan-tool-result']]);
    equal(main.isValid([USER]), true);
  },
  'repair keeps objects': () => {
    const { document, changed } = main.repair([USER, ORPHAN]);
    equal([changed, document.length, document[0] === USER], [true, 1, true]);
  },
  'convert, stats, fit and key': () => {
    const converted = main.convert([USER], 'anthropic');
    equal(converted.document.messages, [USER]);
    equal(main.stats([USER]).messages, 1);
    equal(main.fit([USER], { budget: 1000 }).document, [USER]);
    equal(main.key([USER]).length, 32);
  },
  'errors have their classes': () => {
    equal(thrown(() => main.check('{')) instanceof main.ParseError, true);
    equal(thrown(() => main.check([USER], { nope: 1 })) instanceof main.OptionError, true);
  },
  'logs of agents': () => {
    const record = { type: 'user', uuid: 'a', parentUuid: null, sessionId: 's', message: USER };
    equal(sessions.check(JSON.stringify(record)).format, 'claude-code');
  },
  'tool calls in any cutting': () => {
    for (const { ToolParser } of [main, tools]) {
      for (const size of [1, 2, 3, 100]) {
        const parser = new ToolParser({ dialects: ['hermes'] });
        equal(callsOf([...pieces(TEXT, size).flatMap((it) => parser.feed(it)), ...parser.finish()]), ['w']);
      }
    }
  },
  'a stream of tool events': async () => {
    equal(callsOf(await read(source(pieces(TEXT, 3)).pipeThrough(tools.toolEvents({ dialects: ['hermes'] })))), ['w']);
  },
  'a stream is assembled from events': () => {
    for (const { StreamAssembler } of [main, small]) {
      const assembler = new StreamAssembler();
      CHUNKS.forEach((it) => assembler.feed(it));
      const { message, complete } = assembler.finish();
      equal([message.content, complete], ['It 𝄞 works', true]);
    }
  },
  'the body of a response is assembled while it arrives': async () => {
    for (const { streamEvents } of [main, small]) {
      const events = streamEvents();
      const { body } = await fetch('/pieces', { method: 'POST', body: SSE });
      const text = (await read(body.pipeThrough(events))).map((it) => (it.type === 'text-delta' ? it.text : '')).join('');
      equal([text, (await events.result).message.content], ['It 𝄞 works', 'It 𝄞 works']);
    }
  },
  'a hook of the AI SDK': () => {
    const file = { type: 'file', data: new Uint8Array(2), mediaType: 'image/png' };
    const messages = [{ role: 'user', content: [file] }, { role: 'user', content: 'b' }, { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'w', input: {} }] }];
    const mended = repairMessages(messages);
    equal([mended.length, mended[0] === messages[0], mended[1] === messages[1], mended[3].role], [4, true, true, 'tool']);
  },
  'a fetch that mends': async () => {
    const url = new URL('/v1/chat/completions', location.href).href;
    const request = () => new Request(url, { method: 'POST', body: JSON.stringify({ model: 'm', messages: [USER, ORPHAN] }) });
    equal((await fetch(request())).status, 400);
    const mending = mendingFetch();
    equal((await mending(request())).status, 200);
    equal((await mending(url, { method: 'POST', body: JSON.stringify({ messages: [USER, ORPHAN] }) })).status, 200);
  },
};

/** What became of each case, and how long the main module took to load. */
export async function run() {
  const early = [['asks for init', () => equal(thrown(() => main.check([USER])).message.includes('await init()'), true)]];
  const cases = [];
  const attempt = async ([name, act]) => {
    try {
      await act();
      cases.push({ name });
    } catch (error) {
      cases.push({ name, error: String(error?.stack ?? error) });
    }
  };
  for (const it of early) await attempt(it);
  const start = performance.now();
  await main.init();
  const load = performance.now() - start;
  await Promise.all([small.init(), tools.init(), sessions.init()]);
  for (const it of Object.entries(CASES)) await attempt(it);
  return { cases, load };
}
