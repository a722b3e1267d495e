// Messages of the AI SDK as those of Chat Completions, without what they say: who speaks, calls, results, and for each
// message, call and result a mark that says whose it is. What they say may be bytes, URLs and all else that JSON does not have.
//
//   {role:'assistant',content:[…,{type:'tool-call',toolCallId:'c1',…}]}   {role:'assistant',content:'⟦1⟧',tool_calls:[{id:'c1',…}]}
//   {role:'tool',content:[{type:'tool-result',toolCallId:'c1',…}]}        {role:'tool',tool_call_id:'c1',content:'⟦2⟧'}
import { kindOf } from './input.js';

export const MARK = /⟦(\d+)⟧/;
/** The member of the arguments that are a mark. */
export const PLACE = '⟦⟧';

export const isResult = (part) => part?.type === 'tool-result';
export const partsOf = (message) => (Array.isArray(message.content) ? message.content : []);

/**
 * The messages of Chat Completions, and what they are of: `sources[mark]` is `{ at, part }`, `places[row]` is `at`. What providers see to is left
 * out: calls that they ran, calls that the AI SDK is about to run, and results of calls that are `isContinued` elsewhere.
 */
export function skeleton(messages, isContinued) {
  messages.forEach(expectMessage);
  const kept = keptCalls(messages);
  const bones = { rows: [], places: [], sources: [], isCall: (part) => part?.type === 'tool-call' && !kept.has(part.toolCallId) && part.providerExecuted !== true };
  const add = (row, source) => {
    bones.rows.push(row);
    bones.places.push(source.at);
    bones.sources.push(source);
  };
  let isStart = isContinued;
  for (const [at, message] of messages.entries()) {
    isStart &&= message.role !== 'assistant';
    if (message.role === 'tool') {
      for (const part of isStart ? [] : partsOf(message)) {
        if (!isResult(part) || kept.has(part.toolCallId)) continue;
        add({ role: 'tool', tool_call_id: part.toolCallId, name: part.toolName, content: `⟦${bones.sources.length}⟧` }, { at, part });
      }
      continue;
    }
    const content = `⟦${bones.sources.length}⟧`;
    const row = { role: message.role, content };
    if (typeof message.name === 'string') row.name = message.name;
    add(row, { at });
    const calls = message.role === 'assistant' ? partsOf(message).filter(bones.isCall) : [];
    if (calls.length > 0) row.tool_calls = calls.map((part) => callOf(part, bones.sources.push({ at, part }) - 1));
  }
  return bones;
}

/** Whether the earlier turns are kept elsewhere: results come first, in a list without anything that a model wrote. */
export function goesOn(messages) {
  return messages.find((it) => it?.role !== 'system')?.role === 'tool' && messages.every((it) => it?.role !== 'assistant');
}

function expectMessage(message, at) {
  const isText = typeof message?.content === 'string';
  if (typeof message?.role === 'string' && (isText || Array.isArray(message.content))) return;
  if (Array.isArray(message?.parts)) throw new TypeError(`[${at}] is a message of a page: \`convertToModelMessages\` first`);
  if (typeof message?.role !== 'string') throw new TypeError(`[${at}]: expected a message with a role, found ${kindOf(message)}`);
  throw new TypeError(`[${at}].content: expected a string or a list, found ${kindOf(message.content)}`);
}

/** The ids of calls that are not for the hook: those that providers ran, and those that the AI SDK runs once they are approved. */
function keptCalls(messages) {
  const kept = new Set();
  const requests = new Map();
  const answered = new Set();
  for (const message of messages) {
    for (const part of partsOf(message)) {
      if (message.role === 'tool' && isResult(part)) answered.add(part.toolCallId);
      if (part?.type === 'tool-call' && part.providerExecuted === true) kept.add(part.toolCallId);
      if (part?.type === 'tool-approval-request') requests.set(part.approvalId, part.toolCallId);
    }
  }
  const last = messages.at(-1);
  for (const part of last?.role === 'tool' ? partsOf(last) : []) {
    const id = part?.type === 'tool-approval-response' ? requests.get(part.approvalId) : undefined;
    if (id !== undefined && !answered.has(id)) kept.add(id);
  }
  return kept;
}

function callOf(part, mark) {
  return { id: part.toolCallId, type: 'function', function: { name: part.toolName, arguments: argumentsOf(part.input, mark) } };
}

/** The mark of an object; what is not one is judged, and a text that is the JSON of an object is a text all the same. */
function argumentsOf(input, mark) {
  if (typeof input === 'string') return objectOf(input) ? JSON.stringify(input) : input;
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return JSON.stringify({ [PLACE]: mark });
  return typeof input === 'number' || typeof input === 'boolean' ? JSON.stringify(input) : 'null';
}

/** The object that a text is the JSON of. */
export function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
