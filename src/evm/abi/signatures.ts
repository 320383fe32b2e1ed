import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  type Hex,
  toEventSelector,
  toFunctionSelector,
} from 'viem';
import { typeText } from './abi-text.ts';

type AbiError = Extract<Abi[number], { type: 'error' }>;

/** An ABI by what calls and logs begin with, hashed once: hashing it anew for each call costs more than all the rest. */
export interface Signatures {
  readonly functions: ReadonlyMap<Hex, AbiFunction>;
  /** Events of one signature differ in which parameters are indexed. */
  readonly events: ReadonlyMap<Hex, readonly AbiEvent[]>;
  readonly errors: ReadonlyMap<Hex, AbiError>;
}

/** Of two functions or errors with one selector the first counts. Anonymous events have no signature. */
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
