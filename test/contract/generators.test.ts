import { describe, expect, test } from 'vitest';
import {
  child,
  type Json,
  type JsonObject,
  list,
  operationsOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { isObject } from '../../src/lib/json.ts';

/** Every object in a part of a document, with references followed. */
function reached(document: JsonObject, value: Json | undefined, seen = new Set<JsonObject>()): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(item => reached(document, item, seen));
  if (!isObject(value)) return [];
  if (seen.has(value)) return [];
  seen.add(value);
  const target = value.$ref === undefined ? [] : reached(document, resolve(document, value), seen);
  return [value, ...target, ...Object.values(value).flatMap(member => reached(document, member, seen))];
}

/** The block of a transaction, which document 1 itself declares as int32. */
const DOCUMENTED_INT32 = 'Block number; null while the transaction is pending or after it was dropped.';

/** Format for the range of an integer: 32 bits only where its bounds or values allow it. */
function formatFor(schema: JsonObject): string {
  const values = [...list(schema, 'enum'), schema.const].filter(value => typeof value === 'number');
  const bounds = values.length > 0 ? values : [schema.minimum, schema.maximum];
  const fits = bounds.every(bound => typeof bound === 'number' && Math.abs(bound) < 2 ** 31);
  return fits ? 'int32' : 'int64';
}

describe.each([explorerContract, insightsContract, paymentsContract])(
  'generators of clients find in $name',
  ({ document }) => {
    test('a format for each integer, wide enough for its values', () => {
      const integers = reached(document, document).filter(({ type }) => [type].flat().includes('integer'));
      const other = integers.filter(
        schema => !['uint64', 'uint256', formatFor(schema)].includes(String(schema.format)),
      );
      const documented = other.filter(({ description }) => description === DOCUMENTED_INT32);

      expect(integers.length).toBeGreaterThan(20);
      expect(other).toEqual(documented);
    });

    test('a discriminator for each choice between objects', () => {
      const choices = reached(document, document)
        .map(schema => ({ schema, options: list(schema, 'oneOf').filter(option => isObject(option)) }))
        .filter(
          ({ options }) =>
            options.filter(option => isObject(resolve(document, option).properties)).length > 1,
        );
      const undistinguished = choices.filter(({ schema }) => schema.discriminator === undefined);

      expect(undistinguished).toEqual([]);
    });

    test('no default that would make a request field required', () => {
      const bodies = operationsOf(document).map(({ operation }) => operation.requestBody ?? null);
      const withDefault = reached(document, bodies).filter(schema => schema.default !== undefined);

      expect(withDefault).toEqual([]);
    });
  },
);

test('every sent event has its own operationId, which no handler serves', () => {
  const { document, table } = paymentsContract;
  const ids = Object.values(child(document, 'webhooks')).map(item =>
    isObject(item) ? String(child(item, 'post').operationId) : '',
  );

  expect(ids).toEqual(
    Object.keys(child(document, 'webhooks')).map(() => expect.stringMatching(/^receive[A-Z]/)),
  );
  expect(new Set(ids).size).toBe(13);
  expect(ids.filter(id => Object.hasOwn(table, id))).toEqual([]);
});
