import { describe, expect } from 'vitest';
import { operationsIn } from '../../scripts/contract/payments/operation.ts';
import { targetsWith } from '../../scripts/examples/example-request.ts';
import {
  child,
  type Json,
  type JsonObject,
  operationsOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { describeErrors } from '../../src/contract/contracts/violations.ts';
import { exampleTarget } from '../../src/contract/description/example-request.ts';
import { withExamples } from '../../src/contract/description/examples.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { client } from '../support/contract-client.ts';
import { test } from '../support/served-devnet.ts';

const DATA = [explorerContract, insightsContract] as const;

/** The examples of every answer that an operation's described document shows, by status. */
function answersOf(document: JsonObject, operation: JsonObject): [status: string, examples: Json[]][] {
  return Object.entries(child(operation, 'responses')).flatMap(([status, response]) => {
    const [media] = Object.values(child(resolve(document, response), 'content'));
    return media === undefined ? [] : [[status, examplesOf(document, media)]];
  });
}

/** The examples of a media type. */
function examplesOf(document: JsonObject, media: Json): Json[] {
  const { example, examples = {} } = resolve(document, media);
  const named = Object.values(child({ examples }, 'examples')).map(entry => resolve(document, entry).value);
  return [example, ...named].flatMap(value => (value === undefined ? [] : [value]));
}

describe.each(DATA.map(contract => [contract.name, contract] as const))('%s', (_name, contract) => {
  const { document } = withExamples(contract);
  const validators = responseValidators(contract.document);

  test('every answer of every operation has an example that its schema accepts', () => {
    const faults = operationsOf(document).flatMap(({ operation }) =>
      answersOf(document, operation).flatMap(([status, examples]) => {
        const at = `${operation.operationId} ${status}`;
        if (examples.length === 0) return [`${at}: no example`];
        const validate = validators(String(operation.operationId), status);
        return examples.flatMap(example =>
          validate?.(example) === true ? [] : [`${at}: ${describeErrors(validate?.errors)}`],
        );
      }),
    );

    expect(faults).toEqual([]);
  });

  test('every example request is answered with 200 on the embedded chains', async ({ serviceOfBoth }) => {
    const { get } = client(serviceOfBoth.url);
    const refused: string[] = [];
    for (const operation of operationsIn<unknown>(contract)) {
      const target = exampleTarget(operation);
      const { status, body } = await get(target);
      if (status !== 200) refused.push(`${target} → ${status} ${JSON.stringify(body)}`);
    }

    expect(refused).toEqual([]);
  });

  test('so it is with one more parameter, with every value that the contract shows for it', async ({
    serviceOfBoth,
  }) => {
    const { get } = client(serviceOfBoth.url);
    const refused: string[] = [];
    for (const operation of operationsIn<unknown>(contract)) {
      const optional = operation.parameters.filter(
        ({ in: place, description }) => place === 'query' && !isCursorKey(description),
      );
      for (const target of optional.flatMap(parameter =>
        targetsWith(contract.document, operation, parameter),
      )) {
        const { status, body } = await get(target);
        if (status !== 200) refused.push(`${target} → ${status} ${JSON.stringify(body)}`);
      }
    }

    expect(refused).toEqual([]);
  });
});

/** Whether a parameter is of use only together with others of a page that was answered before (Decision 4). */
function isCursorKey(description: Json | undefined): boolean {
  return /^(Cursor key|Opaque position)/.test(String(description));
}
