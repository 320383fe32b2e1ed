import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  type Hex,
  isHex,
  toEventSelector,
  toFunctionSelector,
} from 'viem';

type AbiError = Extract<Abi[number], { type: 'error' }>;

/**
 * Functions, events and errors of an ABI by selector or topic. Hashed once, because hashing costs more than decoding a
 * call.
 */
export interface Signatures {
  readonly functions: ReadonlyMap<Hex, AbiFunction>;
  /** Events with the same signature differ in which parameters are indexed. */
  readonly events: ReadonlyMap<Hex, readonly AbiEvent[]>;
  readonly errors: ReadonlyMap<Hex, AbiError>;
}

/** Indexes an ABI. Of two functions or errors with one selector, the first is used. Anonymous events have no topic. */
export function signaturesOf(abi: Abi): Signatures {
  const functions = new Map<Hex, AbiFunction>();
  const events = new Map<Hex, AbiEvent[]>();
  const errors = new Map<Hex, AbiError>();
  for (const item of abi) {
    if (item.type === 'function') {
      const selector = toFunctionSelector(item);
      if (!functions.has(selector)) functions.set(selector, item);
    } else if (item.type === 'event' && item.anonymous !== true) {
      const topic = toEventSelector(item);
      events.set(topic, [...(events.get(topic) ?? []), item]);
    } else if (item.type === 'error') {
      const selector = toFunctionSelector(`${item.name}(${item.inputs.map(typeText).join(',')})`);
      if (!errors.has(selector)) errors.set(selector, item);
    }
  }
  return { functions, events, errors };
}

/** Formats `name(type name, …)`, with `indexed` where it applies and tuples expanded. */
export function signatureText(name: string, inputs: readonly AbiParameter[]): string {
  return `${name}(${inputs.map(input => [typeText(input), ...words(input)].join(' ')).join(', ')})`;
}

/** Canonical type, with a tuple as its components in parentheses. */
export function typeText(parameter: AbiParameter): string {
  if (!parameter.type.startsWith('tuple') || !('components' in parameter)) return parameter.type;
  const inner = parameter.components.map(typeText).join(',');
  return `(${inner})${parameter.type.slice('tuple'.length)}`;
}

/** Formats a decoded value: integers in decimal, hex unchanged, arrays and tuples as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' || typeof part === 'number' ? String(part) : part,
  );
}

/** Formats a value inside an error's text. Quotes distinguish strings from numbers. */
export function quotedText(value: unknown): string {
  return typeof value === 'string' && !isHex(value) ? JSON.stringify(value) : valueText(value);
}

function words(parameter: AbiParameter): string[] {
  const isIndexed = 'indexed' in parameter && parameter.indexed === true;
  const name = parameter.name ?? '';
  return [...(isIndexed ? ['indexed'] : []), ...(name === '' ? [] : [name])];
}
