import { describe, expect, test } from 'vitest';
import type { Answers, Backend } from '../../src/data/backends/port/backend.ts';
import { BackendError } from '../../src/data/backends/port/backend-error.ts';
import { errorReply } from '../../src/data/explorer/handler.ts';
import { explorer } from '../../src/data/explorer/operations.ts';
import { firstFound } from '../../src/data/fallback/first-found.ts';
import { HttpError } from '../../src/http/errors.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { manualClock } from '../support/manual-clock.ts';
import { answererOver, backend, chain, emptyPage, failure, hashOf, told } from './answer-support.ts';

/** Behaviour of a back end in the table: answers, fails with a kind, times out, is still filling, or has no answer. */
type Does =
  | 'ok'
  | 'unavailable'
  | 'unsupported'
  | 'not_found'
  | 'rejected'
  | 'timeout'
  | 'incomplete'
  | 'none';

function doing(name: string, chainId: number, does: Does): Backend {
  const act = async () => {
    if (does === 'ok') return emptyPage();
    if (does === 'timeout') throw new BackendError('unavailable', 'timeout', 'it was too slow');
    if (does === 'incomplete') throw new BackendError('unsupported', 'incomplete', 'it is not complete');
    if (does === 'none') throw new Error('never asked');
    throw failure(does);
  };
  const answers: Answers =
    does === 'none' ? {} : { listTokenTransfers: act, listTransactionTokenTransfers: act };
  return backend({ name, chainId, answers, kind: 'blockscout' });
}

/** The same chains asked once for a feed and once for a look-up; the back end that answered, or the status. */
async function outcomes(...chains: readonly (readonly Does[])[]) {
  const configured = chains.map((kinds, at) =>
    chain(at + 1, ...kinds.map((does, position) => doing(`${at + 1}${'ab'[position]}`, at + 1, does))),
  );
  const handlers = () => explorer(answererOver(configured).serve);
  const path = { transaction_hash: hashOf('a') };
  const caller = { headers: {} };
  return {
    feed: await named(handlers().listTokenTransfers({ path: {}, query: {} }, caller)),
    lookUp: await named(handlers().listTransactionTokenTransfers({ path, query: {} }, caller)),
  };
}

async function named(answer: Promise<unknown>): Promise<string | number> {
  try {
    const found: unknown = await answer;
    return JSON.stringify(found).match(/"X-Backend":"(\w+)"/)?.[1] ?? 'nameless';
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return error.status;
  }
}

test.each<[string, Does[][], string | number, string | number]>([
  ['an answer of the first back end is taken', [['ok', 'ok'], ['ok']], '1a', '1a'],
  ['unavailable goes to the next back end', [['unavailable', 'ok'], ['ok']], '1b', '1b'],
  ['unavailable goes to the next chain', [['unavailable'], ['ok']], '2a', '2a'],
  ['a timeout goes to the next chain', [['timeout'], ['ok']], '2a', '2a'],
  ['unsupported goes to the next back end', [['unsupported', 'ok'], ['ok']], '1b', '1b'],
  ['unsupported goes to the next chain', [['unsupported'], ['ok']], '2a', '2a'],
  ['a missing capability goes to the next back end', [['none', 'ok'], ['ok']], '1b', '1b'],
  ['not_found is final for a look-up’s chain alone', [['not_found', 'ok'], ['ok']], '1b', '2a'],
  ['rejected input stops every lookup', [['rejected', 'ok'], ['ok']], 400, 400],
  ['rejected by a later chain is a 400', [['unavailable'], ['rejected']], 400, 400],
  ['only unavailable is a 502', [['unavailable'], ['unavailable']], 502, 502],
  ['unavailable and a timeout is a 502', [['timeout'], ['unavailable']], 502, 502],
  ['only timeouts is a 504', [['timeout'], ['timeout']], 504, 504],
  ['only unsupported is a 501', [['unsupported'], ['none']], 501, 501],
  ['a chain without back ends is a 501', [[]], 501, 501],
  ['not_found everywhere is a 404 of a look-up', [['not_found'], ['not_found']], 502, 404],
  ['not_found takes precedence over unsupported', [['unsupported'], ['not_found']], 502, 404],
  ['an outage elsewhere leaves a look-up open', [['unavailable'], ['not_found']], 502, 502],
  ['not_found after an outage of the same chain is final', [['unavailable', 'not_found']], 502, 404],
  ['not_found after an index that is filling is final', [['incomplete', 'not_found']], 502, 404],
  ['an index that is still filling leaves a look-up open', [['incomplete'], ['not_found']], 502, 501],
])('%s', async (_name, chains, feed, lookUp) => {
  expect(await outcomes(...chains)).toEqual({ feed, lookUp });
});

test('failure messages name chain and kind, without causes or keys', () => {
  const first = chain(7, doing('hidden-name', 7, 'unavailable'));
  const [only] = first.backends;

  const unavailable = errorReply([{ chain: first, backend: only, error: failure('unavailable') }], 'cause');
  const unsupported = errorReply([{ chain: first, backend: only, error: failure('unsupported') }], 'cause');

  expect(unavailable.message).toBe('No back end could answer: chain 7 (blockscout): it was unavailable');
  expect(unsupported.message).toBe(
    'No configured back end has this answer: chain 7 (blockscout): it was unsupported',
  );
  expect(unavailable.message + unsupported.message).not.toContain('secret');
});

test('two back ends of one kind are distinguished by name', () => {
  const [first, second] = [doing('blockscout-7', 7, 'none'), doing('blockscout-7-2', 7, 'none')];
  const failures = [first, second].map(one => ({
    chain: chain(7, first, second),
    backend: one,
    error: failure('unavailable'),
  }));

  expect(errorReply(failures, 'cause').message).toBe(
    'No back end could answer: chain 7 (blockscout-7): it was unavailable; chain 7 (blockscout-7-2): it was unavailable',
  );
});

test.each<[string, (number | undefined)[], Record<string, string>]>([
  ['until the first back end may be asked again', [7_100, 60_000], { 'Retry-After': '8' }],
  ['but not while another back end may answer sooner', [7_100, undefined], {}],
])('when all quotas are used up, the answer has a Retry-After, %s', (_name, waits, headers) => {
  const failures = waits.map((retryAfterMs, at) => ({
    chain: chain(at + 1),
    backend: undefined,
    error: new BackendError('unavailable', 'over_quota', 'its quota is used up', { retryAfterMs }),
  }));

  expect(errorReply(failures, 'cause')).toMatchObject({ status: 502, headers });
});

test('an unexpected error of a back end is a 502 without its details', async () => {
  const broken = backend({
    name: 'broken',
    answers: { listTokenTransfers: () => Promise.reject(new TypeError('secret-key-123 at http://10.0.0.1')) },
  });
  const handlers = explorer(answererOver([chain(1, broken)]).serve);

  const failed = handlers.listTokenTransfers({ path: {}, query: {} }, { headers: {} });

  await expect(failed).rejects.toMatchObject({
    status: 502,
    message: 'No back end could answer: chain 1 (index): the back end failed',
  });
});

test('a back end that never answers costs only its deadline', async () => {
  const stuck = backend({ name: 'stuck', answers: { listTokenTransfers: () => new Promise(() => {}) } });
  const handlers = explorer(answererOver([chain(1, stuck)], { timeoutMs: 50 }).serve);

  const failed = handlers.listTokenTransfers({ path: {}, query: {} }, { headers: {} });

  await expect(failed).rejects.toMatchObject({ status: 504 });
});

test('a chain that hangs leaves time for the next one', async () => {
  const stuck = backend({ name: 'stuck', answers: { listTokenTransfers: () => new Promise(() => {}) } });
  const well = backend({
    name: 'well',
    chainId: 2,
    answers: { listTokenTransfers: async () => emptyPage() },
  });
  const handlers = explorer(answererOver([chain(1, stuck), chain(2, well)], { timeoutMs: 50 }).serve);

  const { headers } = await handlers.listTokenTransfers({ path: {}, query: {} }, { headers: {} });

  expect(headers).toMatchObject({ 'X-Backend': 'well', 'X-Chain-Id': '2' });
});

test('a record read while its back end moved on is not final', async () => {
  let revision = 0;
  const moving = backend({
    name: 'moving',
    validity: () => ({ revision: String(revision), epoch: '0' }),
    answers: {
      async listTransactionTokenTransfers() {
        revision += 1;
        return { ...emptyPage(), confirmations: 100 };
      },
    },
  });
  const { serve } = answererOver([chain(1, moving)]);
  const request = { path: { transaction_hash: hashOf('c') }, query: {} };

  const first = await explorer(serve).listTransactionTokenTransfers(request, { headers: {} });

  expect(first.headers).toMatchObject({ 'Cache-Control': 'max-age=0, must-revalidate' });
});

describe('a look-up over several chains', () => {
  const lookUp = (backends: readonly Backend[], clock = manualClock()) => {
    const { serve } = answererOver(
      backends.map(one => chain(one.chainId, one)),
      { clock },
    );
    const path = { transaction_hash: hashOf('b') };
    return explorer(serve).listTransactionTokenTransfers({ path, query: {} }, { headers: {} });
  };

  test('asks the next chain only after the stagger, and prefers an earlier answer of a slow first chain', async () => {
    const clock = manualClock();
    const slow = Promise.withResolvers<ReturnType<typeof emptyPage>>();
    const asked: string[] = [];
    const first = backend({
      name: 'first',
      answers: {
        listTransactionTokenTransfers: () => {
          asked.push('first');
          return slow.promise;
        },
      },
    });
    const second = backend({
      name: 'second',
      chainId: 2,
      answers: {
        listTransactionTokenTransfers: () => {
          asked.push('second');
          return new Promise(() => {});
        },
      },
    });

    const answer = lookUp([first, second], clock);
    await expect.poll(() => clock.sleepers()).toBe(1);
    clock.advance(399);
    await new Promise(resolve => setImmediate(resolve));
    const before = [...asked];
    clock.advance(1);
    await expect.poll(() => asked.length).toBe(2);
    slow.resolve(emptyPage());

    expect(before).toEqual(['first']);
    expect(await told(answer)).toMatchObject({ 'X-Backend': 'first' });
  });

  test.each<[string, 'has' | 'is out', object]>([
    ['has no effect while an earlier one may have it', 'has', { 'X-Backend': 'first' }],
    ['is the answer once no earlier one has it', 'is out', { status: 400 }],
  ])('a later chain’s refusal %s, and no other is asked', async (_name, then, expected) => {
    const clock = manualClock();
    const slow = Promise.withResolvers<ReturnType<typeof emptyPage>>();
    const asked: number[] = [];
    const asks = (chainId: number, answer: () => Promise<ReturnType<typeof emptyPage>>) =>
      backend({
        name: chainId === 1 ? 'first' : 'other',
        chainId,
        answers: {
          listTransactionTokenTransfers: () => {
            asked.push(chainId);
            return answer();
          },
        },
      });
    const outcome = told(
      lookUp(
        [
          asks(1, () => slow.promise),
          asks(2, () => Promise.reject(failure('rejected'))),
          asks(3, async () => emptyPage()),
        ],
        clock,
      ),
    ).catch(error => error);

    await expect.poll(() => clock.sleepers()).toBe(1);
    clock.advance(400);
    await expect.poll(() => asked.length).toBe(2);
    await new Promise(resolve => setImmediate(resolve));
    clock.advance(10_000);
    await new Promise(resolve => setImmediate(resolve));
    if (then === 'has') slow.resolve(emptyPage());
    else slow.reject(failure('unavailable'));

    expect(await outcome).toMatchObject(expected);
    expect(asked).toEqual([1, 2]);
  });

  test('takes a later chain’s answer while an earlier one is pending, and keeps it at most 30 s', async () => {
    const clock = manualClock();
    const settled = { ...emptyPage(), confirmations: 100 };
    const first = backend({
      name: 'first',
      answers: { listTransactionTokenTransfers: () => new Promise(() => {}) },
    });
    const second = backend({
      name: 'second',
      chainId: 2,
      answers: { listTransactionTokenTransfers: async () => settled },
    });

    const answer = lookUp([first, second], clock);
    await expect.poll(() => clock.sleepers()).toBe(1);
    clock.advance(400);

    expect(await told(answer)).toMatchObject({
      'X-Backend': 'second',
      'Cache-Control': 'public, max-age=30',
    });
  });

  test('ignores an empty answer while other chains remain, and uses the first one when all are empty', async () => {
    const ask = (bodies: readonly (string | undefined)[]) => {
      const clock = manualClock();
      return firstFound<string>({
        chains: bodies.map((_, at) => chain(at + 1)),
        askChain: async asked => {
          const body = bodies[asked.id - 1];
          const answered = doing('x', asked.id, 'none');
          if (body === undefined) throw failure('not_found');
          return { answer: { body }, chain: asked, backend: answered, validity: undefined, passedOver: [] };
        },
        isNothing: body => body === '',
        staggerMs: 400,
        clock,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
    };

    expect((await ask(['', 'something'])).chain.id).toBe(2);
    expect((await ask(['', ''])).chain.id).toBe(1);
    expect((await ask([undefined, ''])).chain.id).toBe(2);
    await expect(ask([undefined, undefined])).rejects.toThrow('no back end had an answer');
  });
});
