// `node browser.js CHROMIUM`: the package, bundled, in a page and a worker of headless Chromium.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

const bundle = { bundle: true, format: 'esm', target: 'es2022', outdir: 'dist', logLevel: 'warning' };
await build({ ...bundle, entryPoints: ['page.js', 'page.worker.js'] });

const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };
let said;
const answer = new Promise((resolve) => (said = resolve));
const server = createServer(async (request, response) => {
  if (request.url === '/said') {
    let text = '';
    for await (const it of request) text += it;
    said(text);
    return response.end();
  }
  if (request.url === '/') {
    return response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><script type="module" src="/dist/page.js"></script>');
  }
  // A bundle looks for the modules in its folder.
  const file = request.url.startsWith('/dist/wasm/') ? `node_modules/msg-conversations${request.url.slice(5)}` : `.${request.url}`;
  if (!existsSync(file)) return response.writeHead(404).end();
  const type = TYPES[file.split('.').pop()] ?? 'text/plain';
  return response.writeHead(200, { 'content-type': type }).end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const profile = mkdtempSync(join(tmpdir(), 'msg-chromium-'));
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', `--user-data-dir=${profile}`];
const browser = spawn(process.argv[2] ?? 'chromium', [...flags, `http://127.0.0.1:${server.address().port}/`], { stdio: 'ignore' });
const timeout = new Promise((resolve) => setTimeout(resolve, 60_000, 'no answer within 60 seconds').unref());
const text = await Promise.race([answer, timeout]);
browser.kill();
await new Promise((resolve) => browser.once('exit', resolve));
server.close();
// Its other processes write for a while after it is gone.
rmSync(profile, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
console.log(`chromium: ${text}`);
assert.match(text, /^asks for init, checks, keeps objects, parses, assembles, works in a worker;/);
process.exit(0);
