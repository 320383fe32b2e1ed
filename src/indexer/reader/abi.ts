import {
  type Abi,
  type Address,
  decodeErrorResult,
  erc20Abi,
  erc721Abi,
  erc1155Abi,
  type Hex,
  toFunctionSelector,
} from 'viem';
import { quotedText } from './abi-text.ts';
import { decodeCall } from './decode-call.ts';
import { decodeEvent } from './decode-event.ts';
import { panicText } from './panic.ts';

/** An ABI that the operator knows: of one contract, or (without an address) of any that matches. */
export interface KnownAbi {
  address?: Address;
  abi: Abi;
  name: string;
}

export interface DecodedParameter {
  name: string;
  type: string;
  /** Integers in decimal, addresses and bytes in hex, arrays and tuples as JSON of those. */
  value: string;
}

export interface DecodedInput {
  /** Such as `transfer(address to, uint256 value)`. */
  signature: string;
  selector: Hex;
  parameters: DecodedParameter[];
}

export interface DecodedLog {
  signature: string;
  /** First four bytes of the first topic. */
  selector: Hex;
  /** An indexed value of dynamic type is its hash: that is all the log holds. */
  parameters: (DecodedParameter & { indexed: boolean })[];
}

/** What is known about contracts' interfaces. Nothing here throws: what does not decode is null. */
export interface Abis {
  contractName(address: Address): string | null;
  /** Name of a method by selector, whoever has it. */
  methodName(selector: Hex): string | null;
  /** Selectors of all known methods of a name (overloads have several), else none. */
  selectorsOf(methodName: string): Hex[];
  decodeInput(call: { to: Address; input: Hex }): DecodedInput | null;
  decodeLog(log: { address: Address; topics: readonly Hex[]; data: Hex }): DecodedLog | null;
  /** The reason in words: of `Error(string)`, of a panic, or `Name(arg, arg)` of a known custom error. */
  decodeRevert(failure: { to: Address | null; output: Hex }): string | null;
}

const STANDARDS: readonly KnownAbi[] = [
  { name: 'ERC-20', abi: erc20Abi },
  { name: 'ERC-721', abi: erc721Abi },
  { name: 'ERC-1155', abi: erc1155Abi },
];

/** A registry of the given ABIs and the token standards'. A contract's own ABI is tried before all others. */
export function knownAbis(known: readonly KnownAbi[]): Abis {
  // Another contract's ABI comes last: it is right for clones and proxies, but its parameter names are its own.
  const everywhere = [
    ...known.filter(({ address }) => address === undefined),
    ...STANDARDS,
    ...known.filter(({ address }) => address !== undefined),
  ];
  const names = new Map<string, string>();
  const own = new Map<string, Abi[]>();
  for (const { address, abi, name } of known) {
    if (address === undefined) continue;
    const key = address.toLowerCase();
    if (!names.has(key)) names.set(key, name);
    own.set(key, [...(own.get(key) ?? []), abi]);
  }
  const methods = new Map<Hex, string>();
  for (const item of everywhere.flatMap(({ abi }) => abi)) {
    if (item.type !== 'function') continue;
    const selector = toFunctionSelector(item);
    if (!methods.has(selector)) methods.set(selector, item.name);
  }
  const inOrder = (address: Address | null): Abi[] => [
    ...(address === null ? [] : (own.get(address.toLowerCase()) ?? [])),
    ...everywhere.map(({ abi }) => abi),
  ];

  return {
    contractName: address => names.get(address.toLowerCase()) ?? null,
    methodName: selector => methods.get(lower(selector)) ?? null,
    selectorsOf: wanted => [...methods].filter(([, name]) => name === wanted).map(([selector]) => selector),
    decodeInput: ({ to, input }) => firstOf(inOrder(to), abi => decodeCall(abi, input)),
    decodeLog: ({ address, topics, data }) =>
      firstOf(inOrder(address), abi => decodeEvent(abi, topics, data)),
    decodeRevert: ({ to, output }) => firstOf(inOrder(to), abi => decodeError(abi, output)),
  };
}

/** viem knows `Error(string)` and `Panic(uint256)` beside whatever the ABI declares. */
function decodeError(abi: Abi, output: Hex): string | null {
  const { errorName, args = [] } = decodeErrorResult({ abi, data: output });
  const [first] = args;
  if (errorName === 'Error' && typeof first === 'string') return first;
  if (errorName === 'Panic' && typeof first === 'bigint') return panicText(first);
  return `${errorName}(${args.map(quotedText).join(', ')})`;
}

function firstOf<T>(abis: readonly Abi[], decode: (abi: Abi) => T | null): T | null {
  for (const abi of abis) {
    try {
      const decoded = decode(abi);
      if (decoded !== null) return decoded;
    } catch {
      // viem throws on what an ABI does not know or what does not fit it: the next may.
    }
  }
  return null;
}

function lower(selector: Hex): Hex {
  return `0x${selector.slice(2).toLowerCase()}`;
}
