import { type AbiParameter, isHex } from 'viem';

/** `name(type name, …)`, with `indexed` where it applies; tuples are written out. */
export function signatureText(name: string, inputs: readonly AbiParameter[]): string {
  return `${name}(${inputs.map(input => [typeText(input), ...words(input)].join(' ')).join(', ')})`;
}

/** The canonical type, a tuple as its components in brackets. */
export function typeText(parameter: AbiParameter): string {
  if (!parameter.type.startsWith('tuple') || !('components' in parameter)) return parameter.type;
  const inner = parameter.components.map(typeText).join(',');
  return `(${inner})${parameter.type.slice('tuple'.length)}`;
}

/** A decoded value as text: integers in decimal, hex as it is, anything with parts as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' || typeof part === 'number' ? String(part) : part,
  );
}

/** A value inside an error's text: quotes tell words from numbers. */
export function quotedText(value: unknown): string {
  return typeof value === 'string' && !isHex(value) ? JSON.stringify(value) : valueText(value);
}

function words(parameter: AbiParameter): string[] {
  const isIndexed = 'indexed' in parameter && parameter.indexed === true;
  const name = parameter.name ?? '';
  return [...(isIndexed ? ['indexed'] : []), ...(name === '' ? [] : [name])];
}
