import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { record } from '../lab/json.ts';
import { manualClock } from '../support/manual-clock.ts';
import {
  HTML,
  has,
  hasFirst,
  json,
  LACKS,
  ofOne,
  ofTwo,
  one,
  type Respond,
  refuses,
  serve,
  shared,
  TRANSACTION,
} from './http-failures-support.ts';

const HOUR_MS = 3_600_000;

type Row = readonly [name: string, respond: Respond, message: string];

const UNAVAILABLE: readonly Row[] = [
  ...[401, 403, 500, 502, 503, 504].map(
    (status): Row => [`${status}`, refuses(status), `it answered ${status}`],
  ),
  ['402', refuses(402), 'its quota is used up'],
  ['429', refuses(429), 'its quota is used up'],
  ['404 with HTML', () => ({ text: HTML, type: 'text/html', status: 404 }), 'its answer was not JSON'],
  ['200 with HTML', () => ({ text: HTML, type: 'text/html' }), 'its answer was not JSON'],
  ['an empty body', () => ({ text: '', type: 'application/json' }), 'its answer was not JSON'],
  ['a bare string', json(400, 'Bad request'), 'its answer was only a text'],
  ['a cut before headers', () => ({ cut: 'before headers' }), 'it could not be reached'],
  ['a cut after headers', () => ({ cut: 'after headers' }), 'its answer broke off'],
  ['a cut within the body', () => ({ cut: 'within the body' }), 'its answer broke off'],
  ['a body without end', () => ({ endless: 'text' }), 'its answer was too long'],
  ['a truncated gzip', () => ({ truncated: 'gzip' }), 'its answer could not be decompressed'],
  [
    'half of a record',
    ({ path }) => ({ json: { hash: path.split('/').at(-1) } }),
    'its answer could not be read',
  ],
  [
    'the record of another id',
    ({ path, query }) =>
      one.answer(path.startsWith('/blocks') ? '/blocks/99' : `/transactions/${ofOne}`, query),
    'its answer could not be read',
  ],
];
const TIMEOUTS: readonly Row[] = [
  ['silence', () => 'silence', 'the back end did not answer in time'],
  ['a slow drip', () => ({ drip: ' '.repeat(100), everyMs: 60 }), 'the back end did not answer in time'],
];
const UNSUPPORTED: readonly Row[] = [
  ['501', refuses(501), 'it has no such answer'],
  ['a disabled service', json(403, { message: 'Service is disabled' }), 'it has no such answer'],
  ['an unknown route', json(400, { message: 'Unknown API v2 action' }), 'its version has no such answer'],
];

/** Expected status for the client and for the next back end and chain. Source: the failure table. */
interface Consequences {
  readonly alone: { readonly status: number; readonly message: (words: string) => string };
  /** Statuses, and the back ends that were asked. */
  readonly nextBackend: Outcome;
  readonly found: Outcome;
  /** Status for a block number, which stays on its chain. */
  readonly numbered: number;
  /** Status when no other chain has it. */
  readonly nowhere: number;
}
type Outcome = readonly [status: number, last: string];

const failed = (words: string) => `No back end could answer: chain 1 (blockscout): ${words}`;
const PASSED_OVER = { nextBackend: [200, '1b'], found: [200, '2a'] } as const;

const TABLE: readonly (readonly [string, readonly Row[], Consequences])[] = [
  [
    'an outage continues with other back ends and chains, and is finally a 502:',
    UNAVAILABLE,
    { ...PASSED_OVER, alone: { status: 502, message: failed }, numbered: 502, nowhere: 502 },
  ],
  [
    'a timeout continues with other back ends and chains, and is finally a 504:',
    TIMEOUTS,
    { ...PASSED_OVER, alone: { status: 504, message: failed }, numbered: 504, nowhere: 504 },
  ],
  [
    'a missing capability continues with other back ends and chains, and is finally a 501:',
    UNSUPPORTED,
    {
      ...PASSED_OVER,
      alone: {
        status: 501,
        message: words => `No configured back end has this answer: chain 1 (blockscout): ${words}`,
      },
      numbered: 501,
      nowhere: 404,
    },
  ],
  [
    '“not found” is final for its chain:',
    [['404 with JSON', () => LACKS, 'it has no such record']],
    {
      alone: { status: 404, message: words => words },
      nextBackend: [404, '1a'],
      found: [200, '2a'],
      numbered: 404,
      nowhere: 404,
    },
  ],
  [
    'rejected input is a 400 without further requests:',
    [
      [
        '422 with details',
        json(422, { errors: [{ title: 'Invalid value', detail: 'Invalid format' }] }),
        'the back end refused the request: Invalid format',
      ],
      [
        '422 with a message',
        json(422, { message: 'Invalid hash' }),
        'the back end refused the request: Invalid hash',
      ],
    ],
    {
      alone: { status: 400, message: words => words },
      nextBackend: [400, '1a'],
      found: [400, '1a'],
      numbered: 400,
      nowhere: 400,
    },
  ],
];

/** Current reply of chain 1's first back end. */
let current: Respond = has;
let leapt = 0;
const leaping = { ...systemClock, now: () => systemClock.now() + leapt };
const first: Respond = request => current(request);

/** Services where the failing back end is alone, or followed by one that has or lacks the record. */
async function startServices(timeoutMs: number) {
  const overrides = { clock: leaping, fallback: { timeoutMs, staggerMs: 60_000 } };
  return {
    onItsOwn: await serve([[first]], overrides),
    withAnother: await serve([[first, hasFirst]], overrides),
    beforeOne: await serve([[first], [has]], overrides),
    beforePoor: await serve([[first], [() => LACKS]], overrides),
    /** Like `beforeOne`, but separate: a pause after its lookup by hash must not affect this one. */
    forNumbers: await serve([[first], [has]], overrides),
  };
}
const hurried = await startServices(2_000);
/** Timeouts that a busy machine does not reach before the failure arrives. */
const patient = await startServices(15_000);

afterAll(async () => {
  for (const service of [...Object.values(hurried), ...Object.values(patient)])
    await service[Symbol.asyncDispose]();
});

describe.for(TABLE)('%s', ([, rows, { alone, nextBackend, found, numbered, nowhere }]) => {
  const services = rows === TIMEOUTS ? hurried : patient;
  const { onItsOwn, withAnother, beforeOne, beforePoor, forNumbers } = services;

  test.for(rows)('%s', async ([, respond, words]) => {
    // Another record an hour later: nothing of it is cached, and every paused back end is asked again.
    leapt += HOUR_MS;
    const number = leapt / HOUR_MS;
    const path = `/explorer/transactions/${one.transactions[number]}`;
    current = respond;

    const [single, second, next, last, byNumber] = await Promise.all([
      onItsOwn.get(path),
      withAnother.get(path),
      beforeOne.get(path),
      beforePoor.get(path),
      forNumbers.get(`/explorer/blocks/${number}`),
    ]);

    expect(single).toMatchObject({ status: alone.status, body: { message: alone.message(words) } });
    expect([second.status, withAnother.asked().at(-1)]).toEqual(nextBackend);
    expect([next.status, beforeOne.asked().at(-1)]).toEqual(found);
    expect([byNumber.status, forNumbers.asked().at(-1)]).toEqual([numbered, '1a']);
    expect(last.status).toBe(nowhere);
  });
});

test('an answer found only after an outage names its chain and back end, and has the requested id', async () => {
  await using service = await serve([[refuses(503)], [has]]);

  const { headers, body } = await service.get(`/explorer/transactions/${ofTwo}`);

  expect([headers.get('x-chain-id'), headers.get('x-backend')]).toEqual(['2', 'blockscout-2']);
  expect(record(body).hash).toBe(ofTwo);
});

test.for(['logs', 'internal-transactions'])(
  'the %s of another transaction are not served, and the chain’s next back end is asked',
  async what => {
    const mixedUp: Respond = ({ path, query }) =>
      one.answer(path.endsWith(what) ? `/transactions/${ofOne}/${what}` : path, query);
    await using service = await serve([[mixedUp, hasFirst]]);

    const { headers, body } = await service.get(`${TRANSACTION}/${what}`);

    expect(headers.get('x-backend')).toBe('blockscout-1-2');
    expect(record(body).items).toMatchObject(Array.from({ length: 3 }, () => ({ transaction_hash: shared })));
  },
);

test('the depth of another transaction does not make a record final', async () => {
  const mixedUp: Respond = ({ path, query }) =>
    one.answer(path.endsWith('/logs') ? path : `/transactions/${shared}`, query);
  await using service = await serve([[mixedUp]]);

  const { status, headers } = await service.get(`/explorer/transactions/${ofOne}/logs`);

  expect([status, headers.get('cache-control')]).toEqual([200, 'max-age=0, must-revalidate']);
});

test('a block number above the head is a 404, not the block of another chain', async () => {
  await using service = await serve([[hasFirst], [has]]);

  const { status } = await service.get('/explorer/blocks/150');

  expect([status, service.asked()]).toEqual([404, ['1a']]);
});

test('the list of chains has the head of a back end that is asked for it', async () => {
  await using service = await serve([[hasFirst], [refuses(503)]]);

  const list = async () => (await fetch(`${service.url}/chains`)).json();

  await expect.poll(list).toMatchObject({ chains: [100, null].map(head => ({ backends: [{ head }] })) });
});

test('a slow chain costs one stagger', async () => {
  const clock = manualClock();
  await using service = await serve([[() => 'silence'], [has]], {
    clock,
    fallback: { timeoutMs: 4_000, staggerMs: 400 },
  });

  const answering = service.get(TRANSACTION);
  await expect.poll(() => clock.sleepers()).toBe(1);
  clock.advance(399);
  await expect.poll(() => service.asked()).toEqual(['1a']);
  clock.advance(1);
  const { status } = await answering;

  expect([status, service.asked()]).toEqual([200, ['2a']]);
});

test('an upstream over its quota is not asked until its reset', async () => {
  const clock = manualClock();
  const isOver = { now: true };
  const limited: Respond = request =>
    isOver.now
      ? { json: { message: 'Too many requests' }, status: 429, headers: { 'x-ratelimit-reset': '30000' } }
      : hasFirst(request);
  await using service = await serve([[limited], [has]], { clock });
  const ask = async (at: number) => {
    const { status } = await service.get(`/explorer/transactions/${one.transactions[at]}`);
    return [status, ...service.asked()];
  };

  const first = await ask(1);
  const during = await ask(2);
  isOver.now = false;
  clock.advance(29_999);
  const before = await ask(3);
  clock.advance(1);

  expect([first, during, before]).toEqual([
    [200, '1a', '2a'],
    [200, '2a'],
    [200, '2a'],
  ]);
  expect(await ask(4)).toEqual([200, '1a']);
});

test('during a full outage a stale answer is served with its true age, and reloaded in the background', async () => {
  const clock = manualClock();
  const isOut = { now: false };
  const moody: Respond = request =>
    isOut.now ? { json: 'Internal server error', status: 500 } : has(request);
  await using service = await serve([[moody], [moody]], { clock });
  const path = `/explorer/transactions/${ofTwo}`;
  const ask = async () => {
    const { status, headers, body } = await service.get(path);
    return { status, body, cache: headers.get('x-cache'), age: headers.get('age') };
  };

  const { body } = await ask();
  isOut.now = true;
  clock.advance(86_400_000);
  const stale = await ask();
  isOut.now = false;
  clock.advance(5_000);
  const again = await ask();

  expect(stale).toEqual({ status: 200, body, cache: 'STALE', age: '86400' });
  expect(again).toEqual({ status: 200, body, cache: 'STALE', age: '86405' });
  await expect.poll(ask).toEqual({ status: 200, body, cache: 'HIT', age: '0' });
});
