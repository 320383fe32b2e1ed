import { describe, expect } from 'vitest';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import type { Rpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import type { ChainView } from '../devnet/chain-view.ts';
import { startNodeProxy } from '../indexer/node-proxy.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { list, record } from '../lab/json.ts';
import { type Client, client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';

const TRACERS = ['trace_transaction', 'trace_replayTransaction', 'debug_traceTransaction'];

const test = testOnOwnDevnet(30);
let api: Client;
let chain: EmbeddedChain;
let view: ChainView;
let rpc: Rpc;

test.beforeAll(({ api: ownApi, chain: ownChain, view: ownView, rpc: ownRpc }) => {
  [api, chain, view, rpc] = [ownApi, ownChain, ownView, ownRpc];
});

const path = (hash: string) => `/explorer/transactions/${hash}/raw-trace`;

/** A service of the same chain with another node. */
async function behindProxy(options: { missing: string[]; invented?: Record<string, unknown> }) {
  const proxy = await startNodeProxy(chain.rpcUrl, options);
  const other = await startTestDataService([{ ...chain, rpcUrl: proxy.rpcUrl }]);
  let isUp = true;
  const stopNode = async () => {
    if (isUp) await proxy.stop();
    isUp = false;
  };
  return {
    api: client(other.url),
    counts: proxy.counts,
    stopNode,
    [Symbol.asyncDispose]: async () => {
      await other.close();
      await stopNode();
    },
  };
}

/** Everything except gas and error texts, which differ between tracers. */
function shapeOf(item: unknown): unknown {
  const { action, result, error, subtraces, traceAddress, transactionHash, type } = record(item);
  const { gas: _, ...rest } = record(action);
  const { address, code } = result === null ? {} : record(result);
  return {
    action: rest,
    address,
    code,
    failed: error !== undefined,
    subtraces,
    traceAddress,
    transactionHash,
    type,
  };
}

describe('a node that has trace_transaction', () => {
  test('is passed on, with every item of every transaction', async () => {
    for (const { hash } of view.transactions) {
      const { body } = await api.get(path(hash));

      expect(body).toEqual(await rpc.call('trace_transaction', hash));
    }
  });
});

describe('a node that only has a call tracer', () => {
  test('gives the same tree in the same form', async () => {
    await using other = await behindProxy({ missing: TRACERS.slice(0, 2) });

    for (const { hash } of view.transactions) {
      const [converted, passedOn] = await Promise.all([other.api.get(path(hash)), api.get(path(hash))]);

      expect(list(converted.body).map(shapeOf)).toEqual(list(passedOn.body).map(shapeOf));
    }
    expect(other.counts.get('debug_traceTransaction')).toBe(view.transactions.length);
  });
});

describe('a node that has only trace_replayTransaction', () => {
  test('is passed on with the hash that its items lack, and without null values', async () => {
    const hash = view.transactions[0]?.hash ?? '';
    const item = { type: 'create', action: { gas: '0x1', to: null }, subtraces: 0, traceAddress: [] };
    await using other = await behindProxy({
      missing: ['trace_transaction', 'debug_traceTransaction'],
      invented: { trace_replayTransaction: { trace: [item] } },
    });

    const { body } = await other.api.get(path(hash));

    expect(body).toEqual([{ ...item, action: { gas: '0x1' }, result: null, transactionHash: hash }]);
  });
});

test('the node’s trace of a final transaction is kept for good', async () => {
  const hash = view.transactions[0]?.hash ?? '';

  for (const what of ['raw-trace', 'state-changes', 'internal-transactions', 'summary']) {
    const { headers } = await api.get(`/explorer/transactions/${hash}/${what}`);

    expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
  }
});

describe('without an answer', () => {
  test('a node without any tracer is a 501', async () => {
    await using other = await behindProxy({ missing: TRACERS });

    const { status } = await other.api.get(path(view.transactions[0]?.hash ?? ''));

    expect(status).toBe(501);
  });

  test('a node that is out is a 502', async () => {
    await using other = await behindProxy({ missing: [] });
    await other.stopNode();

    const { status } = await other.api.get(path(view.transactions[0]?.hash ?? ''));

    expect(status).toBe(502);
  });

  test('an unknown transaction is a 404', async () => {
    const { status } = await api.get(path(`0x${'11'.repeat(32)}`));

    expect(status).toBe(404);
  });
});

test('a pending transaction has an empty trace, no state changes and no summary', async () => {
  const signer = deriveAccounts().signer(2);
  const nonce = Number(await rpc.call('eth_getTransactionCount', signer.address, 'pending'));
  const signed = await signer.signTransaction({
    type: 'eip1559',
    chainId: chain.id,
    nonce,
    to: signer.address,
    gas: 21_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 1n,
  });
  const hash = String(await rpc.call('eth_sendRawTransaction', signed));

  const ask = (what: string) => api.get(`/explorer/transactions/${hash}/${what}`);

  expect((await ask('raw-trace')).body).toEqual([]);
  expect((await ask('state-changes')).body).toEqual({ items: [], next_page_params: null });
  expect((await ask('internal-transactions')).body).toEqual({ items: [], next_page_params: null });
  expect((await ask('summary')).body).toEqual({ success: false, data: { summaries: [] } });
});
