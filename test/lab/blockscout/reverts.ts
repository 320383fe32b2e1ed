import {
  type Abi,
  type AbiParameter,
  encodeErrorResult,
  type Hex,
  isHex,
  parseAbi,
  toFunctionSelector,
} from 'viem';
import type { Fields } from '#data/backends/upstream-json/fields.ts';
import { type Generation, since } from './generation.ts';

const STANDARD = parseAbi(['error Error(string reason)', 'error Panic(uint256 code)']);

/** Converts the contract's text of a revert reason to upstream's `revert_reason`. */
export type WriteReason = (generation: Generation, text: unknown, isSingle: boolean) => unknown;

interface Reverted {
  readonly data: Hex;
  readonly call: Fields | undefined;
}

/** Lists have the raw returned data. Since 11 a single record has it decoded, by the ABIs of the verified contracts. */
export function reasonWriter(abis: readonly Abi[]): WriteReason {
  return (generation, text, isSingle) => {
    if (typeof text !== 'string') return null;
    const { data, call } = returned(text, abis);
    if (isSingle && since(generation, 'v11') && call !== undefined) return call;
    return { raw: since(generation, 'v6.9') ? data : data.slice(2) };
  };
}

function returned(text: string, abis: readonly Abi[]): Reverted {
  if (isHex(text)) return { data: text, call: undefined };
  const panic = /^Panic\((0x[0-9a-f]+)\)/.exec(text)?.[1];
  if (panic !== undefined) return encoded(STANDARD, 'Panic', [String(BigInt(panic))]);
  const [, name, list = ''] = /^(\w+)\((.*)\)$/s.exec(text) ?? [];
  const abi = abis.find(one => errorOf(one, name) !== undefined);
  if (name === undefined || abi === undefined) return encoded(STANDARD, 'Error', [text]);
  return encoded(abi, name, list === '' ? [] : list.split(', '));
}

function encoded(abi: Abi, name: string, texts: readonly string[]): Reverted {
  const item = errorOf(abi, name);
  if (item === undefined) throw new Error(`no error is called ${name}`);
  const { inputs } = item;
  const args = inputs.map(({ type }, index) => argument(type, texts[index] ?? ''));
  const types = inputs.map(({ type }) => type).join(',');
  return {
    data: encodeErrorResult({ abi: [item], errorName: name, args }),
    call: {
      method_call: `${name}(${inputs.map(described).join(', ')})`,
      method_id: toFunctionSelector(`${name}(${types})`).slice(2),
      parameters: inputs.map(({ name: own = '', type }, index) => ({ name: own, type, value: texts[index] })),
    },
  };
}

function errorOf(abi: Abi, name: string | undefined) {
  for (const item of abi) if (item.type === 'error' && item.name === name) return item;
  return undefined;
}

function described({ type, name }: AbiParameter): string {
  return name === undefined ? type : `${type} ${name}`;
}

function argument(type: string, text: string): unknown {
  return /^u?int/.test(type) ? BigInt(text) : text;
}
