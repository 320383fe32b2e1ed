import { join } from 'node:path';
import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ColumnValue } from '#db/columns.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { knownContracts } from '#devnet/activity/artifacts.ts';
import { knownAbis } from '#evm/abi/abi.ts';
import { createReader, type Reader } from '#indexer/index-reader.ts';
import { clientOf, openTestIndex, startTestChain, type TestChain } from '../support.ts';
import { readerQueries } from './reader-queries.ts';

let chain: TestChain;
let db: Db;
let reader: Reader;
let hash: `0x${string}`;
let token: Address;
let minted: Address;

beforeAll(async () => {
  chain = await startTestChain();
  const file = join(chain.folder, 'index.sqlite');
  const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  token = dollar.address;
  minted = chain.accounts.signer(0).address;
  const splitter = await chain.deploy('PaymentSplitter', []);
  await chain.mine();
  const payees = [chain.accounts.signer(1).address, chain.accounts.signer(2).address];
  await chain.send(0, { ...splitter.call('split', [payees]), value: 10n });
  ({ hash } = await chain.send(0, dollar.call('mint', [minted, 5n])));
  await chain.mine();
  const index = await openTestIndex({ file, client: chain.client });
  await index.runOnce();
  await index.stop();
  db = openDatabase({ file, readonly: true });
  const verified = knownContracts([{ name: 'Dollar', address: token, artifactName: 'StableToken' }]);
  reader = createReader({ db, abis: knownAbis(verified), client: clientOf(chain.rpcUrl) });
});

afterAll(async () => {
  await db.destroy();
  await chain.stop();
});

/** Every statement that `work` runs, with SQLite's plan for it. */
async function plansOf(work: () => Promise<unknown>): Promise<{ sql: string; plan: string[] }[]> {
  const asked: { sql: string; bindings: ColumnValue[] }[] = [];
  const listen = (query: { sql: string; bindings: ColumnValue[] }) => asked.push(query);
  db.on('query', listen);
  await work();
  db.off('query', listen);
  const plans = [];
  for (const { sql, bindings } of asked) {
    const steps: { detail: string }[] = await db.raw(`explain query plan ${sql}`, bindings);
    plans.push({ sql, plan: steps.map(({ detail }) => detail) });
  }
  return plans;
}

test('every query of the reader ends where its page ends, without walking a table or sorting', async () => {
  const queries = readerQueries(reader, {
    block: 2,
    hash,
    token,
    holder: minted,
    prefix: 'dol',
    symbol: 'usd',
  });

  const plans = await plansOf(async () => {
    for (const query of queries) await query();
  });

  expect(plans.length).toBeGreaterThan(15);
  for (const { sql, plan } of plans) {
    // Sorts what it found in a few blocks. The next test is about how it finds that.
    if (sql.startsWith('with active as')) continue;
    // Allowed: sorting the keys of several branches, each with its own limit; scanning a subquery with a limit;
    // traded days, owned tokens and ids, which are found one by one; and the single row of the head's state, which
    // needs no index.
    const bad = plan.filter(line =>
      /TEMP B-TREE FOR (?!GROUP BY$)|^SCAN (?!found|newest|\(subquery|CONSTANT|traded_days|owned|held_ids)/.test(
        line,
      ),
    );
    expect(bad, sql).toEqual([]);
    // Equality on a column must use that column's index: a range of keys is the whole chain.
    for (const [, column] of sql.matchAll(
      /where (?:\w\.)?(facts|selector|token_type|transaction_id|address|miner|holder|owner|token|from_address|to_address|created_contract) = \?/g,
    )) {
      expect(plan.join('\n'), sql).toMatch(new RegExp(`(INDEX \\w+|PRIMARY KEY) \\(${column}=\\?`));
    }
  }
});

test('activity is found by what is watched, in a range of keys', async () => {
  const few = { from: 1, to: 2, limit: 50 };
  const plans = await plansOf(async () => {
    await reader.activity({ kind: 'address', values: [minted, token], ...few });
    await reader.activity({ kind: 'token', values: [token, minted], ...few });
    await reader.activity({ kind: 'transaction', values: [hash], ...few });
  });
  const steps = plans.flatMap(({ plan }) => plan.filter(line => /^SEARCH [tix] .*INDEX/.test(line))).sort();

  const sides = ['from', 'to', 'created_contract'];
  expect(steps.map(line => line.replace(/^SEARCH (\w) USING (?:COVERING )?INDEX /, '$1: '))).toEqual(
    [
      ...sides.flatMap(side =>
        ['transactions', 'internal_transactions'].map(table => {
          const column = side === 'created_contract' ? side : `${side}_address`;
          return `${table === 'transactions' ? 't' : 'i'}: ${table}_by_${side} (${column}=? AND rowid>? AND rowid<?)`;
        }),
      ),
      't: sqlite_autoindex_transactions_1 (hash=?)',
      'x: token_transfers_by_sender (from_number=? AND token_type=? AND rowid>? AND rowid<?)',
      'x: token_transfers_by_receiver (to_number=? AND token_type=? AND rowid>? AND rowid<?)',
      'x: token_transfers_by_token (token_number=? AND rowid>? AND rowid<?)',
    ].sort(),
  );
});

test('the holder of an id is found by the id, not among all holders of the token', async () => {
  const plans = await plansOf(() => reader.tokenInstances([{ token, tokenId: 7n, type: 'ERC-1155' }]));

  expect(plans.flatMap(({ plan }) => plan).join()).toContain(
    'token_balances_by_instance (token=? AND token_id=?)',
  );
});

test('the transfers of an id are found by the id, and the sales of a transaction by the transaction', async () => {
  const plans = await plansOf(async () => {
    await reader.nfts.transfers({ token, tokenId: 7n, limit: 50, offset: 0 });
    await reader.nfts.fulfilledOrders([hash]);
  });
  const steps = plans.flatMap(({ plan }) => plan).join();

  expect(steps).toContain('token_transfers_by_instance (token_number=? AND token_id=?)');
  expect(steps).toContain('logs_by_transaction (transaction_id=?)');
  expect(steps).not.toContain('logs_by_topic');
});

test('the transfers of one transaction are found by their keys, not by their type', async () => {
  const plans = await plansOf(() =>
    reader.tokenTransfersOf({ transactionHash: hash, limit: 50, types: ['ERC-20', 'ERC-721'] }),
  );

  expect(plans.flatMap(({ plan }) => plan).join()).toContain(
    'SEARCH token_transfers USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
  );
});

test('the first transfers of a page of transactions are one query, which reads no others', async () => {
  const transactions = Array.from({ length: 50 }, (_, index) => ({ blockNumber: 2, index }));
  const plans = await plansOf(() => reader.firstTokenTransfers({ transactions, limit: 10 }));

  expect(plans).toHaveLength(1);
  expect(plans.flatMap(({ plan }) => plan).join()).toMatch(/SEARCH x USING .*rowid>\? AND rowid<\?\)/);
});

test('the implementation of a proxy is found among the upgrades, not among all logs of the proxy', async () => {
  const plans = await plansOf(() => reader.addresses([`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]));

  expect(plans.flatMap(({ plan }) => plan).join()).toContain('logs_by_event (kind=?');
});
