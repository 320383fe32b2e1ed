import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import { type RecordingClient, recordingClient } from '../../scripts/contract/client.ts';
import { judge, targetsOf } from '../../scripts/contract/judge.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { list, record, text } from '../lab/json.ts';
import { test } from '../support/served-devnet.ts';
import { invalidRequest, type RequestWorld, validRequest } from './requests.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const RUNS = 25;
const { document } = insightsContract;
const validators = responseValidators(insightsContract.document);
const targets = targetsOf(document);

let api: RecordingClient;
let world: RequestWorld;

test.beforeAll(async ({ chain, devnet, serviceOfBoth: service }) => {
  api = recordingClient({ baseUrl: service.url });
  const { text: body } = await api.send('GET', '/insights/v1/transactions?limit=8');
  const transactions = list(record(JSON.parse(body)).data).map(record);
  const contracts = chain.contracts.map(({ address }) => address.toLowerCase());
  const wallets = transactions.map(one => text(one.from_address));
  const hashes = (name: string) => transactions.map(one => text(one[name]));
  world = {
    document,
    known: {
      contract_address: contracts,
      wallet_address: wallets,
      input: [...contracts, ...wallets, ...hashes('hash'), '7', 'hello', TRANSFER, '0xa9059cbb'],
      filter_from_address: wallets,
      filter_to_address: contracts,
      filter_address: contracts,
      address: contracts,
      owner_address: wallets,
      token_address: contracts,
      symbol: ['USDS', 'null', 'ärger & co'],
      token_id: ['0', '1', '2'],
      signature: [TRANSFER, 'Swap(address,uint256,uint256,uint256,uint256,address)', 'Done()'],
      filter_hash: [...hashes('hash'), ...hashes('block_hash')],
      filter_block_hash: hashes('block_hash'),
      chain_id: devnet.chains.map(({ id }) => String(id)),
      chain: devnet.chains.map(({ id }) => String(id)),
      page: ['0', '1', '20', '', 'null'],
    },
    // An open pattern allows unknown names, chains and pages.
    only: [
      'contract_address',
      'wallet_address',
      'filter_from_address',
      'filter_to_address',
      'filter_address',
      'address',
      'owner_address',
      'token_address',
      'signature',
      'chain_id',
      'chain',
      'page',
    ],
  };
});
afterAll(() => api.close());

describe.each(targets)('$id', target => {
  const row = Object.values(insightsContract.table).find(({ id }) => id === target.id);
  if (row === undefined) throw new Error(`${target.id} is not in the table`);
  const statuses = target.statuses.has('404') ? [200, 404] : [200];

  test('answers valid parameters with a body of the contract', async () => {
    await fc.assert(
      fc.asyncProperty(validRequest(row, world), async path => {
        const answer = await api.send('GET', needed(target.id, path));
        const found = judge(validators, answer, target, status => statuses.includes(status));
        if (found.length > 0) throw new Error(found.join('\n'));
      }),
      { numRuns: RUNS },
    );
  });

  test('answers 400 to an out-of-range parameter, names it, and caches nothing', async () => {
    await fc.assert(
      fc.asyncProperty(invalidRequest(row, world), async ({ path, name }) => {
        const answer = await api.send('GET', path);
        const found = judge(validators, answer, target, status => status === 400);
        if (found.length > 0) throw new Error(found.join('\n'));
        if (!answer.text.startsWith(`{"error":"${name}: `)) throw new Error(`${path} → ${answer.text}`);
        if (answer.headers['cache-control'] !== 'no-store') throw new Error(`${path} may be kept`);
      }),
      { numRuns: RUNS },
    );
  });
});

/** Prices need a token by address or symbol, which no schema expresses. */
function needed(id: string, path: string): string {
  if (id !== 'getTokenPrices') return path;
  return `${path}${path.includes('?') ? '&' : '?'}symbol=USDS`;
}

test('several chains answer as one, and each alone has its own rows', async () => {
  const { text: both } = await api.send(
    'GET',
    '/insights/v1/blocks?chain_id=31338&chain_id=31337&limit=3&sort_order=asc',
  );
  const { meta, data } = record(JSON.parse(both));
  const rows = list(data).map(record);

  expect(list(record(meta).chain_ids).toSorted()).toEqual([31337, 31338]);
  expect(rows.map(row => [row.block_number, row.chain_id])).toEqual(
    [0, 1, 2].flatMap(block => [31337, 31338].map(chain => [block, chain])),
  );
});
