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
import { isCoinLog } from '../coin-logs.ts';
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

/** ABI given by the operator: of one contract, or (without an address) of any contract that matches. */
export interface KnownAbi {
  address?: Address;
  abi: Abi;
  name: string;
  /** Source code, when it is known to match the deployed code. Only with an address. */
  source?: ContractSource;
}

interface LogToDecode {
  address: Address;
  topics: readonly Hex[];
  data: Hex;
}

/** Known contract interfaces. No method throws: input that cannot be decoded gives null. */
export interface Abis {
  contractName(address: Address): string | null;
  /** The operator's entry for this address, preferring one with sources. */
  knownContract(address: Address): KnownAbi | null;
  /** All named contracts, whether or not they exist on the chain. */
  namedContracts(): { address: Address; name: string }[];
  /** Name of a method by selector, from any known ABI. */
  methodName(selector: Hex): string | null;
  /** Selectors of all known methods with this name. Overloads have several. */
  selectorsOf(methodName: string): Hex[];
  decodeInput(call: { to: Address; input: Hex }): DecodedInput | null;
  decodeLog(log: LogToDecode): DecodedLog | null;
  /** Like `decodeInput`, but with typed values. Limited by the budget, if given. */
  callOf(call: { to: Address; input: Hex }, budget?: DecodingBudget): DecodedValues | null;
  /** Like `decodeLog`, but with typed values. The ABI of the event `like` is tried first. */
  eventOf(log: LogToDecode, like?: AbiEvent, budget?: DecodingBudget): DecodedValues | null;
  /** Revert reason as text: of `Error(string)`, of a panic, or `Name(arg, arg)` of a known custom error. */
  decodeRevert(failure: { to: Address | null; output: Hex }): string | null;
}

const STANDARDS: readonly KnownAbi[] = [
  { name: 'ERC-20', abi: erc20Abi },
  { name: 'ERC-721', abi: erc721Abi },
  { name: 'ERC-1155', abi: erc1155Abi },
];

/** Events of the chain itself. */
const COINS = signaturesOf(
  parseAbi([
    'event Transfer(address indexed from, address indexed to, uint256 amount)',
    'event Burn(address indexed account, uint256 amount)',
  ]),
);

/** Errors that Solidity itself reverts with. */
const SOLIDITY_ERRORS = signaturesOf(
  parseAbi(['error Error(string message)', 'error Panic(uint256 reason)']),
);

/** Creates a registry of the given ABIs and the token standards'. A contract's own ABI is tried first. */
export function knownAbis(known: readonly KnownAbi[]): Abis {
  // ABIs of other contracts come last. They fit clones and proxies, but their parameter names may be wrong.
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
  // Indexed because there may be hundreds of ABIs, and transaction lists decode every input.
  const anywhere = inOrder(everywhere);
  const withFunction = bySelector(anywhere, ({ functions }) => functions.keys());
  const withEvent = bySelector(anywhere, ({ events }) => events.keys());

  const callOf: Abis['callOf'] = ({ to, input }, budget) =>
    firstOf([...inOrder(ownOf(to)), ...(withFunction.get(input.slice(0, 10)) ?? [])], one =>
      decodeCall(one, input, budget),
    );
  const eventOf: Abis['eventOf'] = ({ address, topics, data }, like, budget) => {
    const own = [
      ...(like === undefined ? [] : [signaturesOfOne(like)]),
      ...(isCoinLog({ address }) ? [COINS] : []),
      ...inOrder(ownOf(address)),
    ];
    const [topic = ''] = topics;
    return firstOf([...own, ...(withEvent.get(topic) ?? [])], one => decodeEvent(one, topics, data, budget));
  };

  /** Cached because all logs of a page share one event ABI. */
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

/** Groups ABIs by selector, keeping their order. */
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
      // viem throws when the ABI does not fit. The next one may.
    }
  }
  return null;
}

/** Source code of a known contract, with all compiler input and output. */
export interface ContractSource {
  /** Contract name in the source code. */
  readonly contractName: string;
  readonly language: 'solidity' | 'vyper' | 'yul';
  /** With a leading `v`, such as `v0.8.30+commit.73712a01`. */
  readonly compilerVersion: string;
  /** The compiler's settings as given to it. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly filePath: string;
  readonly sourceCode: string;
  readonly additionalSources: readonly { readonly path: string; readonly content: string }[];
  /** `full` when the code matches including its metadata hash. */
  readonly match: 'full' | 'partial';
  /** True when a public registry of verified contracts confirmed the match. */
  readonly isFromRegistry: boolean;
  /** Without constructor arguments; null when unknown. */
  readonly creationCode: Hex | null;
  /** As compiled, with immutables set to zero; null when unknown. */
  readonly deployedCode: Hex | null;
  /** Byte ranges of the deployed code that the constructor fills in. */
  readonly immutables: readonly { readonly start: number; readonly length: number }[];
  /** ABI-encoded constructor arguments; null when not known in advance. */
  readonly constructorArgs: Hex | null;
}
