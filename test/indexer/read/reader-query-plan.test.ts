import { join } from 'node:path';
import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Column } from '#db/columns.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { knownAbis } from '#evm/abi/abi.ts';
import { NFT_TYPES } from '#evm/token-id.ts';
import { createReader, type Reader } from '#indexer/index-reader.ts';
import { TOKEN_TYPES, TRANSACTION_TYPES } from '#indexer/schema/transaction-types.ts';
import { clientOf, openTestIndex, startTestChain, type TestChain } from '../support.ts';

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
  reader = createReader({ db, abis: knownAbis([]), client: clientOf(chain.rpcUrl) });
});

afterAll(async () => {
  await db.destroy();
  await chain.stop();
});

/** Every statement that `work` runs, with SQLite's plan for it. */
async function plansOf(work: () => Promise<unknown>): Promise<{ sql: string; plan: string[] }[]> {
  const asked: { sql: string; bindings: Column[] }[] = [];
  const listen = (query: { sql: string; bindings: Column[] }) => asked.push(query);
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

test('no query of the reader walks a table or sorts: each ends where its page ends', async () => {
  const place = { blockNumber: 2, index: 5 };
  const someone = `0x${'11'.repeat(20)}` as const;
  const queries: Record<keyof Omit<Reader, 'abis' | 'node' | 'markets'>, (() => Promise<unknown>)[]> = {
    head: [() => reader.head()],
    transactions: [
      () => reader.transactions({ limit: 50 }),
      () => reader.transactions({ limit: 50, before: place }),
      () => reader.transactions({ limit: 50, types: TRANSACTION_TYPES }),
      () => reader.transactions({ limit: 50, selectors: ['0xa9059cbb', '0x40c10f19'] }),
      () => reader.transactions({ limit: 50, selectors: ['0x40c10f19'], types: ['token_transfer'] }),
      () => reader.transactions({ limit: 50, blockNumber: 2 }),
    ],
    transactionByHash: [() => reader.transactionByHash(hash)],
    pendingTransactions: [() => reader.pendingTransactions()],
    pendingTransaction: [() => reader.pendingTransaction(`0x${'00'.repeat(32)}`)],
    blocks: [
      () => reader.blocks({ kind: 'block', limit: 50 }),
      () => reader.blocks({ kind: 'reorg', limit: 50, before: { number: 9, hash } }),
      () => reader.blocks({ kind: 'uncle', limit: 50 }),
    ],
    blockByNumberOrHash: [() => reader.blockByNumberOrHash(2), () => reader.blockByNumberOrHash(hash)],
    tokenTransfers: [
      () => reader.tokenTransfers({ limit: 50 }),
      () => reader.tokenTransfers({ limit: 50, before: place, types: TOKEN_TYPES }),
      () => reader.tokenTransfers({ limit: 50, blockNumber: 2 }),
    ],
    tokenTransfersOf: [
      () => reader.tokenTransfersOf({ transactionHash: hash, limit: 50 }),
      () => reader.tokenTransfersOf({ transactionHash: hash, limit: 50, types: ['ERC-20'] }),
    ],
    logs: [() => reader.logs({ transactionHash: hash, limit: 50 })],
    internalTransactions: [
      () => reader.internalTransactions({ limit: 50 }),
      () =>
        reader.internalTransactions({
          limit: 50,
          before: { blockNumber: 2, transactionIndex: 1, traceIndex: 3 },
        }),
    ],
    internalTransactionsOf: [
      () => reader.internalTransactionsOf({ transactionHash: hash, limit: 50, afterIndex: 3 }),
    ],
    tokenMoves: [() => reader.tokenMoves(2)],
    contract: [() => reader.contract(`0x${'11'.repeat(20)}`)],
    tokens: [() => reader.tokens([`0x${'11'.repeat(20)}`])],
    tokensWithSymbols: [() => reader.tokensWithSymbols(['usd', 'TOLL'])],
    resolveName: [],
    addresses: [() => reader.addresses([`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`])],
    coinHolders: [
      () => reader.coinHolders({ limit: 50 }),
      () => reader.coinHolders({ limit: 50, before: { balance: 7n, address: someone } }),
    ],
    addressLogs: [
      () => reader.addressLogs({ address: token, limit: 50, before: { blockNumber: 9, index: 0 } }),
    ],
    addressInternalTransactions: [
      () => reader.addressInternalTransactions({ address: someone, limit: 50 }),
      () => reader.addressInternalTransactions({ address: someone, limit: 50, direction: 'to' }),
    ],
    validatedBlocks: [() => reader.validatedBlocks({ miner: someone, limit: 50 })],
    withdrawals: [
      () => reader.withdrawals({ limit: 50 }),
      () => reader.withdrawals({ limit: 50, beforeIndex: 7 }),
      () => reader.withdrawals({ limit: 50, receiver: someone }),
      () => reader.withdrawals({ limit: 50, blockNumber: 2 }),
    ],
    tokenHoldings: [
      () => reader.tokenHoldings({ holder: minted, limit: 50 }),
      () => reader.tokenHoldings({ holder: minted, limit: 50, types: ['ERC-20'], beforeId: 7 }),
    ],
    nftHoldings: [
      () => reader.nftHoldings({ holder: someone, limit: 50, types: NFT_TYPES }),
      () =>
        reader.nftHoldings({
          holder: someone,
          limit: 50,
          types: NFT_TYPES,
          after: { token: someone, tokenId: 7n },
        }),
    ],
    tokenInstances: [
      () => reader.tokenInstances(NFT_TYPES.map(type => ({ token: someone, tokenId: 7n, type }))),
    ],
    nfts: [
      () => reader.nfts.transfers({ token: someone, limit: 50, offset: 100 }),
      () => reader.nfts.transfers({ token: someone, tokenId: 7n, limit: 50, offset: 0 }),
      () => reader.nfts.fulfilledOrders([hash]),
      () =>
        reader.nfts.owners(
          NFT_TYPES.map(type => ({ token: someone, tokenId: 7n, type })),
          1_000,
        ),
    ],
    implementations: [() => reader.implementations([someone])],
    // These ask the node alone.
    tokenUris: [],
    ownerOf: [],
    isOnChain: [() => reader.isOnChain(`0x${'11'.repeat(20)}`)],
    tokensNamed: [
      () => reader.tokensNamed({ prefix: 'dol', limit: 50 }),
      () =>
        reader.tokensNamed({
          prefix: 'u',
          limit: 50,
          after: { term: 'usd', address: `0x${'11'.repeat(20)}` },
        }),
    ],
    contractsNamed: [() => reader.contractsNamed({ prefix: 'dol', limit: 50 })],
    totals: [() => reader.totals()],
    days: [() => reader.days({ first: 19_000, last: 19_030 })],
    recentLoad: [() => reader.recentLoad(101)],
    recentGasPrices: [() => reader.recentGasPrices({ fromBlock: 1, limit: 2_000 })],
  };

  const { markets } = reader;
  const pair = { address: someone, token, isBaseFirst: true };
  const marketQueries: (() => Promise<unknown>)[] = [
    () => markets.momentOf(1_000),
    () => markets.pairs({ factory: someone, base: token, tokens: [someone, minted] }),
    () => markets.reservesAt(pair, 1_000),
    () => markets.volumeUntil(pair, 1_000),
    () => markets.tradedDays(pair, 1_000),
  ];

  const plans = await plansOf(async () => {
    for (const query of [...Object.values(queries).flat(), ...marketQueries]) await query();
  });

  expect(plans.length).toBeGreaterThan(15);
  for (const { sql, plan } of plans) {
    // A subquery that is scanned has its own limit, traded days are found one by one; one row of the head's state has no index to speak of.
    const bad = plan.filter(line =>
      /TEMP B-TREE|^SCAN (?!found|newest|\(subquery|CONSTANT|traded_days)/.test(line),
    );
    expect(bad, sql).toEqual([]);
    // Equality on a column must be answered by that column's index: a range of keys is the whole chain.
    for (const [, column] of sql.matchAll(
      /where (?:\w\.)?(facts|selector|token_type|transaction_id|address|miner|holder|owner|token|from_address|to_address|created_contract) = \?/g,
    )) {
      expect(plan.join('\n'), sql).toMatch(new RegExp(`(INDEX \\w+|PRIMARY KEY) \\(${column}=\\?`));
    }
  }
});

test('who has an id of a token is found by the id, not among all who have some of the token', async () => {
  const plans = await plansOf(() => reader.tokenInstances([{ token, tokenId: 7n, type: 'ERC-1155' }]));

  expect(plans.flatMap(({ plan }) => plan).join()).toContain(
    'token_balances_by_instance (token=? AND token_id=?)',
  );
});

test('the transfers of one id are found by the id, the sales of a transaction by the transaction', async () => {
  const plans = await plansOf(async () => {
    await reader.nfts.transfers({ token, tokenId: 7n, limit: 50, offset: 0 });
    await reader.nfts.fulfilledOrders([hash]);
  });
  const steps = plans.flatMap(({ plan }) => plan).join();

  expect(steps).toContain('token_transfers_by_instance (token=? AND token_id=?)');
  expect(steps).toContain('logs_by_transaction (transaction_id=?)');
  expect(steps).not.toContain('logs_by_topic');
});

test('the transactions of one call’s transfers are found by their own index, not by their type', async () => {
  const plans = await plansOf(() =>
    reader.tokenTransfersOf({ transactionHash: hash, limit: 50, types: ['ERC-20', 'ERC-721'] }),
  );

  expect(plans.flatMap(({ plan }) => plan).join()).toContain('token_transfers_by_transaction');
});

test('who stands behind a proxy is found among the upgrades, not among all logs of the proxy', async () => {
  const plans = await plansOf(() => reader.addresses([`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]));

  expect(plans.flatMap(({ plan }) => plan).join()).toContain('logs_by_event (address=? AND topic0=?');
});
