/** One function, event or error of an ABI, as shown to people. */
export interface AbiEntry {
  /** `function`, `event`, `error`, `constructor`, `fallback` or `receive`. */
  readonly kind: string;
  /** `transfer(address to, uint256 value) → bool`. */
  readonly signature: string;
  /** `view`, `pure`, `payable` or `nonpayable`; undefined for entries that are not called. */
  readonly mutability: string | undefined;
  readonly isAnonymous: boolean;
}

/** Limit of nested tuples, because a stranger may have written the ABI. */
const MAX_DEPTH = 8;

/** Reads an ABI from an untrusted source. Malformed entries are left out; the others are sorted by name. */
export function abiEntries(abi: string): readonly AbiEntry[] {
  return listIn(parsed(abi))
    .flatMap(entryIn)
    .sort((one, other) => (one.signature < other.signature ? -1 : 1));
}

function entryIn(value: unknown): AbiEntry[] {
  const {
    type = 'function',
    name,
    inputs,
    outputs,
    stateMutability,
    constant,
    payable,
    anonymous,
  } = recordIn(value);
  if (typeof type !== 'string') return [];
  const title = typeof name === 'string' && name !== '' ? name : type;
  const results = listIn(outputs).map(output => parameterText(output));
  const result =
    results.length === 0 ? '' : ` → ${results.length === 1 ? results[0] : `(${results.join(', ')})`}`;
  return [
    {
      kind: type,
      signature: `${title}(${listIn(inputs)
        .map(input => parameterText(input))
        .join(', ')})${result}`,
      mutability: mutabilityOf({ stateMutability, constant, payable }),
      isAnonymous: anonymous === true,
    },
  ];
}

/** Before Solidity 0.5, compilers wrote `constant` and `payable` instead of `stateMutability`. */
function mutabilityOf({
  stateMutability,
  constant,
  payable,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof stateMutability === 'string') return stateMutability;
  if (constant === true) return 'view';
  return payable === true ? 'payable' : undefined;
}

function parameterText(value: unknown, depth = 0): string {
  const { type, name, indexed, components } = recordIn(value);
  const typeName = typeof type === 'string' ? type : 'unknown';
  const text =
    typeName.startsWith('tuple') && depth < MAX_DEPTH
      ? `(${listIn(components)
          .map(one => parameterText(one, depth + 1))
          .join(', ')})${typeName.slice('tuple'.length)}`
      : typeName;
  const parts = [text, indexed === true && 'indexed', typeof name === 'string' && name];
  return parts.filter(Boolean).join(' ');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return [];
  }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
