import { OptionError, repair } from './index.js';
import { kindOf } from './lib/input.js';
import { restored } from './lib/restored.js';
import { goesOn, skeleton } from './lib/skeleton.js';

const warn = (line) => console.warn(`msg-conversations: ${line}`);

/** The profiles by the beginning of the name that a provider of the AI SDK gives its models. */
const PROVIDERS = [
  [/^openai\.responses/, 'openai-responses'], [/^openai\./, 'openai'],
  [/^azure(?:-openai)?\.responses/, 'openai-responses'], [/^azure(?:-openai)?\./, 'azure'],
  [/(?:^|\.)anthropic(?:\.|$)/, 'anthropic'], [/^google\.vertex/, 'vertex'], [/^google\.(?:generative-ai\.)?interactions/, 'gemini-interactions'],
  [/^google\./, 'gemini'], [/^amazon-bedrock/, 'bedrock'], [/^mistral\./, 'mistral'], [/^groq\./, 'groq'], [/^deepseek\./, 'deepseek'],
  [/^cohere\./, 'cohere'], [/^fireworks\./, 'fireworks'], [/^togetherai\./, 'together'], [/^perplexity/, 'perplexity'],
  [/^openrouter/, 'openrouter'], [/^moonshotai\./, 'kimi'], [/^ollama/, 'ollama'],
];
/** Whose providers in the AI SDK join messages of one role themselves. */
const JOINING = ['anthropic', 'bedrock'];
/** Who surely refuses messages of one role in a row, which no provider in the AI SDK joins for them. */
const STRICT = ['perplexity'];
/** The profiles of APIs that may keep the earlier turns. */
const KEEPING = [undefined, 'openai-responses', 'gemini-interactions'];
/** What says in the options of a provider that it keeps the earlier turns. */
const ELSEWHERE = ['previousResponseId', 'conversation', 'previousInteractionId'];
/** What the AI SDK does by itself. */
const SIGNATURE = 'profile::thought-signature-missing';
const JOINED = new Set(['chain::consecutive-user', 'profile::consecutive-assistant']);

/** A list of ModelMessages that every provider takes: the list itself where nothing changed, and its own objects. */
export function repairMessages(messages, options) {
  return mended(messages, options, { isContinued: Array.isArray(messages) && KEEPING.includes(options?.profile) && goesOn(messages) });
}

/** For `generateText`, `streamText` and agents: `prepareStep: prepareStep()`. */
export function prepareStep(options) {
  return ({ messages, initialMessages, steps, model }) => {
    const given = initialMessages ?? messages.slice(0, messages.length - (steps?.at(-1)?.response?.messages?.length ?? 0));
    const profile = profileOf(model);
    return { messages: mended(messages, options, { profile, isContinued: KEEPING.includes(options?.profile ?? profile) && goesOn(given) }) };
  };
}

/** A middleware for `wrapLanguageModel`. It mends results without a call, never calls without a result: see the docs. */
export function repairMiddleware(options) {
  return {
    specificationVersion: 'v4',
    transformParams: async ({ params, model }) => {
      const isContinued = Object.values(params.providerOptions ?? {}).some((it) => ELSEWHERE.some((name) => it?.[name] != null));
      const prompt = mended(params.prompt, options, { profile: profileOf(model), isContinued });
      return prompt === params.prompt ? params : { ...params, prompt };
    },
  };
}

function profileOf(model) {
  const provider = typeof model?.provider === 'string' ? model.provider : '';
  return PROVIDERS.find(([name]) => name.test(provider))?.[1];
}

function mended(messages, { log = warn, onRepair, ...options } = {}, { profile, isContinued }) {
  const all = { from: 'openai', ...options, profile: options.profile ?? profile };
  let list;
  let edits;
  try {
    if (!Array.isArray(messages)) throw new TypeError(`expected a list of messages, found ${kindOf(messages)}`);
    const bones = skeleton(messages, isContinued);
    const it = repair(bones.rows, all);
    if (!it.changed) return messages;
    // A profile that is given is done all that it wants.
    const isJoining = options.profile === undefined ? !STRICT.includes(profile) : JOINING.includes(options.profile);
    list = restored(it.document, messages, bones, isJoining);
    if (list.length === messages.length && list.every((message, at) => message === messages[at])) return messages;
    const done = it.edits.filter(({ code }) => code !== SIGNATURE && !(isJoining && JOINED.has(code)));
    edits = (done.length > 0 ? done : it.edits).map((edit) => inMessages(edit, bones));
  } catch (error) {
    if (error instanceof OptionError) throw error;
    log(`the messages are sent as they are: ${error.message}`);
    return messages;
  }
  onRepair?.(edits);
  return list;
}

/** A finding with the places of messages that are the caller's. */
function inMessages(edit, { places }) {
  if (edit.at === undefined) return edit;
  const { part: _, ...at } = edit.at;
  for (const name of ['message', 'other_message']) if (places[at[name]] !== undefined) at[name] = places[at[name]];
  return { ...edit, at };
}
