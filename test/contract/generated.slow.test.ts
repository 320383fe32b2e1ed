import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import type { OperationRow } from '../../src/contract/contracts/operations.ts';
import {
  dashboardContract,
  paymentsContract,
  paymentsServiceContract,
} from '../../src/contract/contracts/payments.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';

const run = promisify(execFile);
const ROOT = new URL('../..', import.meta.url);

/** View of plain Node on a generated file: its exports, and whether each is callable. */
async function loaded(file: string): Promise<unknown> {
  const code = `const found = require(${JSON.stringify(file)});
    console.log(JSON.stringify(Object.entries(found).map(([name, value]) => [name, typeof value])));`;
  const { stdout } = await run(process.execPath, ['-e', code], { cwd: ROOT });
  return JSON.parse(stdout);
}

test.each([explorerContract, insightsContract, paymentsContract, dashboardContract])(
  'parameter validators of $name load in plain Node, one for each rule that rows name',
  async ({ name, table }) => {
    const rows = Object.values<OperationRow>(table).flatMap(({ parameters }) => parameters);
    const named = new Set(rows.flatMap(({ check }) => check ?? []));

    const parameters = await loaded(`./generated/${name}/validators.cjs`);

    expect(parameters).toEqual([...named].map(check => [check, 'function']));
  },
);

test.each([explorerContract, insightsContract, paymentsContract, dashboardContract])(
  'every declared body of $name has a validator',
  ({ document, table }) => {
    const validators = responseValidators(document);
    const bodies = Object.values(table).flatMap(({ id, statuses }) =>
      statuses.filter(status => status !== 304).map(status => ({ id, status })),
    );

    const missing = bodies.filter(({ id, status }) => validators(id, status) === undefined);

    expect(missing).toEqual([]);
  },
);

test('body validators load in plain Node, one for each operation with a body', async () => {
  const taking = Object.values<OperationRow>(paymentsContract.table).filter(({ body }) => body === true);

  expect(await loaded('./generated/payments/bodies.cjs')).toEqual(taking.map(({ id }) => [id, 'function']));
});

test('no operationId is in two contracts', () => {
  const contracts = [
    explorerContract,
    insightsContract,
    dataServiceContract,
    paymentsContract,
    paymentsServiceContract,
    dashboardContract,
  ];
  const ids = contracts.flatMap(({ table }) => Object.keys(table));

  expect(new Set(ids).size).toBe(ids.length);
});
