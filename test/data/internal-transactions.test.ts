import { describe, expect } from 'vitest';
import type { ChainView, Frame } from '../devnet/chain-view.ts';
import type { Client } from '../support/contract-client.ts';
import { test } from '../support/served-devnet.ts';
import { type Item, itemOf, walk } from '../support/walk.ts';

let api: Client;
let view: ChainView;

test.beforeAll(({ api: sharedApi, view: sharedView }) => {
  [api, view] = [sharedApi, sharedView];
});

/** Calls below a transaction's own from the node's callTracer, as our items in a comparable form. */
function expectedOf(hash: string, trace: Frame): unknown[] {
  return below(trace).map((frame, position) => ({
    transaction_hash: hash,
    index: position + 1,
    type: frame.type.toLowerCase(),
    from: frame.from,
    to: frame.type.startsWith('CREATE') || frame.type === 'SELFDESTRUCT' ? null : frame.to,
    created_contract: frame.type.startsWith('CREATE') && frame.error === undefined ? frame.to : null,
    value: /DELEGATE|STATIC/.test(frame.type) ? '0' : BigInt(frame.value ?? 0).toString(),
    success: frame.error === undefined,
  }));
}

function below(frame: Frame): Frame[] {
  return (frame.calls ?? []).flatMap(call => [call, ...below(call)]);
}

function seenOf(item: Item): unknown {
  const { transaction_hash, index, type, from, to, created_contract, value, success } = item;
  return {
    transaction_hash,
    index,
    type,
    from: hashOf(from),
    to: hashOf(to),
    created_contract: hashOf(created_contract),
    value,
    success,
  };
}

function hashOf(party: unknown): string | null {
  return party === null ? null : String(itemOf(party).hash).toLowerCase();
}

describe('the list of internal transactions', () => {
  test.each(['cursor', 'keys'] as const)(
    'walked by %s has every call in the node’s traces exactly once, in pages of 50',
    async by => {
      const { items, pages } = await walk(api, '/explorer/internal-transactions', by);

      const expected = view.transactions.flatMap(({ hash, trace }) => expectedOf(hash, trace));
      expect(items.map(seenOf)).toEqual(expected.reverse());
      expect(pages.length).toBeGreaterThan(1);
      expect(pages.slice(0, -1).every(length => length === 50)).toBe(true);
    },
  );

  test('with a position that lacks a key is a 400 that names it', async () => {
    const { status, body } = await api.get('/explorer/internal-transactions?block_number=5&index=1');

    expect(status).toBe(400);
    expect(itemOf(body).message).toContain('transaction_index');
  });

  test('with a position beyond the chain’s head starts at the newest', async () => {
    const first = await api.get('/explorer/internal-transactions');
    const far = await api.get(
      '/explorer/internal-transactions?block_number=9007199254740991&transaction_index=0&index=0',
    );

    expect(far.body).toEqual(first.body);
  });
});

describe('the internal transactions of one transaction', () => {
  test('are those of the node’s trace, in order, without the transaction’s own call', async () => {
    for (const { hash, trace } of view.transactions.filter(({ trace: { calls } }) => calls).slice(0, 30)) {
      const { items } = await walk(api, `/explorer/transactions/${hash}/internal-transactions`);

      expect(items.map(seenOf)).toEqual(expectedOf(hash, trace));
    }
  });

  test('include creations, delegate calls, self-destructs and failures', async () => {
    const { items } = await walk(api, '/explorer/internal-transactions');

    const types = new Set(items.map(({ type }) => type));
    expect([...types]).toEqual(
      expect.arrayContaining(['call', 'create', 'create2', 'delegatecall', 'selfdestruct']),
    );
    expect(items.some(({ success, error }) => success === false && typeof error === 'string')).toBe(true);
  });

  test('of a plain transfer are an empty page', async () => {
    const plain = view.transactions.find(({ input, to }) => input === '0x' && to !== null);

    const { body } = await api.get(`/explorer/transactions/${plain?.hash}/internal-transactions`);

    expect(body).toEqual({ items: [], next_page_params: null });
  });

  test('of an unknown transaction are a 404', async () => {
    const { status } = await api.get(`/explorer/transactions/0x${'11'.repeat(32)}/internal-transactions`);

    expect(status).toBe(404);
  });
});
