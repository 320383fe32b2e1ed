import pg from 'pg';
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Binding } from '#db/columns.ts';
import type { Db } from '#db/open.ts';
import { knownContracts } from '#devnet/activity/artifacts.ts';
import { knownAbis } from '#evm/abi/abi.ts';
import { createReader, type Reader } from '#indexer/index-reader.ts';
import { postgresDatabase } from '../../support/databases.ts';
import { CHAIN_ID, clientOf } from '../support.ts';
import { frequent, late, MIDDLE, MIDDLE_TRANSACTION, openBulkIndex, rare } from './bulk-index.ts';
import { readerQueries } from './reader-queries.ts';

let database: Awaited<ReturnType<typeof postgresDatabase>>;
let db: Db;
let client: pg.Client;
let reader: Reader;

beforeAll(async () => {
  database = await postgresDatabase();
  db = await openBulkIndex(database.options);
  client = new pg.Client({ connectionString: database.options.url });
  await client.connect();
  await client.query(`set search_path = chain_${CHAIN_ID}`);
  // A port without a listener: queries that ask only the node are left out.
  const verified = knownContracts([
    { name: 'Dollar', address: frequent.contract, artifactName: 'StableToken' },
  ]);
  reader = createReader({ db, abis: knownAbis(verified), client: clientOf('http://127.0.0.1:9') });
}, 180_000);

afterAll(async () => {
  await client?.end();
  await db?.destroy();
  await database?.remove();
});

/**
 * Most rows that a statement may sort, read in vain, or read in total: a page of the longest list in each of its
 * branches.
 */
const MAX_SORTED = 260;
const MAX_IN_VAIN = 60;
const MAX_ROWS = 2_100;
/** 8 kB pages that a statement may look at; the smallest of the large tables has more. */
const MAX_PAGES = 700;
/** Rows of a table that counts as small. */
const SMALL = 5;

/** A step of a plan in PostgreSQL's output. */
interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Step[];
}

interface Planned {
  readonly sql: string;
  readonly bindings: readonly Binding[];
  readonly plan: Step;
}

/** Every statement that `work` runs, with the plan of a second run in PostgreSQL. */
async function plansOf(work: () => Promise<unknown>): Promise<Planned[]> {
  const asked: { sql: string; bindings: Binding[] }[] = [];
  const listen = (query: { sql: string; bindings: Binding[] }) => asked.push(query);
  db.on('query', listen);
  await work();
  db.off('query', listen);
  const plans: Planned[] = [];
  for (const { sql, bindings } of asked) {
    const { rows } = await client.query(
      `explain (analyze, buffers, timing off, format json) ${sql}`,
      bindings,
    );
    plans.push({ sql, bindings, plan: rows[0]['QUERY PLAN'][0].Plan });
  }
  return plans;
}

function stepsOf(plan: Step): Step[] {
  return [plan, ...(plan.Plans ?? []).flatMap(stepsOf)];
}

/** Faults of a plan. */
function faultsOf({ plan }: Planned): string[] {
  const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  const ofSteps = stepsOf(plan).flatMap(step => {
    const { 'Node Type': kind, 'Relation Name': table = '', 'Index Name': index = '' } = step;
    const rows = step['Actual Rows'] * step['Actual Loops'];
    const inVain = (step['Rows Removed by Filter'] ?? 0) * step['Actual Loops'];
    const name = `${kind} ${table} ${index}`;
    return [
      ...(kind === 'Seq Scan' && rows + inVain > SMALL ? [`${name} reads the whole table`] : []),
      ...(kind.includes('Sort') && rows > MAX_SORTED ? [`${name} of ${rows} rows`] : []),
      ...(inVain > MAX_IN_VAIN ? [`${name} reads ${inVain} rows in vain`] : []),
      ...(rows > MAX_ROWS ? [`${name} reads ${rows} rows`] : []),
    ];
  });
  return pages > MAX_PAGES ? [`looks at ${pages} pages`, ...ofSteps] : ofSteps;
}

/** Statements whose plans have faults, with these. */
async function faultyPlansOf(queries: readonly (() => Promise<unknown>)[]): Promise<string[]> {
  const plans = await plansOf(async () => {
    for (const query of queries) await query();
  });
  expect(plans.length).toBeGreaterThanOrEqual(queries.length);
  return plans.flatMap(planned => faultsOf(planned).map(fault => `${fault}: ${planned.sql}`));
}

const wanted = {
  block: MIDDLE,
  hash: MIDDLE_TRANSACTION,
  token: frequent.token,
  holder: frequent.account,
  prefix: 't',
  symbol: 't7',
};

describe('with sequential scans discouraged', () => {
  beforeAll(() => client.query('set enable_seqscan = off'));
  afterAll(() => client.query('reset enable_seqscan'));

  test('every query of the reader ends where its page ends, without walking a table or sorting', async () => {
    expect(await faultyPlansOf(readerQueries(reader, wanted))).toEqual([]);
  });
});

test('the same is true for PostgreSQL’s own plans', async () => {
  expect(await faultyPlansOf(readerQueries(reader, wanted))).toEqual([]);
});

describe('a value of most rows, except the newest,', () => {
  const { account, contract, selector } = frequent;

  test.each([
    ['transactions of a type', () => reader.transactions({ limit: 50, types: ['token_transfer'] })],
    ['transactions of a function', () => reader.transactions({ limit: 50, selectors: [selector] })],
    ['logs of a contract', () => reader.addressLogs({ address: contract, limit: 50 })],
    ['transfers of a type of token', () => reader.tokenTransfers({ limit: 50, types: ['ERC-1155'] })],
    ['internal transactions', () => reader.addressInternalTransactions({ address: account, limit: 50 })],
    ['blocks', () => reader.validatedBlocks({ miner: account, limit: 50 })],
    ['withdrawals', () => reader.withdrawals({ receiver: account, limit: 50 })],
    ['tokens', () => reader.tokenHoldings({ holder: account, limit: 50 })],
    ['NFTs', () => reader.nftHoldings({ holder: account, limit: 50, types: ['ERC-721', 'ERC-1155'] })],
    ['transfers of NFTs', () => reader.nfts.transfers({ token: frequent.token, limit: 50, offset: 0 })],
    [
      'transfers of one NFT',
      () => reader.nfts.transfers({ token: frequent.token, tokenId: 7n, limit: 50, offset: 0 }),
    ],
    ['reserves of a pair', () => reader.markets.reservesAt(pairOf(frequent.pair), Number.MAX_SAFE_INTEGER)],
    ['volume of a pair', () => reader.markets.volumeUntil(pairOf(frequent.pair), Number.MAX_SAFE_INTEGER)],
    ['days with trades', () => reader.markets.tradedDays(pairOf(frequent.pair), Number.MAX_SAFE_INTEGER)],
    ['any appearance', () => reader.isOnChain(account)],
  ])('is found at once: %s', async (_, query) => {
    expect(await faultyPlansOf([query])).toEqual([]);
  });
});

describe('a value of only some of the oldest rows', () => {
  const { account } = rare;

  test.each([
    ['internal transactions', () => reader.addressInternalTransactions({ address: account, limit: 50 })],
    ['transfers of NFTs', () => reader.nfts.transfers({ token: rare.token, limit: 50, offset: 0 })],
    ['no logs', () => reader.addressLogs({ address: account, limit: 50 })],
    ['no withdrawals', () => reader.withdrawals({ receiver: account, limit: 50 })],
    ['no blocks', () => reader.validatedBlocks({ miner: account, limit: 50 })],
    ['no tokens', () => reader.tokenHoldings({ holder: account, limit: 50 })],
    ['any appearance', () => reader.isOnChain(account)],
  ])('is found at once: %s', async (_, query) => {
    expect(await faultyPlansOf([query])).toEqual([]);
  });
});

test('the existence of an address is known at once, also when it is in many rows but only the newest', async () => {
  expect(await faultyPlansOf([() => reader.isOnChain(late.account)])).toEqual([]);
});

function pairOf(address: Address) {
  return { address, token: frequent.token, isBaseFirst: true };
}
