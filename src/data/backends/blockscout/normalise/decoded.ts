import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, listOf } from '../../upstream-json/fields.ts';
import { booleanOrNull, textOrNull } from '../../upstream-json/values.ts';

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

/**
 * The pairs of a constructor's decoded arguments, each value as text (null where upstream could not read it) and what
 * the ABI says of it. Null where nothing was decoded. Decision 19.
 */
export function decodedArgumentsOrNull(value: unknown): unknown[][] | null {
  if (!Array.isArray(value)) return null;
  return value.map((pair: unknown) => {
    const [argument, description] = listOf(pair);
    return [decodedTextOrNull(argument), isObject(description) ? { ...description } : {}];
  });
}

/**
 * A decoded value as text: a leaf as it is written, arrays and tuples as compact JSON text whose leaves are text. Null
 * where upstream failed to write the value. Decision 19.
 */
function decodedTextOrNull(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value, withTextLeaves) : String(value);
}

function withTextLeaves(_key: string, part: unknown): unknown {
  return typeof part === 'object' ? part : String(part);
}
