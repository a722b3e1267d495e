// Runs in a browser, bundled: what it found is the text of the page.
import { check, init, repair } from 'msg-conversations';
import { StreamAssembler, init as initStream } from 'msg-conversations/stream';
import { ToolParser, init as initTools } from 'msg-conversations/tools';

const broken = [{ role: 'user', content: 'hi' }, { role: 'tool', tool_call_id: 'c9', content: '42' }];
const short = [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'hello' }];

function early() {
  try {
    check(short);
    return 'loaded too early';
  } catch (error) {
    return error.message.includes('await init()') ? 'asks for init' : error.message;
  }
}

async function run() {
  const said = [early()];
  const start = performance.now();
  await init();
  const load = performance.now() - start;
  await Promise.all([initStream(), initTools()]);
  for (let n = 0; n < 5000; n += 1) check(short);
  const before = performance.now();
  for (let n = 0; n < 20000; n += 1) check(short);
  const call = (performance.now() - before) / 20;
  said.push(check(broken).ok ? 'finds nothing' : 'checks');
  said.push(repair(broken).document[0] === broken[0] ? 'keeps objects' : 'copies objects');
  const parser = new ToolParser({ dialects: ['hermes'] });
  const events = parser.feed('<tool_call>{"name":"w","arguments":{}}</tool_call>');
  said.push([...events, ...parser.finish()].length > 0 ? 'parses' : 'does not parse');
  const assembler = new StreamAssembler();
  assembler.feed({ choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] });
  said.push(assembler.finish().message.content === 'hi' ? 'assembles' : 'does not assemble');
  const worker = new Worker('/dist/page.worker.js', { type: 'module' });
  said.push(await new Promise((resolve) => (worker.onmessage = (it) => resolve(it.data))));
  return `${said.join(', ')}; load ${load.toFixed(0)} ms, call ${call.toFixed(2)} µs`;
}

run().catch((error) => `failed: ${error.stack}`).then((text) => fetch('/said', { method: 'POST', body: text }));
