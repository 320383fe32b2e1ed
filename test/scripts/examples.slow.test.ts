import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect } from 'vitest';
import { operationsIn } from '../../scripts/contract/payments/operation.ts';
import { targetsWith } from '../../scripts/examples/example-request.ts';
import { recordPayments } from '../../scripts/examples/payments-examples.ts';
import type { Contract } from '../../src/contract/contracts/contract.ts';
import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import {
  child,
  closed,
  type Json,
  type JsonObject,
  operationsOf,
  pointedAtDocument,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { errorCodesOf } from '../../src/contract/contracts/error-codes.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { isEventStream } from '../../src/contract/contracts/operations.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { PAYMENTS_ERRORS } from '../../src/contract/contracts/payments-errors.ts';
import { describeErrors } from '../../src/contract/contracts/violations.ts';
import { exampleTarget } from '../../src/contract/description/code-samples.ts';
import { withExamples } from '../../src/contract/description/examples.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { isObject } from '../../src/lib/json.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { client } from '../support/contract-client.ts';
import { test } from '../support/served-devnet.ts';

const DATA: readonly Contract<unknown>[] = [explorerContract, insightsContract, dataServiceContract];
const CONTRACTS: readonly Contract<unknown>[] = [...DATA, paymentsContract];

/** Examples of a media type, named ones under their name. */
function examplesIn(document: JsonObject, media: JsonObject): [name: string, example: Json][] {
  const named = Object.entries(child(media, 'examples')).flatMap(([name, entry]): [string, Json][] => {
    const { value } = resolve(document, entry);
    return value === undefined ? [] : [[name, value]];
  });
  return media.example === undefined ? named : [['', media.example], ...named];
}

interface ShownAnswer {
  readonly id: string;
  readonly status: string;
  readonly examples: readonly [name: string, example: Json][];
}

/** Every response with a body, of every operation. */
function answersIn(document: JsonObject): ShownAnswer[] {
  return operationsOf(document).flatMap(({ operation }) =>
    Object.entries(child(operation, 'responses')).flatMap(([status, response]) => {
      const [media] = Object.values(child(resolve(document, response), 'content'));
      if (!isObject(media)) return [];
      return [{ id: String(operation.operationId), status, examples: examplesIn(document, media) }];
    }),
  );
}

test.for(CONTRACTS)('every response of every operation of $name has an example', contract => {
  const { document } = withExamples(contract);

  const without = answersIn(document).filter(({ examples }) => examples.length === 0);

  expect(without.map(({ id, status }) => `${id} ${status}`)).toEqual([]);
});

test.for(CONTRACTS)('the schemas of $name accept every example of a response', contract => {
  const { document } = withExamples(contract);
  const validators = responseValidators(contract.document);
  const codes = new Map(
    operationsOf(document).map(described => [
      String(described.operation.operationId),
      errorCodesOf(document, described),
    ]),
  );
  // Operations share their errors, including codes that one of them cannot answer.
  const isMeant = (id: string, status: string, name: string) =>
    codes
      .get(id)
      ?.get(status)
      ?.some(code => code === name) ?? true;

  const faults = answersIn(document).flatMap(({ id, status, examples }) =>
    examples
      .filter(([name]) => name === '' || isMeant(id, status, name))
      .flatMap(([, example]) => {
        const validate = validators(id, status);
        return validate?.(example) === true ? [] : [`${id} ${status}: ${describeErrors(validate?.errors)}`];
      }),
  );

  expect(faults).toEqual([]);
});

test('every error status of the payments platform has an example for each code', () => {
  const { document } = paymentsContract;
  const shown = new Map(
    answersIn(document).map(({ id, status, examples }) => [
      `${id} ${status}`,
      examples.map(([, example]) => child(isObject(example) ? example : {}, 'error')),
    ]),
  );
  const missing = operationsOf(document).flatMap(described =>
    [...errorCodesOf(document, described)].flatMap(([status, codes]) => {
      const at = `${described.operation.operationId} ${status}`;
      return codes
        .filter(code => !shown.get(at)?.some(error => error.code === code))
        .map(code => `${at} ${code}`);
    }),
  );
  const mistyped = [...shown.values()]
    .flat()
    .filter(({ code, type }) =>
      Object.entries(PAYMENTS_ERRORS).every(([own, row]) => own !== code || row.type !== type),
    );

  expect(missing).toEqual([]);
  expect(mistyped.filter(({ code }) => code !== undefined)).toEqual([]);
});

test('every outgoing event has an example that its schema accepts', () => {
  const { document } = withExamples(paymentsContract);
  const ajv = addFormats.default(new Ajv2020({ strict: false, inlineRefs: false, validateSchema: false }));
  for (const format of ['amount', 'https-url', 'http-url', 'image-url', 'uint64', 'uint256'])
    ajv.addFormat(format, true);
  ajv.addSchema({ $id: 'document', components: closed(document.components ?? {}) });

  const judged = Object.entries(child(document, 'webhooks')).map(([event, item]) => {
    const content = child(child(child(isObject(item) ? item : {}, 'post'), 'requestBody'), 'content');
    const { schema = {}, example } = child(content, 'application/json');
    const validate = ajv.compile({ allOf: [pointedAtDocument(closed(schema))] });
    return [event, validate(example), child({ example: example ?? {} }, 'example').event];
  });

  const events = Object.keys(child(document, 'webhooks'));
  expect(judged).toEqual(events.map(event => [event, true, event]));
});

describe.each(DATA.map(contract => [contract.name, contract] as const))('%s', (_name, contract) => {
  test('every example request is a 200 on the embedded chains', async ({ serviceOfBoth }) => {
    const targets = answeredBy(contract).map(operation => exampleTarget(operation));

    expect(await refusedOf(serviceOfBoth.url, targets)).toEqual([]);
  });

  test('every example request with one more parameter is a 200, for every example value', async ({
    serviceOfBoth,
  }) => {
    const targets = answeredBy(contract).flatMap(operation =>
      operation.parameters
        .filter(({ in: place, description }) => place === 'query' && !isCursorKey(description))
        .flatMap(parameter => targetsWith(contract.document, operation, parameter)),
    );

    expect(await refusedOf(serviceOfBoth.url, targets)).toEqual([]);
  });
});

test('every example request of payments is a 2xx, and every event is sent', async () => {
  await using devnet = await startTestDevnet();
  const [chain] = devnet.chains;
  if (chain === undefined) throw new Error('the devnet has no chain');

  const recorded = await recordPayments(chain);

  const operations = Object.keys(paymentsContract.table);
  const events = Object.keys(child(paymentsContract.document, 'webhooks'));
  expect([...recorded.keys()].toSorted()).toEqual([...operations, ...events].toSorted());
});

/** Operations of a contract but the stream of events, whose answer does not end. */
function answeredBy(contract: Contract<unknown>) {
  return operationsIn<unknown>(contract).filter(({ row }) => !isEventStream(row));
}

/** Targets of a data service that are not a 200, each with its answer. */
async function refusedOf(url: string, targets: readonly string[]): Promise<string[]> {
  const { get } = client(url);
  const refused: string[] = [];
  for (const target of targets) {
    const { status, body } = await get(target);
    if (status !== 200) refused.push(`${target} → ${status} ${JSON.stringify(body)}`);
  }
  return refused;
}

/** True for a parameter that is only useful with others from a previous page (Decision 4). */
function isCursorKey(description: Json | undefined): boolean {
  return /^(Cursor key|Opaque position)/.test(String(description));
}
