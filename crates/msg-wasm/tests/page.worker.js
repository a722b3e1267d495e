// Runs in a worker of a browser: the cases of the page.
import { run } from './page.cases.js';

postMessage((await run()).cases);
