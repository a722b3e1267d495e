import { parentPort } from 'node:worker_threads';
import { check } from 'msg-conversations';

parentPort.postMessage(check([{ role: 'user', content: 'hi' }]).ok);
