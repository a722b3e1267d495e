// Many calls, answers, errors and parsers: the memory of the module does not grow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as msg from 'msg-conversations';

const memories = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...given) {
    super(...given);
    memories.push(this.exports.memory);
  }
};

const USER = { role: 'user', content: 'hi' };
const ORPHAN = { role: 'tool', tool_call_id: 'c9', content: '42' };
const refused = (act) => assert.throws(act);
const ACTS = {
  check: () => msg.check([USER]),
  repair: () => msg.repair([USER, ORPHAN]),
  convert: () => msg.convert([USER], 'anthropic'),
  'a document that is refused': () => refused(() => msg.check('{')),
  'an option that is refused': () => refused(() => msg.check([USER], { maxChars: 3 })),
  'options of their own': (n) => msg.check([USER], { maxBytes: 1000 + n }),
  'parsers that are finished': () => {
    const parser = new msg.ToolParser();
    parser.feed('a');
    parser.finish();
  },
  'assemblers that are closed': () => {
    const assembler = new msg.StreamAssembler();
    assembler.feed('data: {}\n\n');
    assembler.close();
  },
};

test('a hundred thousand calls', () => {
  const run = (times) => {
    for (const act of Object.values(ACTS)) for (let n = 0; n < times; n += 1) act(n);
  };
  run(500);
  const before = memories.map((it) => it.buffer.byteLength);
  run(12_500);
  assert.deepEqual(memories.map((it) => it.buffer.byteLength), before);
  assert.equal(memories.length, 1);
});
