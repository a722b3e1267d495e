// What the AI SDK reads of streams: `node interop_streams.mjs NODE_MODULES`.
//
// Reads a line `{"target","sse","tools"}` for each stream, and answers what `streamText` gives of it, as a line
// `{"text","thought","calls","finish","raised"}`.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import path from "node:path";

const require = createRequire(path.join(process.argv[2], "..", "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { jsonSchema, streamText, tool } = await load("ai");
const { createAnthropic } = await load("@ai-sdk/anthropic");
const { createGoogleGenerativeAI } = await load("@ai-sdk/google");
const { createOpenAI } = await load("@ai-sdk/openai");

const model = (target, fetch) => {
  const settings = { apiKey: "x", fetch };
  switch (target) {
    case "openai":
      return createOpenAI(settings).chat("gpt-5");
    case "responses":
      return createOpenAI(settings).responses("gpt-5");
    case "anthropic":
      return createAnthropic(settings)("claude-sonnet-4-5");
    default:
      return createGoogleGenerativeAI(settings)("gemini-3-pro-preview");
  }
};

const read = async ({ target, sse, tools }) => {
  const headers = { "content-type": "text/event-stream" };
  const fetch = async () => new Response(sse, { status: 200, headers });
  const any = tool({ inputSchema: jsonSchema({ type: "object" }) });
  const res = { text: "", thought: "", calls: [], finish: null };
  try {
    const { fullStream } = streamText({
      model: model(target, fetch),
      prompt: "x",
      maxRetries: 0,
      onError: () => {},
      tools: Object.fromEntries(tools.map((name) => [name, any])),
    });
    for await (const part of fullStream) {
      if (part.type === "text-delta") res.text += part.text;
      else if (part.type === "reasoning-delta") res.thought += part.text;
      else if (part.type === "tool-call" && !part.providerExecuted) res.calls.push([part.toolName, JSON.stringify(part.input)]);
      else if (part.type === "error") res.raised = String(part.error?.message ?? part.error).slice(0, 160);
      else if (part.type === "finish") res.finish = part.finishReason;
    }
  } catch (failure) {
    res.raised = String(failure).slice(0, 160);
  }
  return res;
};

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await read(JSON.parse(line))));
}
