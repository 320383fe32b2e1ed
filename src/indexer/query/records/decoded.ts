import type { AbiParameter } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { DecodedValues } from '#evm/abi/decode.ts';
import { typeText } from '#evm/abi/signatures.ts';

/** Decoded call in the API's form (Decision 85). */
export function decodedCall(decoded: DecodedValues): InsightsSchemas['DecodedCall'] {
  const { name, inputs, args } = decoded;
  return { name, signature: canonical(decoded), inputs: named(inputs, args) };
}

/** Decoded event in the API's form (Decision 85). */
export function decodedEvent(decoded: DecodedValues): InsightsSchemas['DecodedEvent'] {
  const { name, inputs, args } = decoded;
  const all = inputs.map((input, position) => ({ input, position }));
  const those = (isIndexed: boolean) =>
    Object.fromEntries(
      all
        .filter(({ input }) => (input.indexed === true) === isIndexed)
        .map(({ input, position }) => [nameOf(input, position), plainValue(input, args[position])]),
    );
  return {
    name,
    signature: canonical(decoded),
    indexed_params: those(true),
    non_indexed_params: those(false),
  };
}

function canonical({ name, inputs }: DecodedValues): string {
  return `${name}(${inputs.map(typeText).join(',')})`;
}

function named(inputs: readonly AbiParameter[], values: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(
    inputs.map((input, position) => [nameOf(input, position), plainValue(input, values[position])]),
  );
}

/** Name of a parameter. An unnamed one is called by its position. */
function nameOf({ name = '' }: AbiParameter, position: number): string {
  return name === '' ? String(position) : name;
}

/**
 * JSON form of a decoded value. Integers are decimal text at every depth, because a JSON number cannot hold them. Hex
 * is lower-case.
 */
function plainValue(parameter: AbiParameter, value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  if (typeof value === 'string') return isText(parameter) ? value : value.toLowerCase();
  if (typeof value === 'boolean') return value;
  if (parameter.type.endsWith(']')) {
    const item = { ...parameter, type: parameter.type.replace(/\[\d*\]$/, '') };
    return Array.isArray(value) ? value.map(one => plainValue(item, one)) : [];
  }
  if (!('components' in parameter)) return null;
  const { components } = parameter;
  // viem returns a tuple with an unnamed member as a list.
  const values = Array.isArray(value)
    ? value
    : components.map(({ name = '' }) =>
        typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined,
      );
  return named(components, values);
}

function isText({ type }: AbiParameter): boolean {
  return type === 'string';
}
