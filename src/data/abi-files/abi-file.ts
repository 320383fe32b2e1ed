import { readFileSync } from 'node:fs';
import { type Abi, isAddress, toEventSelector, toFunctionSelector } from 'viem';
import type { KnownAbi } from '../../evm/abi/abi.ts';
import { isObject } from '../../lib/json.ts';

/**
 * Reads an ABI as compilers and tools write it: the array itself, or an object with `abi` and optional `address` and
 * `contractName`. `name` is used when the file has none.
 * @throws UnreadableAbi for anything else.
 */
export function plainAbi(file: string, name: string): KnownAbi {
  const content = readJson(file);
  const abi = checkedAbi(Array.isArray(content) ? content : member(content, 'abi'));
  const address = member(content, 'address');
  const contractName = member(content, 'contractName');
  const named = { name: typeof contractName === 'string' ? contractName : name, abi };
  if (address === undefined) return named;
  if (typeof address !== 'string' || !isAddress(address, { strict: false }))
    throw new UnreadableAbi('address must be 0x and 40 hex digits');
  return { ...named, address };
}

/**
 * Checks that a value is an ABI and usable for decoding.
 * @throws UnreadableAbi when it is not.
 */
export function checkedAbi(value: unknown): Abi {
  if (!isAbi(value)) throw new UnreadableAbi('must hold an ABI: an array of functions, events and errors');
  for (const item of value) {
    try {
      if (item.type === 'function') toFunctionSelector(item);
      if (item.type === 'event') toEventSelector(item);
    } catch (cause) {
      throw new UnreadableAbi('must hold an ABI whose types are those of Solidity', { cause });
    }
  }
  return value;
}

const KINDS: readonly unknown[] = ['function', 'event', 'error', 'constructor', 'fallback', 'receive'];
const NAMED: readonly unknown[] = ['function', 'event', 'error'];
const WITHOUT_INPUTS: readonly unknown[] = ['fallback', 'receive'];

function isAbi(value: unknown): value is Abi {
  return Array.isArray(value) && value.every(isItem);
}

function isItem(item: unknown): boolean {
  if (!isObject(item) || !KINDS.includes(item.type)) return false;
  if (NAMED.includes(item.type) && typeof item.name !== 'string') return false;
  const { inputs = WITHOUT_INPUTS.includes(item.type) ? [] : undefined } = item;
  return Array.isArray(inputs) && inputs.every(isParameter);
}

function isParameter(parameter: unknown): boolean {
  if (!isObject(parameter) || typeof parameter.type !== 'string') return false;
  if (!parameter.type.startsWith('tuple')) return true;
  return Array.isArray(parameter.components) && parameter.components.every(isParameter);
}

/** Thrown for a file that is not in the expected format. `message` is written for the operator. */
export class UnreadableAbi extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreadableAbi';
  }
}

/** Text of a file. @throws UnreadableAbi when it cannot be read. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UnreadableAbi('cannot be read', { cause });
  }
}

/** Parsed JSON of a file. @throws UnreadableAbi when it cannot be read or is not JSON. */
export function readJson(file: string): unknown {
  const text = readText(file);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnreadableAbi('must be JSON', { cause });
  }
}

/** Nested member of parsed JSON; undefined when the path does not exist. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (!isObject(found)) return undefined;
    found = Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}
