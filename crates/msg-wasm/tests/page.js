// Runs in a browser, bundled: says what became of each case, here and in a worker.
import { check } from 'msg-conversations';
import { run } from './page.cases.js';

const short = [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'hello' }];

/** What the cases of a worker came to. */
function inWorker() {
  const worker = new Worker('/dist/page.worker.js', { type: 'module' });
  return new Promise((resolve) => {
    worker.onmessage = (it) => resolve(it.data);
    worker.onerror = (it) => resolve([{ name: 'the worker', error: it.message ?? 'does not start' }]);
  });
}

async function all() {
  const { cases: page, load } = await run();
  const before = performance.now();
  for (let n = 0; n < 20_000; n += 1) check(short);
  const call = (performance.now() - before) / 20;
  return { page, worker: await inWorker(), load, call };
}

const failed = (error) => ({ page: [{ name: 'the page', error: String(error.stack) }], worker: [], load: 0, call: 0 });
all().catch(failed).then((it) => fetch('/said', { method: 'POST', body: JSON.stringify(it) }));
