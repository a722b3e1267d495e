// The package in a bundle: with the module in it, and without.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

// In this folder, where the bundler finds the package.
const here = dirname(fileURLToPath(import.meta.url));
const place = mkdtempSync(join(here, 'bundle-'));
after(() => rmSync(place, { recursive: true }));

async function bundled(name, contents, options) {
  const outfile = join(place, name);
  await build({ stdin: { contents, resolveDir: here }, bundle: true, format: 'esm', target: 'es2022', outfile, logLevel: 'error', ...options });
  return outfile;
}
const SOURCE = "export { check, init } from 'msg-conversations';";
const SOUND = [{ role: 'user', content: 'hi' }];

for (const platform of ['browser', 'node']) {
  test(`with the module in it nothing is fetched or read: ${platform}`, async () => {
    const file = await bundled(`whole.${platform}.js`, `${SOURCE} export { default as wasm } from 'msg-conversations/msg.wasm';`, { platform, loader: { '.wasm': 'binary' } });
    const { check, init, wasm } = await import(pathToFileURL(file));
    const { fetch } = globalThis;
    globalThis.fetch = () => assert.fail('it fetches');
    await init(wasm);
    assert.equal(check(SOUND).ok, true);
    globalThis.fetch = fetch;
  });
}

test('two calls of `init` load once, and one that failed is tried again', async () => {
  const { ToolParser, init } = await import(pathToFileURL(await bundled('twice.js', "export { ToolParser, init } from 'msg-conversations';", { platform: 'browser' })));
  const { fetch } = globalThis;
  let asked = 0;
  globalThis.fetch = async () => {
    asked += 1;
    if (asked === 1) throw new TypeError('fetch failed');
    return new Response(readFileSync(fileURLToPath(import.meta.resolve('msg-conversations/msg.wasm'))));
  };
  await assert.rejects(init(), /fetch failed/);
  const [first, second] = [init(), init()];
  await first;
  const parser = new ToolParser();
  await second;
  await init();
  globalThis.fetch = fetch;
  assert.equal(asked, 2);
  assert.equal([...parser.feed('a'), ...parser.finish()].map((it) => it.text).join(''), 'a');
});

test('without it the error says what to do', async () => {
  const page = await import(pathToFileURL(await bundled('page.js', SOURCE, { platform: 'browser' })));
  assert.throws(() => page.check(SOUND), /await init\(\) first$/);
  const node = await import(pathToFileURL(await bundled('node.js', SOURCE, { platform: 'node' })));
  assert.throws(() => node.check(SOUND), /^Error: the module is not at file:.*leave msg-conversations out of the bundle, or await init\(bytes\) first$/);
  const require = createRequire(import.meta.url);
  const old = require(await bundled('old.cjs', SOURCE, { platform: 'node', format: 'cjs', logLevel: 'silent' }));
  assert.throws(() => old.check(SOUND), /^Error: the module is not at its place: leave/);
  const script = await bundled('page.cjs', SOURCE, { platform: 'browser', format: 'cjs', logLevel: 'silent' });
  await assert.rejects(require(script).init(), /^Error: this bundle does not know where the module is/);
  const wasm = readFileSync(fileURLToPath(import.meta.resolve('msg-conversations/msg.wasm')));
  await old.init(wasm);
  assert.equal(old.check(SOUND).ok, true);
});
