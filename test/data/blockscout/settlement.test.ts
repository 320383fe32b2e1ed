import { describe, expect, test } from 'vitest';
import type { Behaviour } from '../../lab/scripted-upstream.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  blockAt,
  confirmed,
  EMPTY,
  HASH,
  type Instance,
  indexed,
  serve,
  TRANSACTION,
} from './settlement-support.ts';

const LOGS = `/transactions/${HASH}/logs`;
const INTERNALS = `/transactions/${HASH}/internal-transactions`;

describe('a list inside a transaction', () => {
  test('is final under enough blocks, and the next such list needs no further lookup', async () => {
    await using service = await serve([
      ({ path }) => (path === `/transactions/${HASH}` ? confirmed(13) : EMPTY),
    ]);

    expect(await service.isFinal(LOGS)).toBe(true);
    expect(await service.isFinal(`/transactions/${HASH}/token-transfers`)).toBe(true);
    expect(service.asked.filter(path => path === `/transactions/${HASH}`)).toHaveLength(1);
  });

  test('does not inherit the depth of a block that the transaction has left', async () => {
    let transaction = confirmed(1, { block_number: 100 });
    await using service = await serve([
      ({ path }) => {
        if (path === '/main-page/blocks') return { json: [blockAt(112)] };
        if (path === '/blocks/112') return { json: blockAt(112) };
        return path === `/transactions/${HASH}` ? transaction : EMPTY;
      },
    ]);

    await service.get(`/transactions/${HASH}`);
    transaction = confirmed(1, { block_number: 112 });
    await service.get('/blocks/112');

    expect(await service.isFinal(LOGS)).toBe(false);
  });

  test('is answered without waiting for a slow depth lookup, which settles the next answer', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<Behaviour>();
    await using service = await serve([({ path }) => (path === `/transactions/${HASH}` ? held : EMPTY)]);
    const lists = [LOGS, `/transactions/${HASH}/token-transfers`];

    const first = await Promise.all(lists.map(service.isFinal));
    release(confirmed(13));

    expect(first).toEqual([false, false]);
    await expect.poll(() => service.isFinal(LOGS)).toBe(true);
    expect(await service.isFinal(`/transactions/${HASH}/token-transfers`)).toBe(true);
    expect(service.asked.filter(path => path === `/transactions/${HASH}`)).toHaveLength(1);
  });
});

describe('a transaction without internal transactions', () => {
  /** An instance before version 12 that has traced this share of its transactions. */
  const instance =
    (tracesRatio: string | null, transaction = confirmed(41)): Instance =>
    ({ path }) => {
      if (path === '/main-page/indexing-status') return indexed(true, tracesRatio);
      return path === `/transactions/${HASH}` ? transaction : EMPTY;
    };

  test.each<[string, string | null]>([
    ['some', '0.99'],
    ['an unknown part', null],
  ])('is never final while the instance has traced only %s', async (_name, ratio) => {
    await using service = await serve([instance(ratio)]);

    for (let count = 0; count < 3; count += 1) expect(await service.isFinal(INTERNALS)).toBe(false);
  });

  test('is never final where the instance does not report its progress', async () => {
    await using service = await serve([
      ({ path }) => {
        if (path === '/main-page/indexing-status') return undefined;
        return path === `/transactions/${HASH}` ? confirmed(41) : EMPTY;
      },
    ]);

    for (let count = 0; count < 3; count += 1) expect(await service.isFinal(INTERNALS)).toBe(false);
  });

  test('is final once the instance has traced everything and the depth was known before the list', async () => {
    await using service = await serve([instance('1.00')]);

    expect(await service.isFinal(INTERNALS)).toBe(false);
    expect(await service.isFinal(INTERNALS)).toBe(true);
  });

  test('is not final by a trace that arrived after the list', async () => {
    let isTraced = false;
    await using service = await serve([
      ({ path }) => {
        if (path === '/main-page/indexing-status') return indexed(true, '1.00');
        if (path === `/transactions/${HASH}`)
          return confirmed(41, {
            status: 'error',
            result: isTraced ? 'Reverted' : 'awaiting_internal_transactions',
          });
        isTraced = true;
        return EMPTY;
      },
    ]);

    expect(await service.isFinal(INTERNALS)).toBe(false);
  });

  test('is final when the instance marks its list as complete', async () => {
    const told =
      (status: number): Instance =>
      ({ path }) => {
        if (path === `/transactions/${HASH}`) return confirmed(41);
        return { json: { items: [], next_page_params: null, meta: { status } } };
      };
    await using complete = await serve([told(1)]);
    await using tracing = await serve([told(2)]);

    expect([await complete.isFinal(INTERNALS), await tracing.isFinal(INTERNALS)]).toEqual([true, false]);
  });
});

test.each(['/internal-transactions', `/addresses/0x${'1'.repeat(40)}/internal-transactions`])(
  '%s is not kept until the instance has traced all transactions, which is checked once per minute',
  async path => {
    const clock = manualClock();
    let ratio = '0.40';
    await using service = await serve(
      [({ path: asked }) => (asked === '/main-page/indexing-status' ? indexed(true, ratio) : EMPTY)],
      { clock },
    );
    const isKept = async () => {
      await service.get(path);
      return (await service.get(path)).headers.get('x-cache') === 'HIT';
    };

    expect(await isKept()).toBe(false);
    ratio = '1.00';
    clock.advance(59_999);
    expect(await isKept()).toBe(false);
    clock.advance(1);
    expect(await isKept()).toBe(true);
    expect(service.asked.filter(asked => asked === '/main-page/indexing-status')).toHaveLength(2);
  },
);

describe('the latest block', () => {
  /** An instance with these latest blocks that has every block up to the head. */
  function chain(state: { head: number; said?: number }): Instance {
    return ({ path }) => {
      if (path === '/main-page/blocks') return { json: [blockAt(state.said ?? state.head)] };
      const height = Number(/^\/blocks\/(\d+)(?:\/transactions)?$/.exec(path)?.[1]);
      if (path.endsWith('/transactions')) return EMPTY;
      if (path === `/transactions/${HASH}`)
        return { json: { ...TRANSACTION, block_number: 100, confirmations: 9e15 } };
      return height <= state.head ? { json: blockAt(height) } : undefined;
    };
  }

  test('shown to another client does not count as a lookup for settlement', async () => {
    const state = { head: 100, said: 20_000_000 };
    await using service = await serve([chain(state)]);

    await service.get('/main-page/blocks');
    state.said = 100;

    expect(await service.isFinal('/blocks/100')).toBe(false);
  });

  test('is always that of the last lookup, even if it was higher before', async () => {
    const clock = manualClock();
    const state = { head: 5_000 };
    await using service = await serve([chain(state)], { clock });

    expect(await service.isFinal('/blocks/9')).toBe(true);
    expect(await service.isFinal('/blocks/10/transactions')).toBe(true);
    state.head = 10;
    clock.advance(2 * 86_400_000);

    expect(await service.isFinal('/blocks/9')).toBe(false);
    expect(await service.isFinal('/blocks/10')).toBe(false);
    expect(await service.isFinal('/blocks/10/transactions')).toBe(false);
  });

  test('is looked up at most every 15 seconds', async () => {
    const clock = manualClock();
    await using service = await serve([chain({ head: 100 })], { clock });
    const looks = async (number: number) => {
      await service.get(`/blocks/${number}`);
      return service.asked.filter(path => path === '/main-page/blocks').length;
    };

    expect([await looks(1), await looks(2)]).toEqual([1, 1]);
    clock.advance(14_999);
    expect(await looks(3)).toBe(1);
    clock.advance(1);
    expect(await looks(4)).toBe(2);
  });

  test('is not raised by a transaction’s claim about its own depth', async () => {
    await using service = await serve([chain({ head: 105 })]);

    await service.get(`/transactions/${HASH}`);

    expect(await service.isFinal('/blocks/101')).toBe(false);
  });

  test('limits a transaction’s claim about its own depth', async () => {
    await using service = await serve([chain({ head: 105 })]);

    await service.get('/blocks/101');

    expect(await service.isFinal(`/transactions/${HASH}`)).toBe(false);
  });

  test('settles no list by a block that was not requested', async () => {
    await using service = await serve([
      ({ path }) => {
        if (path === '/main-page/blocks') return { json: [blockAt(100)] };
        return path === '/blocks/99' ? { json: blockAt(3) } : EMPTY;
      },
    ]);

    expect(await service.isFinal('/blocks/99/transactions')).toBe(false);
    expect(await service.isFinal('/blocks/3/transactions')).toBe(false);
  });
});
