// An endpoint on loopback that refuses what the providers refuse of pairs of calls and results, with their own sentences.
import { createServer } from 'node:http';

const refuse = (message) => ({ status: 400, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } });

function chat({ messages }) {
  let open = [];
  for (const it of messages) {
    if (it.role === 'tool') {
      if (!open.includes(it.tool_call_id)) return refuse("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.");
      open = open.filter((id) => id !== it.tool_call_id);
      continue;
    }
    if (open.length > 0) break;
    open = (it.tool_calls ?? []).map((call) => call.id);
  }
  if (open.length > 0) return refuse(`An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`);
  return undefined;
}

function responses({ input, previous_response_id, conversation }) {
  const items = Array.isArray(input) ? input : [];
  const of = (type) => items.filter((it) => it.type === type).map((it) => it.call_id);
  const [calls, outputs] = [of('function_call'), of('function_call_output')];
  const lone = calls.find((id) => !outputs.includes(id));
  if (lone) return refuse(`No tool output found for function call ${lone}.`);
  const isElsewhere = (previous_response_id ?? conversation) !== undefined || items.some((it) => it.type === 'item_reference');
  const orphan = isElsewhere ? undefined : outputs.find((id) => !calls.includes(id));
  return orphan && refuse(`No tool call found for function call output with call_id ${orphan}.`);
}

function anthropic({ messages }) {
  const of = (message, type) => (Array.isArray(message?.content) ? message.content.filter((it) => it.type === type) : []);
  for (const [at, it] of messages.entries()) {
    const results = of(messages[at + 1], 'tool_result').map((block) => block.tool_use_id);
    const lone = of(it, 'tool_use').find((block) => !results.includes(block.id));
    if (lone) return refuse(`messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${lone.id}.`);
    const calls = of(messages[at - 1], 'tool_use').map((block) => block.id);
    const orphan = of(it, 'tool_result').find((block) => !calls.includes(block.tool_use_id));
    if (orphan) return refuse(`messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan.tool_use_id}.`);
  }
  return undefined;
}

const ANSWERS = {
  '/v1/chat/completions': [chat, { id: 'a', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }],
  '/v1/responses': [responses, { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'ok', annotations: [] }] }], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } } }],
  '/v1/messages': [anthropic, { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } }],
};

/** What it answers to a request. */
export function answerOf(path, request) {
  const [judge, answer] = ANSWERS[path] ?? [() => refuse('no such path')];
  return judge(request) ?? { status: 200, body: answer };
}

/** Starts it; gives its address, the statuses that it answered, the requests, and how to stop it. */
export async function endpoint() {
  const [statuses, requests] = [[], []];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const it of request) text += it;
    requests.push(JSON.parse(text));
    const { status, body } = answerOf(request.url.split('?')[0], requests.at(-1));
    statuses.push(status);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, statuses, requests, stop: () => server.close() };
}
