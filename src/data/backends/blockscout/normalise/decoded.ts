import { decodeAbiParameters } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { panicText } from '#evm/call-result.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, listOf } from '../../upstream-json/fields.ts';
import {
  bareHexOrNull,
  bigintOrNull,
  booleanOrNull,
  hexOrNull,
  textOrNull,
} from '../../upstream-json/values.ts';

type DecodedInput = ExplorerSchemas['DecodedInput'];
type DecodedLog = ExplorerSchemas['DecodedLog'];
type DecodedParameter = ExplorerSchemas['DecodedParameter'];
type DecodedLogParameter = ExplorerSchemas['DecodedLogParameter'];

const SELECTOR = /^(?:0x)?([0-9a-fA-F]{8})/;

/** Converts a decoded call of any generation. Null when upstream could not decode all of it (Decision 19). */
export function decodedInputOrNull(value: unknown): DecodedInput | null {
  return decodedOrNull(value, inputParameterOrNull);
}

/** Converts a decoded log of any generation, without the `abi` that 12.0 adds. Null as above (Decision 19). */
export function decodedLogOrNull(value: unknown): DecodedLog | null {
  return decodedOrNull(value, logParameterOrNull);
}

function decodedOrNull<Parameter>(value: unknown, parameterOrNull: (value: unknown) => Parameter | null) {
  if (!isObject(value)) return null;
  const methodCall = textOrNull(value.method_call);
  const selector = typeof value.method_id === 'string' ? SELECTOR.exec(value.method_id)?.[1] : undefined;
  if (methodCall === null || selector === undefined) return null;
  const parameters: Parameter[] = [];
  for (const item of listOf(value.parameters)) {
    const parameter = parameterOrNull(item);
    if (parameter === null) return null;
    parameters.push(parameter);
  }
  return { method_call: methodCall, method_id: selector.toLowerCase(), parameters };
}

function inputParameterOrNull(value: unknown): DecodedParameter | null {
  return isObject(value) ? parameterOrNull(value) : null;
}

function logParameterOrNull(value: unknown): DecodedLogParameter | null {
  if (!isObject(value)) return null;
  const parameter = parameterOrNull(value);
  return parameter === null ? null : { ...parameter, indexed: booleanOrNull(value.indexed) ?? false };
}

function parameterOrNull({ name, type, value }: Fields): DecodedParameter | null {
  const [typeName, text] = [textOrNull(type), decodedTextOrNull(value)];
  return typeName === null || text === null
    ? null
    : { name: textOrNull(name) ?? '', type: typeName, value: text };
}

/**
 * Converts a constructor's decoded arguments to pairs of value and ABI parameter. Values are text, or null when
 * upstream could not read them. Null when nothing was decoded (Decision 19).
 */
export function decodedArgumentsOrNull(value: unknown): unknown[][] | null {
  if (!Array.isArray(value)) return null;
  return value.map((pair: unknown) => {
    const [argument, description] = listOf(pair);
    return [decodedTextOrNull(argument), isObject(description) ? { ...description } : {}];
  });
}

/**
 * Converts a decoded value to text: a leaf as written, arrays and tuples as compact JSON with text leaves. Null when
 * upstream failed to write the value (Decision 19).
 */
function decodedTextOrNull(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value, withTextLeaves) : String(value);
}

function withTextLeaves(_key: string, part: unknown): unknown {
  return typeof part === 'object' ? part : String(part);
}

/**
 * Selectors of `Error(string)` and `Panic(uint256)`. Source: Solidity documentation, "Panic via assert and Error via
 * require".
 */
const ERROR = '08c379a0';
const PANIC = '4e487b71';

/** Returned data without 0x, as some versions give it: a selector and whole words. */
const BARE_DATA = /^[0-9a-fA-F]{8}(?:[0-9a-fA-F]{64})*$/;
/** Plain text returned by a contract. */
const PRINTABLE = /^[\x20-\x7e]+$/;
const WORD_BYTES = 32;
const SELECTOR_BYTES = 4;

/**
 * Revert reason as text. Upstream gives the returned data as `{raw}`, a decoded error, or text. Null when nothing was
 * returned (Decision 18).
 */
export function revertReasonOrNull(value: unknown): string | null {
  if (typeof value === 'string') return fromText(value);
  if (!isObject(value)) return null;
  const error = decodedInputOrNull(value);
  if (error !== null) return fromError(error);
  return typeof value.raw === 'string' ? fromText(bareHexOrNull(value.raw) ?? value.raw) : null;
}

function fromText(text: string): string | null {
  if (text === '' || text === '0x') return null;
  const data = hexOrNull(BARE_DATA.test(text) ? `0x${text}` : text);
  if (data === null) return text;
  return fromData(data.slice(2, 10).toLowerCase(), data.slice(10)) ?? printedOrNull(data) ?? data;
}

/** Text of returned data. Null for whole words, with or without a selector, and for bytes other than visible ASCII. */
function printedOrNull(data: string): string | null {
  const bytes = Buffer.from(data.slice(2), 'hex');
  const rest = bytes.length % WORD_BYTES;
  if (rest === 0 || rest === SELECTOR_BYTES) return null;
  const text = bytes.toString('latin1');
  return PRINTABLE.test(text) ? text : null;
}

function fromData(selector: string, words: string): string | null {
  try {
    if (selector === ERROR) return decodeAbiParameters([{ type: 'string' }], `0x${words}`)[0];
    if (selector === PANIC) return panicText(decodeAbiParameters([{ type: 'uint256' }], `0x${words}`)[0]);
  } catch {
    // A contract may return invalid data behind a standard selector. It then stays hex.
  }
  return null;
}

function fromError({ method_call, method_id, parameters }: ExplorerSchemas['DecodedInput']): string {
  const [first] = parameters;
  if (method_id === ERROR && first !== undefined) return first.value;
  const code = method_id === PANIC ? bigintOrNull(first?.value) : null;
  if (code !== null) return panicText(code);
  const [name] = method_call.split('(', 1);
  return `${name}(${parameters.map(argument).join(', ')})`;
}

/** Formats an argument. Quotes distinguish strings from numbers. */
function argument({ type, value }: ExplorerSchemas['DecodedParameter']): string {
  return type === 'string' ? JSON.stringify(value) : value;
}
