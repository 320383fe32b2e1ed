import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { systemClock } from '#lib/clock.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { DiskReserve } from '../../src/stores/disk-space.ts';
import { LIFETIMES } from '../data/answer-support.ts';
import { canonicalContent, clientOf, openTestIndex } from '../indexer/support.ts';
import { indexIn, startTestDataService } from '../lab/data-service.ts';
import { list, record, text } from '../lab/json.ts';
import { startPaymentChain, type TestPaymentChain } from '../lab/payment-chain.ts';
import { SHOP, startTestPayments } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { BLOCKS_TO_SETTLE, paymentChain } from '../payments/watcher/setting.ts';
import { client } from '../support/contract-client.ts';
import { type SmallDisk, smallDisk } from '../support/small-disk.ts';

const MIB = 2 ** 20;
const DISK = 64 * MIB;
const RESERVED = 16 * MIB;
const NO_RESERVE: DiskReserve = { share: 0, mostBytes: 0 };
const PAYERS = 10;
/** 1,000 sales take 17 s. */
const SALES = [50, 1_000];

let chain: TestPaymentChain;

beforeAll(async () => {
  chain = await startPaymentChain({ clock: systemClock });
});

afterAll(() => chain.stop());

/** A data service whose index and cache are on the disk. */
async function dataOn(disk: SmallDisk, reserve: DiskReserve) {
  const metrics = createMetrics();
  const file = join(disk.folder, 'index.db');
  const service = await startTestDataService([], {
    chains: [
      {
        id: chain.chainId,
        name: 'Chain',
        native: { symbol: 'ETH', decimals: 18 },
        confirmations: 12,
        rpcUrls: [chain.rpcUrl],
        abis: [],
        backends: [indexIn({ file })],
      },
    ],
    cache: {
      maxBytes: 2 ** 24,
      lifetimes: LIFETIMES,
      store: { kind: 'sqlite', file: join(disk.folder, 'cache.db'), sizeBytes: DISK },
    },
    diskSpace: { reserve },
    metrics,
    log: createLogger({ level: 'silent' }),
  });
  const status = async () => record(await service.status());
  const index = async () => record(list(record(list((await status()).chains)[0]).backends)[0]);
  return {
    ...client(service.url),
    close: service.close,
    index,
    /** The index with every block, and with the state that they touched, which it reads next to them. */
    async caughtUp() {
      const complete = await until(index, ({ ready, lag_blocks }) => ready === true && lag_blocks === 0);
      const db = openDatabase({ file, readonly: true });
      await until(
        () => rowsOf(db, 'select * from dirty'),
        unread => unread.length === 0,
      ).finally(() => db.destroy());
      return complete;
    },
    warnings: async () => list((await status()).warnings),
    failedWrites: async () =>
      Number(/failures_total\{store="cache"\} (\d+)/.exec(await metrics.registry.metrics())?.[1] ?? 0),
    [Symbol.asyncDispose]: service.close,
  };
}

/** A shop on the disk that sells for tokens of the chain. */
async function shopOn(disk: SmallDisk) {
  const service = await startTestPayments(
    { file: join(disk.folder, 'payments.db') },
    {
      chains: [{ ...paymentChain(chain), rpcUrls: [chain.rpcUrl], isOfThisRun: false }],
      demo: { chainId: chain.chainId, tokenAddress: chain.token, recipientAddress: SHOP },
      rateLimitPerMinute: { standard: 1_000_000, elevated: 1_000_000 },
    },
  );
  const ask = (path: string, body?: object) =>
    fetch(`${service.url}/api/v1${path}`, {
      headers: { Authorization: `Bearer ${service.demoKey}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  const link = record(await (await ask('/payment-links', { name: 'Field notebooks', amount: '7' })).json());
  const open = () => ask('/checkout-sessions', { payment_link_id: link.id });
  const pay = async (session: Response, from: number) =>
    chain.pay({ from, to: SHOP, amount: BigInt(text(record(await session.json()).amount_due)) });
  return {
    open,
    pay,
    sell: async (from: number) => pay(await open(), from),
    async completed() {
      const answer = await ask('/checkout-sessions?status=completed');
      return record(await answer.json()).total_count;
    },
    [Symbol.asyncDispose]: service.close,
  };
}

test.each(SALES)(
  'below the reserve %i sales complete, while index and cache pause until there is space again',
  async sales => {
    await using disk = smallDisk(DISK);
    await using data = await dataOn(disk, { share: 1, mostBytes: RESERVED });
    await using shop = await shopOn(disk);
    const { head_block: from } = await data.index();

    disk.fill(RESERVED - MIB);
    for (let sold = 0; sold < sales; sold += PAYERS) {
      await Promise.all(Array.from({ length: PAYERS }, (_, payer) => shop.sell(1 + payer)));
      if (sold % 100 === 0) await chain.mine();
    }
    await chain.mine(BLOCKS_TO_SETTLE);
    const completed = await until(shop.completed, count => count === sales);
    const [paused, warnings] = [await data.index(), await data.warnings()];
    const answers = [await data.get('/explorer/blocks/1'), await data.get('/explorer/transactions')];
    const failed = await data.failedWrites();
    disk.empty();
    const caughtUp = await data.caughtUp();
    await data.close();

    expect(completed).toBe(sales);
    expect(paused.head_block).toBe(from);
    expect(warnings).toEqual([
      expect.stringMatching(/^index-31337 does not write/),
      expect.stringMatching(/^cache does not write/),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(failed).toBe(0);
    expect(caughtUp.head_block).toBe(await chain.head());
    expect(await canonicalContent(join(disk.folder, 'index.db'), chain.chainId)).toEqual(
      await freshContent(),
    );
  },
);

test('on a disk that another program fills nothing is lost: index and payments go on once there is space', async () => {
  await using disk = smallDisk(DISK);
  await using data = await dataOn(disk, NO_RESERVE);
  await using shop = await shopOn(disk);
  const sold = await shop.open();

  disk.fill(0);
  await shop.pay(sold, 1);
  await chain.mine(BLOCKS_TO_SETTLE);
  const refused = await until(shop.open, ({ ok }) => !ok);
  const answers = [await data.get('/explorer/blocks/1'), await data.get('/explorer/transactions')];
  const failed = await until(data.failedWrites, count => count > 0);
  disk.empty();
  const completed = await until(shop.completed, count => count === 1);
  const again = await until(shop.open, ({ ok }) => ok);
  const caughtUp = await data.caughtUp();
  await data.close();

  expect([refused.status, again.status]).toEqual([503, 201]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(failed).toBeGreaterThan(0);
  expect(completed).toBe(1);
  expect(caughtUp.head_block).toBe(await chain.head());
  expect(await canonicalContent(join(disk.folder, 'index.db'), chain.chainId)).toEqual(await freshContent());
});

/** Content of an index that never lacked space. */
async function freshContent() {
  await using disk = smallDisk(DISK);
  const file = join(disk.folder, 'fresh.db');
  const fresh = await openTestIndex({ file, client: clientOf(chain.rpcUrl, chain.chainId) });
  await fresh.runOnce();
  await fresh.stop();
  return await canonicalContent(file, chain.chainId);
}
