// Runs in a worker of a browser.
import { init, isValid } from 'msg-conversations';

await init();
postMessage(isValid([{ role: 'user', content: 'hi' }]) ? 'works in a worker' : 'fails in a worker');
