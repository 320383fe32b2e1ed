import {
  type Abi,
  type AbiEvent,
  type Address,
  decodeAbiParameters,
  erc20Abi,
  erc721Abi,
  erc1155Abi,
  type Hex,
  parseAbi,
  size,
  slice,
} from 'viem';
import { lowerCase } from '../address.ts';
import { panicText } from '../call-result.ts';
import {
  type DecodedInput,
  type DecodedLog,
  type DecodedValues,
  decodeCall,
  decodeEvent,
  inputInWords,
  logInWords,
} from './decode.ts';
import { type DecodingBudget, mayDecode } from './decoding-budget.ts';
import { quotedText, type Signatures, signaturesOf } from './signatures.ts';

/** An ABI that the operator knows: of one contract, or (without an address) of any that matches. */
export interface KnownAbi {
  address?: Address;
  abi: Abi;
  name: string;
  /** Its sources, where they are known to be those of the code. Only with an address. */
  source?: ContractSource;
}

export interface LogToDecode {
  address: Address;
  topics: readonly Hex[];
  data: Hex;
}

/** What is known about contracts' interfaces. Nothing here throws: what does not decode is null. */
export interface Abis {
  contractName(address: Address): string | null;
  /** What the operator gave for this very address, with sources if there are any. */
  knownContract(address: Address): KnownAbi | null;
  /** Every contract whose name is known, whether it is on the chain or not. */
  namedContracts(): { address: Address; name: string }[];
  /** Name of a method by selector, whoever has it. */
  methodName(selector: Hex): string | null;
  /** Selectors of all known methods of a name (overloads have several), else none. */
  selectorsOf(methodName: string): Hex[];
  decodeInput(call: { to: Address; input: Hex }): DecodedInput | null;
  decodeLog(log: LogToDecode): DecodedLog | null;
  /** The same with the values themselves, within the budget if there is one. */
  callOf(call: { to: Address; input: Hex }, budget?: DecodingBudget): DecodedValues | null;
  /** The same with the values themselves; `like` is an event whose ABI is tried before all others. */
  eventOf(log: LogToDecode, like?: AbiEvent, budget?: DecodingBudget): DecodedValues | null;
  /** The reason in words: of `Error(string)`, of a panic, or `Name(arg, arg)` of a known custom error. */
  decodeRevert(failure: { to: Address | null; output: Hex }): string | null;
}

const STANDARDS: readonly KnownAbi[] = [
  { name: 'ERC-20', abi: erc20Abi },
  { name: 'ERC-721', abi: erc721Abi },
  { name: 'ERC-1155', abi: erc1155Abi },
];

/** What the language itself reverts with. */
const SOLIDITY_ERRORS = signaturesOf(
  parseAbi(['error Error(string message)', 'error Panic(uint256 reason)']),
);

/** A registry of the given ABIs and the token standards'. A contract's own ABI is tried before all others. */
export function knownAbis(known: readonly KnownAbi[]): Abis {
  // Another contract's ABI comes last: it is right for clones and proxies, but its parameter names are its own.
  const everywhere = [
    ...known.filter(({ address }) => address === undefined),
    ...STANDARDS,
    ...known.filter(({ address }) => address !== undefined),
  ];
  const names = new Map<string, { address: Address; name: string }>();
  const own = new Map<string, KnownAbi[]>();
  for (const contract of known) {
    const { address, name } = contract;
    if (address === undefined) continue;
    const key = address.toLowerCase();
    if (!names.has(key)) names.set(key, { address, name });
    own.set(key, [...(own.get(key) ?? []), contract]);
  }
  const ownOf = (address: Address | null) => own.get(address?.toLowerCase() ?? '') ?? [];
  const methods = new Map<Hex, string>();
  const signatures = new Map<Abi, Signatures>(everywhere.map(({ abi }) => [abi, signaturesOf(abi)]));
  for (const { functions } of signatures.values()) {
    for (const [selector, { name }] of functions) if (!methods.has(selector)) methods.set(selector, name);
  }
  const inOrder = (known: readonly KnownAbi[]): Signatures[] =>
    known.flatMap(({ abi }) => signatures.get(abi) ?? []);
  // There may be hundreds of ABIs, and lists of transactions ask for each input.
  const anywhere = inOrder(everywhere);
  const withFunction = bySelector(anywhere, ({ functions }) => functions.keys());
  const withEvent = bySelector(anywhere, ({ events }) => events.keys());

  const callOf: Abis['callOf'] = ({ to, input }, budget) =>
    firstOf([...inOrder(ownOf(to)), ...(withFunction.get(input.slice(0, 10)) ?? [])], one =>
      decodeCall(one, input, budget),
    );
  const eventOf: Abis['eventOf'] = ({ address, topics, data }, like, budget) => {
    const own = [...(like === undefined ? [] : [signaturesOfOne(like)]), ...inOrder(ownOf(address))];
    const [topic = ''] = topics;
    return firstOf([...own, ...(withEvent.get(topic) ?? [])], one => decodeEvent(one, topics, data, budget));
  };

  /** All logs of a page are decoded like one event. */
  const likes = new WeakMap<AbiEvent, Signatures>();
  function signaturesOfOne(event: AbiEvent): Signatures {
    const known = likes.get(event) ?? signaturesOf([event]);
    likes.set(event, known);
    return known;
  }

  return {
    contractName: address => names.get(address.toLowerCase())?.name ?? null,
    namedContracts: () => [...names.values()],
    knownContract: address => {
      const contracts = ownOf(address);
      return contracts.find(({ source }) => source !== undefined) ?? contracts[0] ?? null;
    },
    methodName: selector => methods.get(lowerCase(selector)) ?? null,
    selectorsOf: wanted => [...methods].filter(([, name]) => name === wanted).map(([selector]) => selector),
    callOf,
    eventOf,
    decodeInput(call) {
      const decoded = callOf(call);
      return decoded === null ? null : inputInWords(decoded);
    },
    decodeLog(log) {
      const decoded = eventOf(log);
      return decoded === null ? null : logInWords(decoded);
    },
    decodeRevert: ({ to, output }) =>
      firstOf([SOLIDITY_ERRORS, ...inOrder(ownOf(to)), ...anywhere], one => decodeError(one, output)),
  };
}

/** ABIs by the selectors that they have, in the order of the ABIs. */
function bySelector(
  abis: readonly Signatures[],
  selectorsOf: (abi: Signatures) => Iterable<Hex>,
): ReadonlyMap<string, readonly Signatures[]> {
  const found = new Map<string, Signatures[]>();
  for (const abi of new Set(abis)) {
    for (const selector of selectorsOf(abi)) {
      const others = found.get(selector);
      if (others === undefined) found.set(selector, [abi]);
      else others.push(abi);
    }
  }
  return found;
}

function decodeError({ errors }: Signatures, output: Hex): string | null {
  if (size(output) < 4) return null;
  const item = errors.get(lowerCase(slice(output, 0, 4)));
  const data: Hex = `0x${output.slice(10)}`;
  if (item === undefined || !mayDecode(item.inputs, data)) return null;
  const { name, inputs } = item;
  const args: readonly unknown[] = inputs.length === 0 ? [] : decodeAbiParameters(inputs, data);
  const [first] = args;
  if (name === 'Error' && typeof first === 'string') return first;
  if (name === 'Panic' && typeof first === 'bigint') return panicText(first);
  return `${name}(${args.map(quotedText).join(', ')})`;
}

function firstOf<From, T>(abis: readonly From[], decode: (abi: From) => T | null): T | null {
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

/** Where a known contract's code came from, and how sure that is. Everything the compiler was given and gave. */
export interface ContractSource {
  /** Name in the source text. */
  readonly contractName: string;
  readonly language: 'solidity' | 'vyper' | 'yul';
  /** With a leading `v`, such as `v0.8.30+commit.73712a01`. */
  readonly compilerVersion: string;
  /** The compiler's settings as given to it. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly filePath: string;
  readonly sourceCode: string;
  readonly additionalSources: readonly { readonly path: string; readonly content: string }[];
  /** `full` when the code matches down to the hash of its metadata. */
  readonly match: 'full' | 'partial';
  /** Whether the match is the finding of a public registry of verified contracts. */
  readonly isFromRegistry: boolean;
  /** Without constructor arguments; null when unknown. */
  readonly creationCode: Hex | null;
  /** As compiled, immutables zero; null when unknown. */
  readonly deployedCode: Hex | null;
  /** Bytes of the deployed code that the constructor filled in. */
  readonly immutables: readonly { readonly start: number; readonly length: number }[];
  /** ABI-encoded constructor arguments, where they are known beforehand. */
  readonly constructorArgs: Hex | null;
}
