// Whether the AI SDK takes arrays of UI messages, one a line: `node interop.mjs NODE_MODULES`, asked by interop.py.
// Answers each line with `{"refusal":null}`, or with the reason.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(join(process.argv[2], "x.js")));
const { convertToModelMessages, modelMessageSchema, safeValidateUIMessages } = require("ai");

async function refusal(messages) {
  if (messages.length === 0) return null; // the validator wants one, and an empty conversation is sound
  const seen = await safeValidateUIMessages({ messages });
  if (!seen.success) return String(seen.error.message);
  const bad = (await convertToModelMessages(messages)).find((it) => !modelMessageSchema.safeParse(it).success);
  return bad ? `no ModelMessage: ${JSON.stringify(bad)}` : null;
}

for await (const line of createInterface({ input: process.stdin })) {
  const said = await refusal(JSON.parse(line)).catch((error) => String(error));
  console.log(JSON.stringify({ refusal: said }));
}
