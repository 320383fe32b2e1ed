import { join } from 'node:path';
import type { Address, Hex } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { ADDRESSES } from '../../src/indexer/schema/migrations/005-explorer.ts';
import { until } from '../lab/until.ts';
import { startNodeProxy } from './node-proxy.ts';
import { canonicalContent, clientOf, openTestIndex, startTestChain, type TestChain } from './support.ts';

const NOBODY: Address = '0x00000000000000000000000000000000000000aa';
const DATA = '0x12345678';
/** More than a run judges at once. */
const QUIET_BLOCKS = 230;

let chain: TestChain;
let file: string;
let plain: Hex;
let early: Hex;
let late: Hex;

beforeEach(async () => {
  chain = await startTestChain();
  file = join(chain.folder, 'older.sqlite');
  ({ hash: plain } = await chain.send(1, { to: NOBODY, data: DATA }));
  const splitter = await chain.deploy('PaymentSplitter', []);
  await chain.mine();
  ({ hash: early } = await chain.send(1, { to: splitter.address }));
  await chain.rpc.call('anvil_mine', QUIET_BLOCKS);
  ({ hash: late } = await chain.send(1, { to: splitter.address }));
  await chain.mine();
  await indexed(file);
});

afterEach(async () => {
  await chain.stop();
});

async function indexed(path: string): Promise<void> {
  const index = await openTestIndex({ file: path, client: chain.client });
  await index.runOnce();
  await index.stop();
}

/** Turns the index into one of a version that judged calls by a transaction's data. */
async function makeOlder(): Promise<void> {
  const db = openDatabase({ file });
  try {
    await db.raw('drop index dirty_again');
    for (const column of ['block', 'attempts', 'due_at'])
      await db.raw(`alter table dirty drop column ${column}`);
    await db.raw('drop table retyping');
    for (const name of ['fees_known', 'block_traced']) await db.raw(`drop trigger ${name}`);
    await db.raw('drop table unread_blocks');
    await db.raw('alter table index_state drop column fills');
    for (const change of ['gained', 'changed', 'lost']) await db.raw(`drop trigger contract_${change}`);
    for (const view of ['totals', 'pair_volumes']) await db.raw(`drop view ${view}`);
    await db.raw('alter table address_counters drop column contracts');
    for (const side of ['sender', 'receiver']) {
      await db.raw(`drop index token_transfers_by_${side}`);
      await db.raw(`drop index token_transfers_by_${side}_and_token`);
    }
    await db.raw('create index token_transfers_by_from on token_transfers (from_address)');
    await db.raw('create index token_transfers_by_to on token_transfers (to_address)');
    await db.raw('drop index logs_by_topic');
    await db.raw('drop index tokens_by_rank');
    await db.raw('drop index token_balances_by_instance_value');
    for (const column of ['holder_rank', 'name_rank'])
      await db.raw(`alter table tokens drop column ${column}`);
    for (const table of ['transaction', 'transfer', 'validated_block', 'fees']) {
      await db.raw(`drop trigger ${table}_gained`);
      await db.raw(`drop trigger ${table}_lost`);
    }
    await db.raw('drop view block_sums');
    for (const table of ['address_counts', 'fee_sums']) await db.raw(`drop table ${table}`);
    for (const side of ['sent', 'received']) {
      await db.raw(`alter table transaction_counts drop column gas_${side}`);
    }
    for (const sql of ADDRESSES) if (sql.startsWith('create trigger transaction_')) await db.raw(sql);
    await db.raw(
      `delete from schema_migrations
       where name in ('types-by-receiver-code', '013-views', '014-transfers-of-addresses', '016-events-by-topic',
         '017-token-list', '018-contract-counters', '019-address-counts', '020-block-sums',
         '021-instance-holders', '022-unread-blocks', '023-state-attempts')`,
    );
    await db.raw(
      `update transactions set facts = facts & ~1 | (to_address is not null and length(input) > 0)`,
    );
  } finally {
    await db.destroy();
  }
}

/** Adds this many copies of the first transaction per block, after it and the transactions of the following blocks. */
async function addOlder(counts: readonly number[]): Promise<void> {
  const db = openDatabase({ file });
  try {
    const stored = await db.raw<{ name: string }[]>(`select name from pragma_table_info('transactions')`);
    const columns = stored.map(({ name }) => name);
    const [first] = await db.raw<{ id: number }[]>('select min(id) as id from transactions');
    for (const [block, count] of counts.entries()) {
      const copied: Record<string, string> = { id: `id + (${block} << 20) + 9 + x`, hash: 'randomblob(32)' };
      await db.raw(
        `insert into transactions (${columns})
         with recursive n(x) as (select 1 union all select x + 1 from n where x < ${count})
         select ${columns.map(name => copied[name] ?? name)} from transactions, n where id = ?`,
        [first?.id ?? null],
      );
    }
  } finally {
    await db.destroy();
  }
}

/** Transactions that count as calls, and the first block that is still to be judged. */
async function judgement(): Promise<{ calls: number; next: number | null }> {
  const db = openDatabase({ file, readonly: true });
  try {
    const [calls] = await db.raw<{ count: number }[]>(
      'select count(*) as count from transactions where facts & 1 <> 0',
    );
    const [next] = await db.raw<{ block: number }[]>('select next_block as block from retyping');
    return { calls: calls?.count ?? 0, next: next?.block ?? null };
  } finally {
    await db.destroy();
  }
}

test('transactions of an earlier version are judged run by run, while new blocks are read', async () => {
  await makeOlder();
  const index = await openTestIndex({ file, client: chain.client });
  const types = async () =>
    Promise.all([plain, early, late].map(async hash => (await index.reader.transactionByHash(hash))?.types));

  const before = await types();
  await chain.mine();
  await index.runOnce();
  const [between, head, epoch] = [await types(), index.status().head, index.epoch()];
  await index.runOnce();
  const after = await types();
  await index.stop();

  expect(before).toEqual([['contract_call'], [], []]);
  expect(between).toEqual([[], ['contract_call'], []]);
  expect(after).toEqual([[], ['contract_call'], ['contract_call']]);
  expect(head).toBe(QUIET_BLOCKS + 3);
  expect(epoch).toBe(0);
  expect(index.epoch()).toBe(1);
  const fresh = join(chain.folder, 'fresh.sqlite');
  await indexed(fresh);
  expect(await canonicalContent(file)).toEqual(await canonicalContent(fresh));
});

test('an index of this version has nothing to judge', async () => {
  const index = await openTestIndex({ file, client: chain.client });
  await index.runOnce();
  await index.stop();

  expect(index.epoch()).toBe(0);
});

test('a reorganisation while older transactions are judged gives the same result as a new index', async () => {
  await makeOlder();
  const index = await openTestIndex({ file, client: chain.client });
  await index.runOnce();

  await chain.reorg(5);
  for (let run = 0; run < 3; run += 1) await index.runOnce();
  await index.stop();

  const fresh = join(chain.folder, 'fresh.sqlite');
  await indexed(fresh);
  const [ours, theirs] = await Promise.all([file, fresh].map(path => canonicalContent(path)));
  expect(ours?.transactions).toEqual(theirs?.transactions);
});

test('a block with more transactions than a statement has parameters is judged like others', async () => {
  await addOlder([33_000]);
  await makeOlder();
  const index = await openTestIndex({ file, client: chain.client });

  const before = await judgement();
  for (let run = 0; run < 2; run += 1) await index.runOnce();
  await index.stop();

  expect(before.calls).toBe(33_001);
  expect(await judgement()).toMatchObject({ calls: 0, next: 2 });
});

test('a run judges at most 500 older transactions, so that new blocks do not wait', async () => {
  await addOlder([240, 240, 240]);
  await makeOlder();
  const index = await openTestIndex({ file, client: chain.client });

  await index.runOnce();
  const once = await judgement();
  await index.runOnce();
  const twice = await judgement();
  await index.stop();

  expect(once).toMatchObject({ next: 3 });
  expect(twice.next).toBeGreaterThan(100);
});

test('an index that stops while it judges older transactions stores nothing more', async () => {
  await makeOlder();
  const gate = Promise.withResolvers<void>();
  const proxy = await startNodeProxy(chain.rpcUrl, {
    change: async (method, result) => {
      if (method === 'eth_getCode') await gate.promise;
      return result;
    },
  });
  try {
    const index = await openTestIndex({ file, client: clientOf(proxy.rpcUrl) });
    const before = await judgement();

    const run = index.runOnce();
    await until(
      async () => proxy.counts.has('eth_getCode'),
      isAsked => isAsked,
    );
    const stopped = index.stop();
    gate.resolve();
    await Promise.all([run, stopped]);

    expect(await judgement()).toEqual(before);
  } finally {
    gate.resolve();
    await proxy.stop();
  }
});
