import { OptionError, repair } from './index.js';
import { kindOf } from './lib/input.js';

// `ModelMessage[]` is mended on a skeleton in the form of Chat Completions: who speaks, calls, results, and for each text a
// mark that says whose it is.
//
//   {role:'assistant',content:[…,{type:'tool-call',toolCallId:'c1',…}]}   {role:'assistant',content:'⟦1⟧',tool_calls:[{id:'c1',…}]}
//   {role:'tool',content:[{type:'tool-result',toolCallId:'c1',…}]}        {role:'tool',tool_call_id:'c1',content:'⟦2.0⟧'}

const MARK = /⟦(\d+)(?:\.(\d+))?⟧/g;
const warn = (line) => console.warn(`msg-conversations: ${line}`);

const parts = (message) => (Array.isArray(message?.content) ? message.content : []);
const isCall = (part) => part?.type === 'tool-call' && part.providerExecuted !== true;
const isResult = (part) => part?.type === 'tool-result';

/** A list of ModelMessages that every provider takes: the list itself where nothing changed, and its own objects. */
export function repairMessages(messages, { log = warn, ...options } = {}) {
  try {
    if (!Array.isArray(messages)) throw new TypeError(`expected a list of messages, found ${kindOf(messages)}`);
    const it = repair(skeleton(messages), { from: 'openai', ...options });
    return it.changed ? restored(it.document, messages) : messages;
  } catch (error) {
    if (error instanceof OptionError) throw error;
    log(`the messages are sent as they are: ${error.message}`);
    return messages;
  }
}

/** For `generateText`, `streamText` and agents: `prepareStep: prepareStep()`. */
export function prepareStep(options) {
  return ({ messages }) => ({ messages: repairMessages(messages, options) });
}

/** A middleware for `wrapLanguageModel`. It mends results without a call, never calls without a result: see the docs. */
export function repairMiddleware(options) {
  return {
    specificationVersion: 'v4',
    transformParams: async ({ params }) => ({ ...params, prompt: repairMessages(params.prompt, options) }),
  };
}

function skeleton(messages) {
  return messages.flatMap((message, at) => {
    if (message.role === 'tool') {
      const results = parts(message).map((part, n) => [part, n]).filter(([part]) => isResult(part));
      return results.map(([part, n]) => ({ role: 'tool', tool_call_id: part.toolCallId, content: `⟦${at}.${n}⟧` }));
    }
    const calls = message.role === 'assistant' ? parts(message).filter(isCall) : [];
    const tool_calls = calls.map((call) => ({
      id: call.toolCallId,
      type: 'function',
      function: { name: call.toolName, arguments: JSON.stringify(call.input ?? {}) },
    }));
    const plain = { role: message.role, content: `⟦${at}⟧` };
    return [tool_calls.length > 0 ? { ...plain, tool_calls } : plain];
  });
}

/** The messages that a mended skeleton stands for. */
function restored(mended, messages) {
  const names = new Map();
  const res = [];
  for (const it of mended) {
    for (const call of it.tool_calls ?? []) names.set(call.id, call.function.name);
    if (it.role !== 'tool') {
      res.push(...spoken(it, messages));
      continue;
    }
    const part = answered(it, messages, names);
    const last = res.at(-1);
    if (last?.role === 'tool' && !messages.includes(last)) last.content.push(part);
    else res.push({ role: 'tool', content: [part] });
  }
  return withOwnResults(res, messages);
}

/** The message of a user or an assistant: its own where it has the same calls. */
function spoken(it, messages) {
  const marks = [...String(it.content ?? '').matchAll(MARK)].map((mark) => messages[mark[1]]);
  if (marks.length === 0) return [made(it)];
  if (it.role !== 'assistant') return marks.length === 1 && marks[0].role === it.role ? marks : [{ role: it.role, content: marks.flatMap(contents) }];
  const own = marks.flatMap((message) => parts(message).filter(isCall));
  const calls = it.tool_calls ?? [];
  const isSame = calls.length === own.length && calls.every((call, n) => call.id === own[n].toolCallId);
  if (isSame && marks.length === 1) return marks;
  // Calls stay where they were among texts and thoughts, with the ids that they have now; new ones follow.
  let n = 0;
  const kept = marks.flatMap(contents).flatMap((part) => {
    if (!isCall(part)) return [part];
    const call = calls[n];
    n += 1;
    return call === undefined ? [] : [call.id === part.toolCallId ? part : { ...part, toolCallId: call.id }];
  });
  return [{ ...marks[0], content: [...kept, ...calls.slice(n).map(callOf)] }];
}

/** A message that was inserted. A prompt of a model has lists of parts where messages may have texts. */
function made({ role, content, tool_calls = [] }) {
  const text = String(content ?? '');
  if (role === 'system') return { role, content: text };
  return { role, content: [...(text === '' ? [] : [{ type: 'text', text }]), ...tool_calls.map(callOf)] };
}

function contents(message) {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : parts(message);
}

function callOf(call) {
  return { type: 'tool-call', toolCallId: call.id, toolName: call.function.name, input: JSON.parse(call.function.arguments || '{}') };
}

function answered(it, messages, names) {
  const [mark] = String(it.content ?? '').matchAll(MARK);
  const own = mark && parts(messages[mark[1]])[mark[2]];
  if (own) return own.toolCallId === it.tool_call_id ? own : { ...own, toolCallId: it.tool_call_id };
  const toolName = names.get(it.tool_call_id) ?? 'unknown';
  return { type: 'tool-result', toolCallId: it.tool_call_id, toolName, output: { type: 'error-text', value: String(it.content ?? '') } };
}

/** Messages of tools whose parts did not change are the caller's own; parts that are not results stay. */
function withOwnResults(res, messages) {
  const tools = messages.filter((it) => it.role === 'tool');
  return res.map((it) => {
    if (it.role !== 'tool' || messages.includes(it)) return it;
    const own = tools.find((message) => parts(message).some((part) => it.content.includes(part)));
    if (own === undefined) return it;
    const others = parts(own).filter((part) => !isResult(part));
    const results = parts(own).filter(isResult);
    const isSame = results.length === it.content.length && results.every((part, n) => part === it.content[n]);
    return isSame ? own : { ...own, content: [...it.content, ...others] };
  });
}
