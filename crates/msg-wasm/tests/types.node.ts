// Compiled, never run: the package in Node, without the types of the DOM.
import { convert, repair, streamEvents } from 'msg-conversations';
import { repairMessages } from 'msg-conversations/ai-sdk';
import { mendingFetch } from 'msg-conversations/fetch';
import { init } from 'msg-conversations/sessions';
import { StreamAssembler } from 'msg-conversations/stream';
import { tools } from 'msg-conversations/tools';

export const mended: Array<{ role: string }> = repair([{ role: 'user' }]).document;
export const fetching: typeof fetch = mendingFetch();
export const loaded: Promise<void> = init(new Uint8Array());
export { StreamAssembler, convert, repairMessages, streamEvents, tools };
