import { join } from 'node:path';
import { type Address, encodeAbiParameters, hexToBytes, isAddress, pad, toHex } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { InsightsAnswers, InsightsRequestOf } from '#data/backends/port/insights-backend.ts';
import { bytesColumn, uintColumn } from '#db/columns.ts';
import { openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { insertTyped } from '#db/rows.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import { readHead } from '#indexer/schema/head.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { CHAIN_ID, openTestIndex, startTestChain, type TestChain } from '../../indexer/support.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { insightsOf, lower } from './prices-support.ts';

type Query = InsightsRequestOf<'listTokenBalances'>['query'];

const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';
const FACTORY = addressOf(0xfac);
/** Each of these tokens has a pool of 10,000 dollars. */
const TOKENS = Array.from({ length: 2_100 }, (_, at) => addressOf(0x100_000 + at));
const FEW = 300;
const [FIRST, SECOND, RICH] = [addressOf(0xa1), addressOf(0xa2), addressOf(0xa3)];
/** Number of volume reads that a token's market takes. */
const VOLUMES = 3;

let chain: TestChain;
let index: ChainIndex;
let insights: InsightsAnswers;
/** Pools whose volume was read, and a hook for each read. */
let pools: Address[];
let onRead: () => void;

beforeAll(async () => {
  chain = await startTestChain();
  const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.mine();
  await chain.send(0, dollar.call('mint', [chain.accounts.signer(1).address, 5n]));
  await chain.mine();
  const file = join(chain.folder, 'index.sqlite');
  index = await openTestIndex({ file, client: chain.client });
  await index.runOnce();
  await list(file, lower(dollar.address));
  const { reader } = index;
  const volumeUntil: typeof reader.markets.volumeUntil = (pair, at) => {
    pools.push(pair.address);
    onRead();
    return reader.markets.volumeUntil(pair, at);
  };
  const counted = { ...index, reader: { ...reader, markets: { ...reader.markets, volumeUntil } } };
  insights = insightsOf(counted, { factory: FACTORY, usdToken: lower(dollar.address) });
});

beforeEach(() => {
  pools = [];
  onRead = () => undefined;
});

afterAll(async () => {
  await index?.stop();
  await chain?.stop();
});

/** Two owners share a few tokens, and a third one has all others. */
async function list(file: string, dollar: Address): Promise<void> {
  const db = await openDatabase(indexOptions({ file }, CHAIN_ID));
  const head = await readHead(db);
  const [known] = await rowsOf<{ type: number }>(db, 'select type from tokens', []);
  if (head === null || known === undefined) throw new Error('the chain is not indexed');
  const reserves = hexToBytes(
    encodeAbiParameters([{ type: 'uint112' }, { type: 'uint112' }], [10n ** 22n, 10n ** 22n]),
  );
  await db.raw('begin');
  for (const [at, token] of TOKENS.entries()) {
    const [one, other] = token < dollar ? [token, dollar] : [dollar, token];
    const pool = bytesColumn(addressOf(0x200_000 + at));
    await db.raw(
      'insert into pairs (id, factory, address, first_token, second_token) values (?, ?, ?, ?, ?)',
      [1_000_000 + at, bytesColumn(FACTORY), pool, bytesColumn(one), bytesColumn(other)],
    );
    await db.raw(
      'insert into logs (id, transaction_id, timestamp, address, topic0, data) values (?, ?, ?, ?, ?, ?)',
      [2 ** 30 + at, 2 ** 30, head.timestamp, pool, bytesColumn(SYNC), Buffer.from(reserves)],
    );
  }
  const tokens = TOKENS.map((token, at) => ({
    address: bytesColumn(token),
    type: known.type,
    name: null,
    symbol: `T${at}`,
    decimals: 18,
    total_supply: uintColumn(10n ** 22n),
    holder_count: 2,
    first_block: 0,
    is_read: 1,
  }));
  await insertTyped(db, { table: 'tokens', columns: TABLES.tokens.columns }, tokens);
  const held = [FIRST, SECOND].map(holder => ({ holder, tokens: TOKENS.slice(0, FEW) }));
  for (const { holder, tokens: own } of [...held, { holder: RICH, tokens: TOKENS.slice(FEW) }]) {
    const rows = own.map((token, at) => ({
      token: bytesColumn(token),
      holder: bytesColumn(holder),
      token_id: '',
      value: uintColumn(BigInt(at + 1)),
    }));
    await insertTyped(db, { table: 'token_balances', columns: TABLES.token_balances.columns }, rows);
  }
  await db.raw('commit');
  await db.destroy();
}

function addressOf(number: number): Address {
  const address = pad(toHex(number), { size: 20 });
  if (!isAddress(address)) throw new Error('no address');
  return address;
}

function balances(query: Partial<Query>, signal = AbortSignal.timeout(PATIENCE_MS)) {
  const { listTokenBalances } = insights;
  if (listTokenBalances === undefined) throw new Error('no balances are known');
  return listTokenBalances(
    {
      path: {},
      query: {
        owner_address: [FIRST, SECOND],
        metadata: 'true',
        include_native: 'true',
        include_spam: 'false',
        include_without_price: 'true',
        sort_by: 'usd_value',
        sort_order: 'desc',
        limit: 5,
        page: 0,
        ...query,
      },
    },
    { chainIds: [CHAIN_ID], signal },
  );
}

test.each(['balance', 'token_address'] as const)('a page by %s prices only its own tokens', async by => {
  const page = await balances({ sort_by: by, token_type: ['erc20'], page: 1 });

  expect(page).toHaveLength(10);
  expect(page.every(({ price_data: price }) => price !== undefined)).toBe(true);
  expect(new Set(pools).size).toBe(5);
  expect(pools).toHaveLength(5 * VOLUMES);
});

test.each([{ sort_by: 'usd_value' }, { sort_by: 'balance', include_without_price: 'false' }] as const)(
  'a token of several owners is priced once where %o needs every price',
  async query => {
    const page = await balances(query);

    const best = TOKENS.slice(FEW - 5, FEW).reverse();
    expect(page.map(one => one.token_address)).toEqual([...best, ...best]);
    expect(new Set(page.map(one => one.owner_address))).toEqual(new Set([FIRST, SECOND]));
    expect(pools).toHaveLength(FEW * VOLUMES);
  },
);

test('owners with more tokens than an answer prices are refused with advice before any is priced', async () => {
  const owner_address = [FIRST, SECOND, RICH];
  const refused = { kind: 'rejected', message: expect.stringMatching(/2000 tokens.*fewer/) };

  await expect(balances({ owner_address })).rejects.toMatchObject(refused);
  expect(pools).toEqual([]);
  expect(await balances({ owner_address, sort_by: 'balance' })).toHaveLength(15);
});

test('pricing lets timers run, and stops when its request is cancelled', async () => {
  const asking = new AbortController();
  onRead = () => setImmediate(() => asking.abort());

  await expect(balances({}, asking.signal)).rejects.toThrow('aborted');

  expect(pools).not.toEqual([]);
  expect(new Set(pools).size).toBeLessThan(FEW);
});
