// `node browser.js [CHROMIUM]`: the package, bundled, in a page and a worker of headless Chromium. Without a browser it
// says so, and succeeds. `CHROMIUM` in the environment names one too.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { answerOf } from './endpoint.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const named = process.argv[2] ?? process.env.CHROMIUM;
const starts = (name) => spawnSync(name, ['--version'], { encoding: 'utf8' });
const chromium = (named ? [named] : NAMES).find((name) => starts(name).status === 0);
if (chromium === undefined) {
  if (named) throw new Error(`${named} does not start`);
  console.log(`skipped: none of ${NAMES.join(', ')} starts, so the page was not tried; CHROMIUM can name a browser`);
  process.exit(0);
}

const bundle = { bundle: true, format: 'esm', target: 'es2022', outdir: 'dist', logLevel: 'warning' };
await build({ ...bundle, entryPoints: ['page.js', 'page.worker.js'] });

const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };
let said;
const answer = new Promise((resolve) => (said = resolve));
const bodyOf = async (request) => {
  let text = '';
  for await (const it of request) text += it;
  return text;
};
const server = createServer(async (request, response) => {
  const path = request.url.split('?')[0];
  const json = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (path === '/said') {
    said(JSON.parse(await bodyOf(request)));
    return response.end();
  }
  if (path === '/pieces') {
    // A body that comes in small pieces, which the network may join.
    const bytes = Buffer.from(await bodyOf(request));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let at = 0; at < bytes.length; at += 5) {
      response.write(bytes.subarray(at, at + 5));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return response.end();
  }
  if (path.startsWith('/v1/')) {
    const { status, body } = answerOf(path, JSON.parse(await bodyOf(request)));
    return json(status, body);
  }
  if (path === '/') {
    return response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><script type="module" src="/dist/page.js"></script>');
  }
  // A bundle looks for the modules in its folder.
  const file = path.startsWith('/dist/wasm/') ? `node_modules/msg-conversations${path.slice(5)}` : `.${path}`;
  if (!existsSync(file)) return response.writeHead(404).end();
  const type = TYPES[file.split('.').pop()] ?? 'text/plain';
  return response.writeHead(200, { 'content-type': type }).end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const profile = mkdtempSync(join(tmpdir(), 'msg-chromium-'));
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', `--user-data-dir=${profile}`];
const browser = spawn(chromium, [...flags, `http://127.0.0.1:${server.address().port}/`], { stdio: ['ignore', 'ignore', 'pipe'] });
let complaints = '';
browser.stderr.on('data', (it) => (complaints = (complaints + it).slice(-2000)));
const gone = new Promise((resolve) => browser.once('exit', (status, signal) => resolve(`it ended (${status ?? signal})`)));
const late = new Promise((resolve) => setTimeout(resolve, 60_000, 'no answer within 60 seconds'));
const result = await Promise.race([answer, gone, late]);
browser.kill();
await gone;
server.close();
// Its other processes write for a while after it is gone, and a folder that stays is not a failure of the page.
for (let n = 0; n < 30; n += 1) {
  try {
    rmSync(profile, { recursive: true, force: true });
    break;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

console.log(starts(chromium).stdout.trim());
if (typeof result === 'string') {
  console.error(`${complaints}\n${result}`);
  process.exit(1);
}
const { page, worker, load, call } = result;
for (const [place, cases] of Object.entries({ page, worker })) {
  const broken = cases.filter((it) => it.error !== undefined);
  console.log(`${place}: ${cases.length} cases, ${broken.length} failed`);
  for (const it of broken) console.error(`${place}: ${it.name}: ${it.error}`);
}
console.log(`load ${load.toFixed(0)} ms, call ${call.toFixed(2)} µs`);
const failed = [...page, ...worker].some((it) => it.error !== undefined);
process.exit(failed || page.length === 0 || page.length !== worker.length ? 1 : 0);
