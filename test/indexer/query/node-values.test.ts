import { numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainIndex } from '#indexer/index-service.ts';
import type { SerialEngine } from '#indexer/query/engine.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import type { Entity, Filter } from '#query-model/row-selection.ts';
import { bothDatabases, type TestDatabases } from '#test/support/databases.ts';
import { CHAIN_ID, openTestIndex, startTestChain, type TestChain } from '../support.ts';
import { type FieldValues, rowsOf, testEngine } from './opened-engine.ts';

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
  const signer = chain.accounts.signer(0);
  const other = chain.accounts.signer(1).address;
  const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.mine();
  await chain.send(0, dollar.call('mint', [other, 5n]));
  await chain.mine();
  const gas = { gas: 100_000n, gasPrice: 10_000_000_000n, to: other, value: 1n };
  const signed = [
    await signer.signTransaction({ type: 'legacy', chainId: CHAIN_ID, nonce: 2, ...gas }),
    await signer.signTransaction({
      type: 'eip2930',
      chainId: CHAIN_ID,
      nonce: 3,
      ...gas,
      accessList: [{ address: dollar.address, storageKeys: [`0x${'0'.repeat(64)}`] }],
    }),
  ];
  for (const transaction of signed) await chain.rpc.call('eth_sendRawTransaction', transaction);
  await chain.mine();
});

afterAll(() => chain.stop());

const blockAt = (number: unknown) => {
  if (typeof number !== 'bigint') throw new Error('no block number');
  return chain.client.request({ method: 'eth_getBlockByNumber', params: [numberToHex(number), true] });
};

bothDatabases('values of an index', valuesSuite);

function valuesSuite(databases: TestDatabases): void {
  let index: ChainIndex;
  let engine: SerialEngine;

  beforeAll(async () => {
    const database = await databases.create();
    index = await openTestIndex({ database, client: chain.client });
    await index.runOnce();
    engine = await testEngine(indexOptions(database, CHAIN_ID));
  });

  afterAll(async () => {
    await engine.close();
    await index.stop();
  });

  async function all(entity: Entity, filters: readonly Filter[] = []): Promise<readonly FieldValues[]> {
    const answer = await engine.run({
      kind: 'rows',
      entity,
      filters,
      sort: { field: 'block_number', order: 'asc' },
      limit: 100,
      offset: 0,
      countUpTo: 100,
    });
    return rowsOf(answer).rows;
  }

  test('events are found by their contract and first topic', async () => {
    const [first, second] = await all('events');

    const named = [];
    for (const event of [first, second]) {
      const filters = ['address', 'topic_0'].map(field => {
        return { field, operator: 'eq', value: String(event?.[field]) } as const;
      });
      named.push(await all('events', filters));
    }

    expect(second?.address).toBe(first?.address);
    expect(named).toEqual([[first], [second]]);
  });

  test('blocks have the node’s values', async () => {
    const rows = await all('blocks');

    expect(rows).toHaveLength(4);
    for (const row of rows) {
      const block = await blockAt(row.block_number);
      expect(row).toMatchObject({
        chain_id: BigInt(CHAIN_ID),
        block_hash: block?.hash,
        block_timestamp: BigInt(block?.timestamp ?? 0),
        parent_hash: block?.parentHash,
        sha3_uncles: block?.sha3Uncles,
        mix_hash: block?.mixHash,
        state_root: block?.stateRoot,
        transactions_root: block?.transactionsRoot,
        receipts_root: block?.receiptsRoot,
        withdrawals_root: block?.withdrawalsRoot,
        logs_bloom: block?.logsBloom,
        transaction_count: BigInt(block?.transactions.length ?? 0),
      });
    }
  });

  test('transactions of every type have the values of the node and the receipts', async () => {
    const rows = await all('transactions');

    expect(rows.map(row => row.transaction_type)).toEqual([2n, 2n, 0n, 1n]);
    for (const row of rows) {
      const block = await blockAt(row.block_number);
      const transaction = block?.transactions
        .filter(entry => typeof entry !== 'string')
        .find(({ hash }) => hash === row.hash);
      if (transaction === undefined) throw new Error('the node does not know the transaction');
      const receipt = await chain.client.request({
        method: 'eth_getTransactionReceipt',
        params: [transaction.hash],
      });
      expect(row).toMatchObject({
        chain_id: BigInt(CHAIN_ID),
        block_hash: block?.hash,
        from_address: transaction.from,
        to_address: transaction.to,
        data: transaction.input,
        r: BigInt(transaction.r ?? -1),
        s: BigInt(transaction.s ?? -1),
        v: BigInt(transaction.v ?? transaction.yParity ?? -1),
        cumulative_gas_used: BigInt(receipt?.cumulativeGasUsed ?? -1),
        logs_bloom: receipt?.logsBloom,
        effective_gas_price: BigInt(receipt?.effectiveGasPrice ?? -1),
        contract_address: receipt?.contractAddress ?? null,
      });
    }
    expect(rows.map(row => row.access_list_json)).toEqual([null, null, null, expect.stringContaining('0x')]);
    // EIP-155 includes the chain in it.
    expect(rows[2]?.v).toBeGreaterThanOrEqual(BigInt(CHAIN_ID) * 2n + 35n);
  });

  test('events have the values of the receipts', async () => {
    const rows = await all('events');

    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      const block = await blockAt(row.block_number);
      const receipts = await chain.client.request({
        method: 'eth_getBlockReceipts',
        params: [numberToHex(BigInt(row.block_number ?? 0))],
      });
      const logs = (receipts ?? []).flatMap(receipt => receipt.logs.map(log => ({ ...log, receipt })));
      const log = logs.find(({ logIndex }) => BigInt(logIndex) === row.log_index);
      expect(row).toMatchObject({
        block_hash: block?.hash,
        transaction_hash: log?.receipt.transactionHash,
        address: log?.address,
        data: log?.data,
        topic_0: log?.topics[0] ?? null,
        topic_1: log?.topics[1] ?? null,
        topic_2: log?.topics[2] ?? null,
        topic_3: log?.topics[3] ?? null,
      });
    }
  });
}
