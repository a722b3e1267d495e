// Options in camel case, as the engine's options in snake case.
import { OptionError } from './errors.js';
import { isWellFormed, jsonOf, kindOf } from './input.js';
import { OPTIONS } from './options.js';

const snake = (name) => name.replace(/[A-Z]/g, (it) => `_${it.toLowerCase()}`);
const camel = (name) => name.replace(/_([a-z])/g, (_, it) => it.toUpperCase());

/** Options whose own members are options too. */
const NESTED = new Set(['config', 'usage']);

/** The JSON text of options, or nothing where there are none. An unknown name is an `OptionError`. */
export function optionsOf(act, options) {
  if (options === undefined || options === null) return undefined;
  if (typeof options !== 'object' || Symbol.iterator in options) throw new TypeError(`expected an object of options, found ${kindOf(options)}`);
  const known = OPTIONS[act];
  const members = {};
  let isEmpty = true;
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) throw new OptionError(unknown(act, name, known));
    if (value === undefined) continue;
    if (typeof value === 'function' || typeof value === 'symbol') throw new OptionError(`${name}: expected a value that JSON has, found ${kindOf(value)}`);
    isEmpty = false;
    members[snake(name)] = NESTED.has(name) ? nested(value) : value;
  }
  if (isEmpty) return undefined;
  try {
    return jsonOf(members, held);
  } catch (error) {
    if (error instanceof OptionError) throw error;
    throw new OptionError(error.message);
  }
}

/** Refuses a value of options that JSON has no place for. */
function held(name, value) {
  if (typeof value === 'bigint') throw new OptionError(`${camel(name)}: expected a number, found ${value}n`);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new OptionError(`${camel(name)}: expected a number, found ${value}`);
  if (typeof value === 'string' && !isWellFormed(value)) throw new OptionError(`${camel(name)}: half of a surrogate pair, which UTF-8 cannot hold`);
  return value;
}

function nested(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [snake(name), it]));
}

function unknown(act, name, known) {
  const meant = known.find((it) => it === camel(name)) ?? nearest(name, known);
  return `${act} has no option ${JSON.stringify(name)}${meant ? `, did you mean ${JSON.stringify(meant)}?` : ''}`;
}

/** The name that differs in at most a third of its letters. */
function nearest(name, known) {
  const [best, by] = known.map((it) => [it, distance(name.toLowerCase(), it.toLowerCase())])
    .reduce((a, b) => (b[1] < a[1] ? b : a), ['', Infinity]);
  return by <= Math.max(1, Math.floor(best.length / 3)) ? best : undefined;
}

function distance(a, b) {
  if (a.length > 40) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}

/** What the engine calls the types of values. */
const TYPES = [
  [/\b[iu](?:8|16|32|64|size)\b/g, 'a whole number'], [/\bf64\b/g, 'a number'], [/\ba sequence\b/g, 'a list'], [/\b(?:a map|struct \w+)/g, 'an object'],
];

const MISTAKE = /^(?:invalid (?:type|value): (?:string |integer |boolean |floating point )?(?<found>.*), expected (?<expected>.*)|unknown variant (?<variant>`.*?`), .*)$/;

/** `budget: expected a whole number, found "9"` for an engine's `invalid type: string "9", expected u64`. */
function named(sentence, options) {
  const { found, expected, variant } = MISTAKE.exec(sentence)?.groups ?? {};
  const value = (found ?? variant)?.replace(/^`(.*)`$/, found === undefined ? '"$1"' : '$1');
  if (value === undefined) return sentence;
  const is = (it) => (Array.isArray(it) ? 'sequence' : typeof it === 'object' ? 'map' : JSON.stringify(it));
  const names = Object.entries(JSON.parse(options ?? '{}')).filter(([, it]) => is(it) === value).map(([name]) => name);
  const prefix = names.length === 1 ? `${names[0]}: ` : '';
  if (variant !== undefined) return prefix + sentence.replace('unknown variant', 'unknown value');
  if (/^-\d+$/.test(value) && /^u(?:8|16|32|64|size)$/.test(expected)) return `${prefix}expected a number from 0, found ${value}`;
  const type = TYPES.reduce((text, [engines, name]) => text.replace(engines, name), expected);
  return `${prefix}expected ${type}, found ${{ sequence: 'a list', map: 'an object' }[value] ?? value}`;
}

/** A refused value with the one that was meant, where that is near: `no profile is called "opnai", …`. */
function withGuess(sentence) {
  const [, , given, known] = /(["`])(.+?)\1.*?[,:] expected (?:one of )?(.*)$/.exec(sentence) ?? [];
  if (given === undefined) return sentence;
  const meant = nearest(given, known.split(/, | or /).map((it) => it.replace(/[`"]/g, '')));
  return meant ? `${sentence}; did you mean ${JSON.stringify(meant)}?` : sentence;
}

/** The engine's sentence about the JSON text of options, with the names of this package. */
export function spelled(message, options) {
  const names = new Set(Object.values(OPTIONS).flat().map(snake));
  const own = message.replace(/^options are not understood: |^option \w+: /, '').replace(/ at line 1 column \d+$/, '').replace(/ \(--(\w+) N\)/, ' (`$1`)');
  return withGuess(named(own, options).replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (it) => (names.has(it) ? camel(it) : it)));
}
