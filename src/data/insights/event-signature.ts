import { type AbiEvent, type AbiParameter, isHash, keccak256, toHex } from 'viem';
import { InvalidParameter } from '../../contract/contracts/violations.ts';

/** Event meant by a request. */
interface NamedEvent {
  /** First topic of the event, in lower case. */
  readonly topic0: string;
  /**
   * Normalized signature with names and `indexed`, enough for decoding. Absent when the request marks no parameter as
   * indexed.
   */
  readonly signature?: string;
  /** Types only, without names and spaces. Absent when only the topic was given. */
  readonly canonical?: string;
  /** Parsed form of `signature`. */
  readonly abi?: AbiEvent;
}

/**
 * Reads an event's signature, canonical or with names, `indexed` and spaces, or its topic (Decision 84).
 * @throws InvalidParameter for any other text.
 */
export function namedEvent(text: string): NamedEvent {
  const trimmed = text.trim();
  if (isHash(trimmed)) return { topic0: trimmed.toLowerCase() };
  const named = signatureNamed(trimmed);
  if (named === null) {
    throw new InvalidParameter(
      'signature',
      'must be an event signature such as Transfer(address,address,uint256), or its topic of 32 bytes',
    );
  }
  return named;
}

/** Reads a signature alone, which may also be a function's. Null for any other text. */
export function signatureNamed(text: string): NamedEvent | null {
  const abi = parsedEvent(text);
  if (abi === null) return null;
  const canonical = `${abi.name}(${abi.inputs.map(typeOf).join(',')})`;
  const topic0 = keccak256(toHex(canonical));
  if (!abi.inputs.some(({ indexed }) => indexed)) return { topic0, canonical };
  return { topic0, canonical, signature: `${abi.name}(${abi.inputs.map(spelt).join(', ')})`, abi };
}

function typeOf(parameter: AbiParameter): string {
  return typeWith(parameter, parts => parts.map(typeOf).join(','));
}

function spelt(parameter: AbiParameter & { readonly indexed?: boolean | undefined }): string {
  const type = typeWith(parameter, parts => parts.map(spelt).join(', '));
  return [type, parameter.indexed === true ? 'indexed' : '', parameter.name ?? '']
    .filter(word => word !== '')
    .join(' ');
}

function typeWith(parameter: AbiParameter, inside: (parts: readonly AbiParameter[]) => string): string {
  if (!('components' in parameter)) return parameter.type;
  return `(${inside(parameter.components)})${parameter.type.slice('tuple'.length)}`;
}

/** One parameter of an event. */
type EventParameter = AbiEvent['inputs'][number];

/** State of the parser. */
interface ParserState {
  readonly tokens: readonly string[];
  at: number;
  parameters: number;
}

const TOKENS = /[A-Za-z_$][\w$]*|\[\d*\]|[(),]/g;
const BLANKS = /\s+/g;
const NAME = /^[A-Za-z_$][\w$]*$/;
const DIMENSION = /^\[(?:[1-9]\d{0,8})?\]$/;
const INTEGER =
  /^u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|216|224|232|240|248|256)$/;
const BYTES = /^bytes(?:[1-9]|[12]\d|3[0-2])?$/;
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['uint', 'uint256'],
  ['int', 'int256'],
]);
/** Explorers' notation of an indexed parameter. */
const EXPLORER_STYLE = /^index_topic_\d+$/;
/** Solidity keywords that may not be used as names. */
const NO_NAMES: ReadonlySet<string> = new Set(
  (
    'anonymous calldata constant constructor enum error event external fallback false function immutable indexed internal ' +
    'mapping memory modifier payable private public pure receive return returns storage struct true tuple view virtual'
  ).split(' '),
);
const MAX_PARAMETERS = 128;
const DEEPEST = 8;
/** A log has four topics, and the first is the event's. */
const MAX_INDEXED = 3;

/** Parses `Name(type indexed name, …)`; null for anything else. Caches nothing, because attackers choose the text. */
function parsedEvent(text: string): AbiEvent | null {
  const tokens = text.match(TOKENS) ?? [];
  // Characters that belong to no token make the text longer than its tokens.
  if (tokens.join('').length !== text.replace(BLANKS, '').length) return null;
  const [name = ''] = tokens;
  if (!isName(name)) return null;
  const reading: ParserState = { tokens, at: 1, parameters: 0 };
  const inputs = list(reading, 0);
  if (inputs === null || reading.at !== tokens.length) return null;
  if (inputs.filter(({ indexed }) => indexed).length > MAX_INDEXED) return null;
  return { type: 'event', name, inputs };
}

/** A parameter list in parentheses. */
function list(reading: ParserState, depth: number): EventParameter[] | null {
  if (depth > DEEPEST || !took(reading, '(')) return null;
  const parameters: EventParameter[] = [];
  if (depth === 0 && took(reading, ')')) return parameters;
  do {
    const one = parameter(reading, depth);
    if (one === null) return null;
    parameters.push(one);
  } while (took(reading, ','));
  return took(reading, ')') ? parameters : null;
}

function parameter(reading: ParserState, depth: number): EventParameter | null {
  reading.parameters++;
  if (reading.parameters > MAX_PARAMETERS) return null;
  const mayBeIndexed = depth === 0;
  const isMarked = mayBeIndexed && EXPLORER_STYLE.test(reading.tokens[reading.at] ?? '');
  if (isMarked) reading.at++;
  const type = parameterType(reading, depth);
  if (type === null) return null;
  const indexed = (mayBeIndexed && !isMarked && took(reading, 'indexed')) || isMarked;
  const word = reading.tokens[reading.at] ?? '';
  const isNamed = isName(word);
  if (isNamed) reading.at++;
  return { ...type, ...(isNamed ? { name: word } : {}), ...(mayBeIndexed ? { indexed } : {}) };
}

function parameterType(reading: ParserState, depth: number): AbiParameter | null {
  if (reading.tokens[reading.at] === '(') {
    const components = list(reading, depth + 1);
    const size = dimensions(reading);
    return components === null || size === null ? null : { type: `tuple${size}`, components };
  }
  const type = elementary(reading.tokens[reading.at] ?? '');
  reading.at++;
  const size = dimensions(reading);
  return type === null || size === null ? null : { type: `${type}${size}` };
}

/** Array suffixes such as `[]` and `[3]`; null when one is invalid or there are too many. */
function dimensions(reading: ParserState): string | null {
  const start = reading.at;
  while (DIMENSION.test(reading.tokens[reading.at] ?? '')) reading.at++;
  const all = reading.tokens.slice(start, reading.at);
  return all.length > DEEPEST ? null : all.join('');
}

function elementary(word: string): string | null {
  const type = ALIASES.get(word) ?? word;
  const isKnown = ['address', 'bool', 'string'].includes(type) || INTEGER.test(type) || BYTES.test(type);
  return isKnown ? type : null;
}

function isName(word: string): boolean {
  return NAME.test(word) && !NO_NAMES.has(word) && elementary(word) === null;
}

function took(reading: ParserState, token: string): boolean {
  if (reading.tokens[reading.at] !== token) return false;
  reading.at++;
  return true;
}
