import type { Hash } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHAIN_ID, servedTestChain, startTestChain, type TestChain } from '../indexer/support.ts';
import { indexIn, servedChain, startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { type FaultyNode, faultyNode } from '../lab/faulty-node.ts';
import { list, record } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { type Client, client } from '../support/contract-client.ts';
import { eachDatabase } from '../support/databases.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

const MINUTE_MS = 60_000;

/** Blocks on top of the incomplete ones, so that answers about them count as final. */
const DEPTH = 15;

eachDatabase('blocks whose parts the node does not give', databases => {
  let chain: TestChain;
  let node: FaultyNode;
  let service: TestDataService;
  let api: Client;
  let clock: ManualClock;
  /** A mint without a receipt, and the coin transfer behind it in its block. */
  let mint: Hash;
  let payment: Hash;
  /** A call without a trace, and a call to a receiver without code, each alone in its block. */
  let call: Hash;
  let receiver: string;

  beforeAll(async () => {
    chain = await startTestChain();
    const [minter, holder] = [chain.accounts.signer(0).address, chain.accounts.signer(1).address];
    const token = await chain.deploy('StableToken', ['Dollar', 'USD']);
    await chain.mine();
    mint = (await chain.send(0, token.call('mint', [holder, 1_000n]))).hash;
    payment = (await chain.send(1, { to: minter, value: 5n })).hash;
    await chain.mine();
    call = (await chain.send(0, token.call('mint', [minter, 7n]))).hash;
    await chain.mine();
    const other = await chain.deploy('StableToken', ['Euro', 'EUR']);
    await chain.mine();
    receiver = other.address.toLowerCase();
    await chain.send(0, other.call('mint', [minter, 7n]));
    await chain.mine();
    for (let count = 0; count < DEPTH; count += 1) await chain.mine();
    node = await faultyNode(chain.rpcUrl);
    withhold();
    clock = manualClock();
    const folder = chain.folder;
    const served = servedChain(servedTestChain(node.url), folder);
    const database = await databases.create();
    service = await startTestDataService(
      [],
      { chains: [{ ...served, backends: [indexIn(database)] }], clock },
      // The code of the receiver stays unread.
      ({ whenComplete }) => whenComplete(),
    );
    api = client(service.url);
  });

  afterAll(async () => {
    await service?.close();
    await node?.[Symbol.asyncDispose]();
    await chain?.stop();
  });

  /** Refuses the receipt of `mint`, the trace of `call` and the code of `receiver`, and what contains them. */
  function withhold(): void {
    const refused = new Map<string, readonly unknown[]>([
      ['eth_getBlockReceipts', ['0x2']],
      ['eth_getTransactionReceipt', [mint]],
      ['trace_block', ['0x3']],
      ['trace_transaction', [call]],
      ['eth_getCode', [receiver]],
    ]);
    node.tell(({ method, params }) => {
      const asked = typeof params?.[0] === 'string' ? params[0].toLowerCase() : undefined;
      return refused.get(method)?.includes(asked) === true ? new Error('response is too large') : undefined;
    });
  }

  const get = (path: string) => api.get(`/explorer/${path}`);
  const backend = async () => {
    const { chains } = record((await api.get('/chains')).body);
    return record(list(record(list(chains)[0]).backends)[0]);
  };

  describe('are indexed without them', () => {
    test('so that the index is at the head and says how many blocks are incomplete', async () => {
      const status = record(list(record(await service.status()).chains)[0]);

      expect(await backend()).toMatchObject({ ready: true, lag: 0, stalled: false, incomplete_blocks: 3 });
      expect(record(list(status.backends)[0])).toMatchObject({ lag_blocks: 0, incomplete_blocks: 3 });
    });

    test('so that a block without a receipt and its transactions are not proven, and others are', async () => {
      const paths = ['blocks/2', `transactions/${payment}`, 'blocks/3', `transactions/${call}`];
      const status = record(list(record(await service.status()).chains)[0]);

      const answers = await Promise.all(paths.map(get));

      expect(answers.map(({ body }) => record(body).proven)).toEqual([false, false, true, true]);
      expect(record(list(status.backends)[0])).toMatchObject({
        proven_share: Math.floor((1 - 1 / (6 + DEPTH)) * 10_000) / 10_000,
        unprovable: null,
        contradicting_nodes: [],
        head_agreed_by: 1,
      });
    });

    test('and a transaction without a receipt has no outcome, fee, gas or transfers', async () => {
      const { status, body } = await get(`transactions/${mint}`);

      expect(status).toBe(200);
      expect(body).toMatchObject({
        block_number: 2,
        status: null,
        result: 'awaiting_internal_transactions',
        fee: { type: 'actual', value: null },
        gas_used: null,
        transaction_burnt_fee: null,
        token_transfers: null,
        token_transfers_overflow: null,
      });
    });

    test.for(['logs', 'token-transfers', 'summary', 'state-changes'])(
      'and the %s of a transaction without a receipt are a 501',
      async part => {
        const { status, body } = await get(`transactions/${mint}/${part}`);

        expect([status, record(body).message]).toEqual([501, expect.stringContaining('receipt')]);
      },
    );

    test('and the other transaction of its block is complete', async () => {
      const [found, logs, block] = await Promise.all([
        get(`transactions/${payment}`),
        get(`transactions/${payment}/logs`),
        get('blocks/2'),
      ]);

      expect(found.body).toMatchObject({ status: 'ok', result: 'success', gas_used: '21000' });
      expect([logs.status, list(record(logs.body).items)]).toEqual([200, []]);
      expect(block.body).toMatchObject({ transaction_count: 2, transaction_fees: null, burnt_fees: null });
    });

    test('and a query of document 2 leaves the unknown fields out', async () => {
      const { body } = await api.get(`/insights/v1/transactions?chain_id=${CHAIN_ID}&filter_hash=${mint}`);

      const [found] = list(record(body).data);
      expect(found).toMatchObject({ hash: mint });
      expect(found).not.toHaveProperty('gas_used');
      expect(found).not.toHaveProperty('status');
    });

    test('and the internal transactions of a transaction without a trace, and of its block, are a 501', async () => {
      const [found, ofTransaction, ofBlock] = await Promise.all([
        get(`transactions/${call}`),
        get(`transactions/${call}/internal-transactions`),
        get('blocks/3/internal-transactions'),
      ]);

      expect(found.body).toMatchObject({ status: 'ok', has_error_in_internal_transactions: null });
      expect([ofTransaction.status, ofBlock.status]).toEqual([501, 501]);
    });

    test('and lists over several blocks are answered without what is missing', async () => {
      const paths = ['internal-transactions', 'transactions', 'token-transfers', 'blocks'];
      const holder = chain.accounts.signer(1).address;
      const lists = paths.flatMap(path => [
        path,
        ...(path === 'blocks' ? [] : [`addresses/${holder}/${path}`]),
      ]);

      const answers = await Promise.all(lists.map(get));

      expect(answers.map(({ status }) => status)).toEqual(lists.map(() => 200));
      const hashes = list(record(answers[lists.indexOf('transactions')]?.body).items).map(
        item => record(item).hash,
      );
      expect(hashes).toContain(mint);
    });

    test('and fees of a day with an unknown fee are null', async () => {
      const { body } = await get('transactions/stats');

      expect(body).toMatchObject({ transaction_fees_sum_24h: null, transaction_fees_avg_24h: null });
    });

    test('and the indexing of internal transactions is not finished', async () => {
      const answer = await get('main-page/indexing-status');

      expect(answer.body).toMatchObject({ finished_indexing: false, finished_indexing_blocks: true });
    });
  });

  test('are complete a minute after the node gives the parts, and cached final answers change', async () => {
    const transfers = `addresses/${chain.accounts.signer(1).address}/token-transfers`;
    const before = await Promise.all([get(`transactions/${mint}`), get('blocks/2'), get(transfers)]);
    node.tell(undefined);

    clock.advance(MINUTE_MS);
    const left = await until(
      async () => {
        clock.advance(MINUTE_MS / 10);
        return (await backend()).incomplete_blocks;
      },
      count => count === 0,
    );
    await service.catchUp();

    const after = await Promise.all([get(`transactions/${mint}`), get('blocks/2'), get(transfers)]);
    const lists = ['logs', 'token-transfers', 'summary', 'state-changes', 'internal-transactions'];
    const ofMint = await Promise.all(lists.map(part => get(`transactions/${mint}/${part}`)));
    const ofCall = await get(`transactions/${call}/internal-transactions`);
    expect(left).toBe(0);
    expect(before[0]?.body).toMatchObject({ status: null });
    expect(after[0]?.body).toMatchObject({ status: 'ok', gas_used: expect.any(String), proven: true });
    expect(after[1]?.body).toMatchObject({ transaction_fees: expect.any(String), proven: true });
    expect([before[2], after[2]].map(answer => list(record(answer?.body).items).length)).toEqual([0, 1]);
    expect([...ofMint, ofCall].map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect((await get('main-page/indexing-status')).body).toMatchObject({ finished_indexing: true });
  });
});
