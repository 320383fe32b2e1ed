import { type Readable, Transform } from 'node:stream';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Representation } from '../../http/representation.ts';
import { isObject } from '../../lib/json.ts';
import type { Contract } from '../contracts/contract.ts';
import {
  child,
  closed,
  type Json,
  type JsonObject,
  operationsOf,
  pointedAtDocument,
  resolve,
} from '../contracts/document.ts';
import { errorCodesOf } from '../contracts/error-codes.ts';
import type { OperationRow } from '../contracts/operations.ts';
import { describeErrors } from '../contracts/violations.ts';

/**
 * Finds the validator for an operation's responses of one status; undefined when the contract declares no body for it.
 */
export type ResponseValidators = (
  operationId: string,
  status: number | string,
) => ValidateFunction | undefined;

const ofDocuments = new WeakMap<JsonObject, ResponseValidators>();

/**
 * Validators for the responses that a bundled OpenAPI document declares. Every object with named properties is closed,
 * so that unknown fields are found. Each is compiled on first use, because only tests and development check responses.
 */
export function responseValidators(document: JsonObject): ResponseValidators {
  const made = ofDocuments.get(document) ?? makeValidators(document);
  ofDocuments.set(document, made);
  return made;
}

/**
 * Returns a check that rejects responses that violate the contract. A representation that passed is not checked again.
 */
export function responseCheck({ name, document }: Pick<Contract<unknown>, 'name' | 'document'>) {
  const validators = responseValidators(document);
  const passed = new WeakSet<Representation>();
  return async (row: OperationRow, status: number, representation: Representation): Promise<void> => {
    if (passed.has(representation)) return;
    const validate = validators(row.id, status);
    if (validate === undefined) throw new Error(`${name}: ${row.id} does not declare status ${status}`);
    const text = representation.identity.toString();
    if (!validate(row.media?.[status] === undefined ? JSON.parse(text) : text)) {
      throw new Error(
        `${name}: the ${status} answer of ${row.id} breaks the contract: ${describeErrors(validate.errors)}`,
      );
    }
    passed.add(representation);
  };
}

/** The stream of events, which breaks off before an event that violates the contract of its operation. */
export function checkedEvents(
  { name, document }: Pick<Contract<unknown>, 'name' | 'document'>,
  { id }: OperationRow,
  events: Readable,
): Readable {
  const validate = responseValidators(document)(id, 200);
  let text = '';
  const checked = new Transform({
    transform(chunk: Buffer, _, done) {
      text += chunk.toString();
      const whole = text.lastIndexOf(END_OF_EVENT);
      const wrong = eventData(text.slice(0, whole === -1 ? 0 : whole)).find(
        data => validate?.(data) !== true,
      );
      text = whole === -1 ? text : text.slice(whole);
      if (wrong === undefined) return done(null, chunk);
      done(new Error(`${name}: an event of ${id} breaks the contract: ${describeErrors(validate?.errors)}`));
    },
  });
  events.once('error', error => checked.destroy(error));
  checked.once('close', () => events.destroy());
  return events.pipe(checked);
}

const END_OF_EVENT = '\n\n';

/** Parsed `data` of the complete events in a text of server-sent events. */
export function eventData(text: string): Json[] {
  return text.split(END_OF_EVENT).flatMap((event): Json[] => {
    const data = event.split('\n').filter(line => line.startsWith('data:'));
    return data.length === 0 ? [] : [JSON.parse(data.map(line => line.slice('data:'.length)).join('\n'))];
  });
}

function makeValidators(document: JsonObject): ResponseValidators {
  const ajv = new Ajv2020({ strict: false, inlineRefs: false, validateSchema: false });
  addFormats.default(ajv);
  // Our own formats apply to requests only.
  for (const format of ['uint64', 'uint256', 'amount', 'https-url', 'http-url', 'image-url'])
    ajv.addFormat(format, true);
  ajv.addSchema({ $id: 'document', components: closed(document.components ?? {}) });
  for (const described of operationsOf(document)) {
    const { operation } = described;
    const codes = errorCodesOf(document, described);
    for (const [status, response] of Object.entries(child(operation, 'responses'))) {
      // A response has one media type. Other types than JSON are validated as text, events one by one.
      const [media = {}] = Object.values(child(resolve(document, response), 'content'));
      const schema = isObject(media) ? media.schema : undefined;
      if (!isObject(schema)) continue;
      const allOf = [closedAt(schema), ...ofCodes(codes.get(status))];
      ajv.addSchema({ allOf }, `${operation.operationId} ${status}`);
    }
  }
  return (operationId, status) => ajv.getSchema(`${operationId} ${status}`);
}

function closedAt(schema: JsonObject): JsonObject {
  const pointed = pointedAtDocument(closed(schema));
  return isObject(pointed) ? pointed : {};
}

/** Schema of an error with one of these codes. */
function ofCodes(codes: readonly string[] | undefined): JsonObject[] {
  if (codes === undefined) return [];
  const code = { enum: [...codes] };
  return [{ properties: { error: { properties: { code } } } }];
}
