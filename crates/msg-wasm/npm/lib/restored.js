// Messages of the AI SDK for a mended skeleton: the caller's own objects, and copies only where a mend changed something.
import { jsonOf } from './input.js';
import { MARK, PLACE, isResult, objectOf, partsOf } from './skeleton.js';

/** The messages of a mended skeleton; with `isJoining` messages that were joined alone are given one by one, as they were. */
export function restored(mended, messages, bones, isJoining) {
  const out = [];
  const names = new Map();
  const known = new Set(bones.sources.flatMap(({ part }) => part ?? []));
  let run = [];
  for (const row of mended) {
    for (const call of row.tool_calls ?? []) names.set(call.id, call.function.name);
    if (row.role === 'tool') {
      run.push(resultOf(row, bones, names));
      continue;
    }
    out.push(...answers(run, messages, known));
    run = [];
    const spoken = row.role === 'assistant' ? answered(row, messages, bones, isJoining) : said(row, messages, bones, isJoining);
    out.push(...spoken);
  }
  out.push(...answers(run, messages, known));
  return withOthers(out, messages, known);
}

/** Texts and marks of a message in their order. */
function tokensOf(row, { sources }) {
  const content = row.content ?? '';
  const texts = typeof content === 'string' ? [content] : content.map((part) => part.text);
  if (!texts.every((it) => typeof it === 'string')) throw new TypeError('a mended message has other content than text');
  return texts.flatMap((text) => text.split(/(⟦\d+⟧)/)).flatMap((piece) => {
    const mark = MARK.exec(piece)?.[1];
    if (mark !== undefined) return [sources[mark]];
    return piece.trim() === '' ? [] : [piece];
  });
}

/** What a user or the system says: `{ at, message }` each, where `at` is the place of the caller's message. */
function said(row, messages, bones, isJoining) {
  const role = row.role === 'user' ? 'user' : 'system';
  const pieces = tokensOf(row, bones).map((it) => pieceOf(it, messages));
  const isNamed = new Set(pieces.map(({ own }) => own?.name)).size > 1;
  if (pieces.length > 1 && !isJoining && !isNamed) return [{ at: placeOf(pieces), message: inRole(role, joined(role, pieces)) }];
  return pieces.map(({ at, own, parts }) => ({ at, message: own?.role === role ? own : inRole(role, { ...own, role, content: parts }) }));
}

/** What a token is of: the place of the caller's message, the message where it is one, and the parts. */
function pieceOf(token, messages) {
  if (typeof token === 'string') return { parts: [{ type: 'text', text: token }] };
  if (token.part) return { at: token.at, parts: [{ type: 'text', text: textOf(token.part.output) }] };
  const own = messages[token.at];
  return { at: token.at, own, parts: typeof own.content === 'string' ? [{ type: 'text', text: own.content }] : own.content };
}

const placeOf = (pieces) => pieces.find((it) => it.at !== undefined)?.at;

/** The message in its role: what the system says is a text. */
function inRole(role, message) {
  if (role !== 'system') return message;
  if (!message.content.every((it) => it.type === 'text')) throw new TypeError('a message that is made a system message has more than text');
  const options = message.content.map((it) => it.providerOptions).filter((it) => it !== undefined);
  const all = [message.providerOptions, ...options].reduce(withDefaults);
  return { ...message, ...(all && { providerOptions: all }), content: message.content.map((it) => it.text).join('') };
}

const textOf = ({ type, value }) => (type === 'text' || type === 'error-text' ? value : jsonOf(value ?? null));

/** Messages as one. Options that are not those of all go to the last part of each, where the AI SDK looks for them too. */
function joined(role, pieces) {
  const [first, ...rest] = pieces.flatMap(({ own }) => own ?? []);
  pieces = apart(pieces);
  if (rest.every((it) => JSON.stringify(it.providerOptions) === JSON.stringify(first.providerOptions))) {
    return { ...first, role, content: pieces.flatMap(({ parts }) => parts) };
  }
  const { providerOptions: _, ...others } = first;
  return { ...others, role, content: pieces.flatMap(({ own, parts }) => withOptions(parts, own?.providerOptions)) };
}

/** Texts that become neighbours keep a distance: many providers in the AI SDK write them as one text. */
function apart(pieces) {
  let isText = false;
  return pieces.map((piece) => {
    const [first, ...rest] = piece.parts;
    const parts = isText && first?.type === 'text' ? [{ ...first, text: `\n\n${first.text}` }, ...rest] : piece.parts;
    if (parts.length > 0) isText = parts.at(-1)?.type === 'text';
    return { ...piece, parts };
  });
}

function withOptions(parts, options) {
  const last = parts.at(-1);
  if (options === undefined || last === undefined) return parts;
  return [...parts.slice(0, -1), { ...last, providerOptions: withDefaults(last.providerOptions, options) }];
}

/** Options by provider, with those of others where they say nothing. */
function withDefaults(options, defaults) {
  if (options === undefined || defaults === undefined) return options ?? defaults;
  const res = { ...defaults, ...options };
  for (const name of Object.keys(res)) res[name] = { ...defaults[name], ...options[name] };
  return res;
}

/** What a model says: its own message where it has the same calls. */
function answered(row, messages, bones, isJoining) {
  const pieces = tokensOf(row, bones).map((it) => pieceOf(it, messages));
  const callsOf = ({ own }) => (own?.role === 'assistant' ? partsOf(own).filter(bones.isCall) : []);
  const own = pieces.flatMap(callsOf);
  const known = new Set(own);
  const calls = (row.tool_calls ?? []).map((call) => ownCall(call, own, bones));
  const isSame = calls.length === own.length && calls.every(({ part, now }, n) => now === part && part === own[n]);
  // Those with calls would be apart from their results if others followed them.
  const areApart = isJoining && pieces.slice(0, -1).every((it) => callsOf(it).length === 0);
  if (isSame && pieces.length > 0 && pieces.every((it) => it.own?.role === 'assistant') && (pieces.length === 1 || areApart)) {
    return pieces.map((it) => ({ at: it.at, message: it.own }));
  }
  const kept = new Map(calls.filter((it) => it.part).map(({ part, now }) => [part, now]));
  const ids = new Map([...kept].map(([part, now]) => [part.toolCallId, now.toolCallId]));
  const part = (it) => {
    if (bones.isCall(it)) return kept.has(it) ? [kept.get(it)] : [];
    const id = it?.type === 'tool-approval-request' ? ids.get(it.toolCallId) : undefined;
    return [id === undefined || id === it.toolCallId ? it : { ...it, toolCallId: id }];
  };
  const message = joined('assistant', pieces.map((it) => ({ ...it, parts: it.parts.flatMap(part) })));
  // New calls, and those of a message that is several now.
  const added = calls.filter((it) => !known.has(it.part)).map((it) => it.now);
  return [{ at: placeOf(pieces), message: added.length > 0 ? { ...message, content: [...message.content, ...added] } : message }];
}

/** The part that a call is of, and what it is now. */
function ownCall(call, parts, { sources }) {
  const { name, arguments: text } = call.function;
  const marked = objectOf(text)?.[PLACE];
  const part = marked === undefined ? parts.find((it) => it.toolCallId === call.id) : sources[marked]?.part;
  if (part === undefined) return { now: { type: 'tool-call', toolCallId: call.id, toolName: name, input: objectOf(text) ?? {} } };
  const changed = {};
  if (part.toolCallId !== call.id) changed.toolCallId = call.id;
  if (part.toolName !== name) changed.toolName = name;
  // An object that was written as a text is that object; another text is what became of it.
  const input = marked === undefined && typeof part.input === 'string' ? objectOf(part.input) : undefined;
  const wasText = typeof part.input === 'string' && input === undefined;
  if (marked === undefined && objectOf(text) && !(wasText && text === part.input)) changed.input = input ?? objectOf(text);
  else if (wasText && text !== part.input) changed.input = text;
  return { part, now: Object.keys(changed).length > 0 ? { ...part, ...changed } : part };
}

/** A result: its place, its own part, and what it is now. */
function resultOf(row, bones, names) {
  const tokens = tokensOf(row, bones);
  const own = tokens.length === 1 && typeof tokens[0] !== 'string' ? tokens[0] : undefined;
  if (own?.part === undefined || !isResult(own.part)) {
    if (tokens.some((it) => typeof it !== 'string')) throw new TypeError('a mended result has what was no result');
    const toolName = row.name ?? names.get(row.tool_call_id) ?? 'unknown';
    return { now: { type: 'tool-result', toolCallId: row.tool_call_id, toolName, output: { type: 'error-text', value: tokens.join('') } } };
  }
  const { at, part } = own;
  const changed = {};
  if (part.toolCallId !== row.tool_call_id) changed.toolCallId = row.tool_call_id;
  if (part.toolName !== row.name && row.name !== undefined) changed.toolName = row.name;
  return { at, part, now: Object.keys(changed).length > 0 ? { ...part, ...changed } : part };
}

/** Results in a row, in the messages in which they were; new ones go to a neighbour. */
function answers(run, messages, known) {
  const groups = [];
  for (const it of run) {
    const last = groups.at(-1);
    if (last === undefined || (it.at !== undefined && last.at !== undefined && last.at !== it.at)) groups.push({ at: it.at, results: [it] });
    else {
      last.results.push(it);
      last.at ??= it.at;
    }
  }
  return groups.map(({ at, results }) => {
    if (at === undefined) return { message: { role: 'tool', content: results.map((it) => it.now) } };
    const own = partsOf(messages[at]).filter((part) => known.has(part));
    const isSame = own.length === results.length && results.every((it, n) => it.now === own[n]);
    return { at, message: isSame ? messages[at] : { ...messages[at], content: results.map((it) => it.now) } };
  });
}

/** The messages, with those of tools that the skeleton does not have, and what else than mended results the others hold. */
function withOthers(out, messages, known) {
  const last = new Map(out.map((it, n) => [it.at, n]));
  const others = [];
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'tool') continue;
    const parts = partsOf(message);
    const rest = parts.filter((part) => !known.has(part));
    const it = out[last.get(at)];
    if (it?.message.role !== 'tool') {
      if (rest.length > 0 || parts.length === 0) others.push({ at, message: rest.length === parts.length ? message : { ...message, content: rest } });
    } else if (it.message !== message && rest.length > 0) {
      it.message = { ...it.message, content: [...it.message.content, ...rest] };
    }
  }
  return placed(out, others).map((it) => it.message);
}

/** Each of the others after the last message that was before it, and after what was inserted there. */
function placed(out, others) {
  const order = [...out.keys()].filter((n) => out[n].at !== undefined).sort((a, b) => out[a].at - out[b].at);
  const here = new Map();
  let [next, after] = [0, 0];
  for (const it of others) {
    for (; next < order.length && out[order[next]].at < it.at; next += 1) after = Math.max(after, order[next] + 1);
    while (after < out.length && out[after].at === undefined) after += 1;
    here.set(after, [...(here.get(after) ?? []), it]);
  }
  return [...out, undefined].flatMap((it, n) => [...(here.get(n) ?? []), ...(it === undefined ? [] : [it])]);
}
