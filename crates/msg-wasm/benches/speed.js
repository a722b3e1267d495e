// `node speed.js DOCUMENTS.jsonl`: sizes of the modules, and what a call costs, beside `JSON.parse`.
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { fileURLToPath } from 'node:url';

const start = performance.now();
const { ToolParser, check, convert, repair, stats } = await import('msg-conversations');
check([{ role: 'user', content: 'hi' }]);
const load = performance.now() - start;

const folder = import.meta.resolve('msg-conversations/package.json');
for (const name of ['msg', 'sessions', 'stream', 'tools', 'node/msg', 'node/sessions']) {
  const bytes = readFileSync(fileURLToPath(new URL(`wasm/${name}.wasm`, folder)));
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
  console.log(`${name}.wasm`.padEnd(26), `${(bytes.length / 1024).toFixed(0)} KiB, brotli ${(brotli / 1024).toFixed(0)} KiB`);
}
console.log('load'.padEnd(26), `${load.toFixed(0)} ms`);

/**
 * The least processor time of some runs, in seconds. The first second is not counted: the engine compiles what is called
 * often in the background, which is processor time of the process too.
 */
function cpu(act) {
  for (const from = performance.now(); performance.now() - from < 1000; ) act();
  let best = Infinity;
  for (let run = 0; run < 5; run += 1) {
    const from = process.cpuUsage();
    act();
    const used = process.cpuUsage(from);
    best = Math.min(best, (used.user + used.system) / 1e6);
  }
  return best;
}

const lines = readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean).slice(0, 1500);
const bytes = lines.reduce((sum, it) => sum + Buffer.byteLength(it), 0);
const objects = lines.map((it) => JSON.parse(it));
const each = (documents, act) => () => {
  for (const it of documents) {
    try {
      act(it);
    } catch (error) {
      if (error.name !== 'ParseError') throw error;
    }
  }
};
const row = (name, documents, act) => {
  const seconds = cpu(each(documents, act));
  console.log(name.padEnd(26), `${(bytes / 1e6 / seconds).toFixed(0)} MB a CPU second, ${((seconds * 1e6) / lines.length).toFixed(1)} µs a document`);
};
console.log(`${lines.length} documents of ${(bytes / lines.length).toFixed(0)} bytes`);
row('JSON.parse', lines, JSON.parse);
row('check, text', lines, (it) => check(it));
row('check, objects', objects, (it) => check(it));
row('repair, text', lines, (it) => repair(it, { profile: 'openai' }));
row('repair, objects', objects, (it) => repair(it, { profile: 'openai' }));
row('convert to anthropic', lines, (it) => convert(it, 'anthropic'));
row('stats', lines, (it) => stats(it));

const short = [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'hello' }];
const text = JSON.stringify(short);
const times = (n, act) => cpu(() => { for (let at = 0; at < n; at += 1) act(); }) / n * 1e6;
console.log('check of 2 messages'.padEnd(26), `${times(20_000, () => check(text)).toFixed(2)} µs as text, ${times(20_000, () => check(short)).toFixed(2)} µs as objects`);
const model = `${'Some words of a model, with <b>marks</b> and more. '.repeat(1300)}<tool_call>{"name":"w","arguments":{"a":"${'x'.repeat(2000)}"}}</tool_call>`;
const pieces = model.match(/.{1,4}/gs);
const feed = cpu(() => { const parser = new ToolParser({ dialects: ['hermes'] }); for (const it of pieces) parser.feed(it); parser.finish(); });
console.log('ToolParser, 4 characters'.padEnd(26), `${(feed / pieces.length * 1e6).toFixed(2)} µs a piece`);
