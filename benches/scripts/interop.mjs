// Whether the AI SDK and AG-UI take what `msg` writes, a document a line: `node interop.mjs NODE_MODULES MODE`, asked by
// interop.py. Answers each line with `{"refusal":null}`, or with the reason.
//
//   ui     UI messages, by the SDK's validator and `convertToModelMessages`
//   model  messages for a model, by `modelMessageSchema`, and as a prompt that its provider takes
//   ag-ui  messages of AG-UI, by the schema of its messages
//   sent   UI messages; the answer says in `sent` what the SDK and its providers make of them
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, mode] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(modules, "x.js")));
const { convertToModelMessages, generateText, modelMessageSchema, safeValidateUIMessages } = require("ai");

async function ui(messages) {
  if (messages.length === 0) return null; // the validator wants one, and an empty conversation is sound
  const seen = await safeValidateUIMessages({ messages });
  if (!seen.success) return String(seen.error.message);
  return model(await convertToModelMessages(messages));
}

function model(messages) {
  const seen = messages.map((it) => [it, modelMessageSchema.safeParse(it)]).find((it) => !it[1].success);
  return seen ? `no ModelMessage: ${JSON.stringify(seen[0])}: ${seen[1].error}` : null;
}

function agui(messages) {
  const { MessageSchema } = require("@ag-ui/core/schemas");
  const seen = messages.map((it) => [it, MessageSchema.safeParse(it)]).find((it) => !it[1].success);
  return seen ? `no message: ${JSON.stringify(seen[0])}: ${seen[1].error}` : null;
}

// What a provider would send: its answer does not matter.
async function body(create, options) {
  let sent;
  const fetch = async (_, request) => {
    sent = JSON.parse(request.body);
    return new Response("{}", { status: 400 });
  };
  const model = create({ apiKey: "none", fetch });
  await generateText({ model, maxRetries: 0, ...options }).catch((error) => {
    if (!sent) throw error;
  });
  return sent;
}

async function sent(messages) {
  const refusal = await ui(messages);
  if (refusal) return { refusal };
  const made = await convertToModelMessages(messages);
  const plain = JSON.parse(JSON.stringify(made));
  const options = { messages: made, allowSystemInMessages: true };
  const { createOpenAI } = require("@ai-sdk/openai");
  const { createAnthropic } = require("@ai-sdk/anthropic");
  const { createGoogleGenerativeAI } = require("@ai-sdk/google");
  const isMedia = JSON.stringify(made).includes('"mediaType"');
  const bodies = isMedia || !made.some((it) => it.role === "user") ? {} : {
    openai: await body((it) => createOpenAI(it).chat("gpt-4o"), options),
    responses: await body((it) => createOpenAI(it).responses("gpt-4o"), options),
    anthropic: await body((it) => createAnthropic(it)("claude-sonnet-4-5"), options),
    gemini: await body((it) => createGoogleGenerativeAI(it)("gemini-2.5-flash"), options),
  };
  return { refusal: null, sent: { "ai-sdk": plain, ...bodies } };
}

const judges = { ui, model, "ag-ui": agui, sent };
for await (const line of createInterface({ input: process.stdin })) {
  const said = await Promise.resolve(judges[mode](JSON.parse(line))).catch((error) => String(error));
  console.log(JSON.stringify(said !== null && typeof said === "object" ? said : { refusal: said }));
}
