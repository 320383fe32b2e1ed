import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { bodyFaults } from '../../scripts/contract/payments/body-faults.ts';
import type { Contract } from '../../src/contract/contracts/contract.ts';
import {
  child,
  type JsonObject,
  list,
  mapObjects,
  operationsOf,
  parametersOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { bodyViolation, InvalidParameter } from '../../src/contract/contracts/violations.ts';
import { checkParameters } from '../../src/contract/mount/parameters.ts';
import { brokenRule } from '../../src/lib/broken-rule.ts';
import { isObject } from '../../src/lib/json.ts';

const contracts: readonly Contract<unknown>[] = [explorerContract, insightsContract, paymentsContract];
const ajv = new Ajv2020({ strict: false, verbose: true });

/** A text that no pattern of a contract allows. */
const WRONG = '\n';

/** Every schema with a pattern in a document or a part of it; references are not followed. */
function patternsIn(part: JsonObject): JsonObject[] {
  const found: JsonObject[] = [];
  mapObjects(part, object => {
    if (typeof object.pattern === 'string') found.push(object);
    return object;
  });
  return found;
}

/** Message for a value that breaks the pattern of a schema. */
const wordsOf = (schema: JsonObject) => `must be ${schema['x-form']}`;

describe.each(contracts)('of $name', contract => {
  const { document } = contract;

  test('every pattern has a description, which is in the message for an invalid value', () => {
    for (const { pattern = null, ...schema } of patternsIn(document)) {
      const validate = ajv.compile({ pattern, 'x-form': schema['x-form'] });
      expect(schema).toMatchObject({ 'x-form': expect.stringMatching(/^(?!must ).*[^.\s]$/) });
      expect(validate(WRONG)).toBe(false);
      expect(validate.errors?.map(brokenRule)).toEqual([wordsOf(schema)]);
    }
  });

  test('every parameter with a pattern is refused with its name and this description', () => {
    const rows = Object.values(contract.table);
    const checked = operationsOf(document).flatMap(({ path, operation }) =>
      requestsWithWrongText(document, parametersOf(document, path, operation)).map(
        ({ request, refusal }) => ({
          checking: () =>
            checkParameters(
              contract.parameters,
              rows.find(({ id }) => id === operation.operationId) ?? { parameters: [] },
              request,
            ),
          refusal,
        }),
      ),
    );

    expect(checked.length).toBeGreaterThan(0);
    for (const { checking, refusal } of checked) expect(checking).toThrow(refusal);
  });
});

test('every pattern of a body has a description in the message', () => {
  const { document, bodies = {} } = paymentsContract;
  const checked = operationsOf(document).flatMap(({ operation: { operationId, requestBody } }) => {
    const validate = bodies[String(operationId)];
    if (validate === undefined) return [];
    const content = child(resolve(document, requestBody), 'content');
    const schema = resolve(document, child(content, 'application/json').schema);

    const messages = bodyFaults(document, schema, new Set()).map(
      ({ body }) => validate(body) || bodyViolation(validate.errors).message,
    );

    return patternsBelow(document, schema).map(pattern => ({ words: `${wordsOf(pattern)}.`, messages }));
  });

  expect(checked.length).toBeGreaterThan(0);
  for (const { words, messages } of checked) {
    expect(messages).toContainEqual(expect.stringContaining(words));
  }
});

interface WrongRequest {
  readonly request: { readonly path: JsonObject; readonly query: JsonObject };
  readonly refusal: InvalidParameter;
}

/** Requests from the examples of an operation's parameters, each with one text that breaks a pattern. */
function requestsWithWrongText(document: JsonObject, declared: readonly JsonObject[]): WrongRequest[] {
  const examples = (place: string) =>
    Object.fromEntries(
      declared
        .filter(row => row.in === place && row.example !== undefined)
        .map(({ name, example = null }) => [String(name), example]),
    );
  return declared.flatMap(({ name, in: place, schema: declaredSchema }) => {
    if (place !== 'path' && place !== 'query') return [];
    const schema = resolve(document, declaredSchema);
    const isList = isObject(schema.items);
    const form = isList ? resolve(document, schema.items) : schema;
    // Large integers are checked by value when they are read.
    const isRead = list(form, 'type').includes('integer');
    if (typeof form.pattern !== 'string' || isRead) return [];
    const given = { path: examples('path'), query: examples('query') };
    const request = { ...given, [place]: { ...given[place], [String(name)]: isList ? [WRONG] : WRONG } };
    return [
      { request, refusal: new InvalidParameter(String(name), `${isList ? 'value 1 ' : ''}${wordsOf(form)}`) },
    ];
  });
}

/** Every schema with a pattern below a schema, with references followed. */
function patternsBelow(document: JsonObject, start: JsonObject): JsonObject[] {
  const seen = new Set<JsonObject>();
  const visit = (part: JsonObject): JsonObject[] => {
    if (seen.has(part)) return [];
    seen.add(part);
    const targets: JsonObject[] = [];
    mapObjects(part, object => {
      if (typeof object.$ref === 'string') targets.push(resolve(document, object));
      return object;
    });
    return [...patternsIn(part), ...targets.flatMap(visit)];
  };
  return visit(start);
}
