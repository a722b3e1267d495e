// Drives Braintrust's lingua over the rows of public.py: `node lingua.mjs TASK < rows > answers`. `cargo xtask bench public`
// installs it under target/bench-node. It has no repair and puts no stream together, so that those rows are skipped.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const target = process.env.CARGO_TARGET_DIR ?? "target";
const place = createRequire(pathToFileURL(`${target}/bench-node/`)).resolve("@braintrust/lingua");
const wasm = (await import(pathToFileURL(place))).getWasm();

const TARGETS = { openai: "openai", anthropic: "anthropic", gemini: "google" };
const MODELS = { openai: "gpt-5", anthropic: "claude-sonnet-4-5", gemini: "gemini-3-pro" };
const VALIDATORS = {
  openai: wasm.validate_chat_completions_request,
  responses: wasm.validate_responses_request,
  anthropic: wasm.validate_anthropic_request,
  gemini: wasm.validate_google_request,
};

const TASKS = {
  // It takes requests, so that the conversation becomes one.
  convert({ from, to, document }) {
    const limit = from === "anthropic" ? { max_tokens: 1024 } : {};
    const request = JSON.stringify({ model: MODELS[from], ...limit, ...document });
    return { document: wasm.transform_request(request, TARGETS[to], MODELS[to]).data };
  },
  verdict({ family, document }) {
    const validate = VALIDATORS[family];
    if (!validate) return { skipped: "it validates no request of this family" };
    try {
      validate(JSON.stringify(document));
      return { ok: true };
    } catch {
      return { ok: false };
    }
  },
};

function answer(task, row) {
  if (!task) return { skipped: "it does not do this" };
  try {
    return task(row);
  } catch (err) {
    return { error: String(err?.message ?? err) };
  }
}

const task = TASKS[process.argv[2]];
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const row = JSON.parse(line);
  console.log(JSON.stringify({ id: row.id, ...answer(task, row) }));
}
