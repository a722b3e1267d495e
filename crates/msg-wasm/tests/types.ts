// Compiled, never run: each marked line is an error, and no other is.
import { ToolParser, check, convert, fit, repair, streamEvents, type Diagnostic } from 'msg-conversations';
import { prepareStep, repairMessages, repairMiddleware } from 'msg-conversations/ai-sdk';
import { mendingFetch } from 'msg-conversations/fetch';
import { StreamAssembler, type StreamEvents } from 'msg-conversations/stream';
import { ToolParser as SmallParser } from 'msg-conversations/tools';
import { generateText, wrapLanguageModel, type LanguageModel, type ModelMessage } from 'ai';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'hi' }];
const mended: OpenAI.ChatCompletionMessageParam[] = repair(messages, { profile: 'openai', orphans: 'drop' }).document;
const text: string = repair('[]').document;
const found: Diagnostic[] = check(mended, { forModel: 'gpt-5', profile: 'azure' }).diagnostics;
const gemini: string = convert(text, 'gemini').document;
const request = convert<{ contents: unknown[] }>({ messages }, 'gemini').document.contents;
fit(messages, { budget: 100, preset: 'balanced', usage: { messages: 1, promptTokens: 3 }, answers: [null] });
new ToolParser({ dialects: ['hermes'] }).feed(null);
new SmallParser().feed('a');
const both: StreamEvents = streamEvents();
new StreamAssembler({ provider: 'anthropic' }).feed(new Uint8Array());
const events: ReadableStream<{ type: string }> = new Response('').body!.pipeThrough(streamEvents());
new OpenAI({ fetch: mendingFetch() });
new Anthropic({ fetch: mendingFetch({ profile: 'anthropic' }) });

declare const model: LanguageModelV3;
const history: ModelMessage[] = repairMessages([] as ModelMessage[]);
generateText({ model: model as LanguageModel, messages: history, prepareStep: prepareStep() });
wrapLanguageModel({ model, middleware: repairMiddleware() });

// @ts-expect-error an unknown option
check(messages, { profil: 'openai' });
// @ts-expect-error the name of the command line
check(messages, { for_model: 'x' });
// @ts-expect-error an unknown profile
check(messages, { profile: 'opnai' });
// @ts-expect-error an unknown format
convert(messages, 'gemnii');
// @ts-expect-error a word that the option does not have
repair(messages, { orphans: 'lose' });
// @ts-expect-error a text where a number is
fit(messages, { budget: '100' });
// @ts-expect-error a number is not a document
check(3);
// @ts-expect-error a number is not text
new ToolParser().feed(3);

export { both, events, found, gemini, request };
