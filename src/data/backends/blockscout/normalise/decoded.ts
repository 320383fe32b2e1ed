import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, listOf } from '../../upstream-json/fields.ts';
import { booleanOrNull, textOrNull } from '../../upstream-json/values.ts';
import { decodedTextOrNull } from './decoded-text.ts';

type DecodedInput = ExplorerSchemas['DecodedInput'];
type DecodedLog = ExplorerSchemas['DecodedLog'];
type DecodedParameter = ExplorerSchemas['DecodedParameter'];
type DecodedLogParameter = ExplorerSchemas['DecodedLogParameter'];

const SELECTOR = /^(?:0x)?([0-9a-fA-F]{8})/;

/** A decoded call of any generation; null where upstream could not decode it, or not all of it. Decision 19. */
export function decodedInputOrNull(value: unknown): DecodedInput | null {
  return decodedOrNull(value, inputParameterOrNull);
}

/** A decoded log of any generation, without the `abi` that 12.0 adds; null as above. Decision 19. */
export function decodedLogOrNull(value: unknown): DecodedLog | null {
  return decodedOrNull(value, logParameterOrNull);
}

function decodedOrNull<Parameter>(value: unknown, parameterOrNull: (value: unknown) => Parameter | null) {
  if (!isObject(value)) return null;
  const methodCall = textOrNull(value.method_call);
  const selector = typeof value.method_id === 'string' ? SELECTOR.exec(value.method_id)?.[1] : undefined;
  if (methodCall === null || selector === undefined) return null;
  const parameters: Parameter[] = [];
  for (const item of listOf(value.parameters)) {
    const parameter = parameterOrNull(item);
    if (parameter === null) return null;
    parameters.push(parameter);
  }
  return { method_call: methodCall, method_id: selector.toLowerCase(), parameters };
}

function inputParameterOrNull(value: unknown): DecodedParameter | null {
  return isObject(value) ? parameterOrNull(value) : null;
}

function logParameterOrNull(value: unknown): DecodedLogParameter | null {
  if (!isObject(value)) return null;
  const parameter = parameterOrNull(value);
  return parameter === null ? null : { ...parameter, indexed: booleanOrNull(value.indexed) ?? false };
}

function parameterOrNull({ name, type, value }: Fields): DecodedParameter | null {
  const [typeName, text] = [textOrNull(type), decodedTextOrNull(value)];
  return typeName === null || text === null
    ? null
    : { name: textOrNull(name) ?? '', type: typeName, value: text };
}
