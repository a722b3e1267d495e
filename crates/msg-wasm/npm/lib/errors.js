import { OPTIONS } from './options.js';

const camel = (name) => name.replace(/[-_]([a-z])/g, (_, it) => it.toUpperCase());
const KNOWN = new Set(Object.values(OPTIONS).flat());

/** The sentences of the engine that name what only the program has, in the words of this package. */
function inOurWords(message) {
  return message
    .replace('`msg convert --help`', '`FORMATS`')
    .replace(' (feature `bpe`)', '')
    .replace(/`msg (check|tools|stream)`/g, '`$1`')
    .replace(/, as `jq -s \.` does|; `-` reads a pipe, as in .*$/g, '')
    .replace(/ \(--([a-z-]+) N\)/g, '')
    .replace(/`--([a-z-]+) ([^`]*[a-z][^`]*)`/g, (flag, name, value) => (KNOWN.has(camel(name)) ? `\`${camel(name)}: "${value}"\`` : flag))
    .replace(/--repair\b/g, '`repair: true`')
    .replace(/--([a-z-]+)(?: [A-Z]+)?/g, (flag, name) => (KNOWN.has(camel(name)) ? `\`${camel(name)}\`` : flag))
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (it) => (KNOWN.has(camel(it)) ? camel(it) : it))
    .replace('this build reads and writes no logs of agents', 'this module has no logs of agents: `msg-conversations/sessions` has');
}

/** What every error of this package is; `code` says which, for programs. */
export class MsgError extends Error {
  constructor(message, code, options) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A document that cannot be read; `diagnostic` says where and why. */
export class ParseError extends MsgError {
  constructor(diagnostic) {
    const message = inOurWords(diagnostic.message);
    const fix = diagnostic.fix && inOurWords(diagnostic.fix);
    super(fix ? `${message}; ${fix}` : message, diagnostic.code);
    this.diagnostic = { ...diagnostic, message, ...(fix && { fix }) };
  }
}

/** An option that does not exist, or a value that it cannot have. */
export class OptionError extends MsgError {
  constructor(message, code = 'cli::bad-option') {
    super(inOurWords(message), code);
  }
}

/** Nothing that may be cut makes the conversation fit; `fitted` is what was reached. */
export class CannotFit extends MsgError {
  constructor(fitted) {
    super(fitted.reason ?? 'the conversation does not fit the budget', fitted.edits.find((it) => it.severity === 'error')?.code);
    this.fitted = fitted;
  }
}

/** A bug in this package. The next call starts afresh; parsers that were open are lost. */
export class InternalError extends MsgError {
  constructor(message, options) {
    super(message, 'internal', options);
  }
}
