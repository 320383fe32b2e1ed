import { RateLimiterRes } from 'rate-limiter-flexible';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { insured } from '#stores/insured-counters.ts';
import { patience } from '#stores/patience.ts';
import { countedFailures } from '../support/store-failures.ts';

const TIMEOUT_MS = 50;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

/** A store that counts its commands and answers them after `goOn`. */
function hangingStore() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const state = { commands: 0 };
  const command = () => {
    state.commands += 1;
    return promise;
  };
  return { state, command, goOn: () => resolve('value') };
}

/** The result of work within `ms`. The fake clock runs an immediate a millisecond after its timer. */
async function within<Value>(ms: number, work: Promise<Value>): Promise<Value | string> {
  const settled = work.catch(error => String(error.name));
  await vi.advanceTimersByTimeAsync(ms + 1);
  return Promise.race([settled, Promise.resolve('waits')]);
}

test('a late store is asked once per second until it answers', async () => {
  const { state, command, goOn } = hangingStore();
  const patiently = patience({ timeoutMs: TIMEOUT_MS });

  const first = await within(TIMEOUT_MS, patiently(command));
  const next = await Promise.all([1, 2, 3].map(() => within(0, patiently(command))));
  const atOnce = state.commands;
  await vi.advanceTimersByTimeAsync(1_000);
  const probes = [patiently(command), patiently(command)].map(one => within(0, one));
  goOn();
  const answers = await Promise.all(probes);
  const after = await within(0, patiently(command));

  expect([first, ...next]).toEqual(['Late', 'Late', 'Late', 'Late']);
  expect(atOnce).toBe(1);
  expect(answers).toEqual(['value', 'Late']);
  expect(after).toBe('value');
  expect(state.commands).toBe(3);
});

test('abandoned commands count as running until the store answers', async () => {
  const { state, command, goOn } = hangingStore();
  const patiently = patience({ timeoutMs: TIMEOUT_MS, mostRunning: 2 });

  const all = [patiently(command), patiently(command), patiently(command)].map(one => within(0, one));
  const early = await Promise.all(all);
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS + 1_000);
  const full = await within(0, patiently(command));
  goOn();
  await vi.advanceTimersByTimeAsync(0);
  const after = await within(0, patiently(command));

  expect(early).toEqual(['waits', 'waits', 'Late']);
  expect(full).toBe('Late');
  expect(after).toBe('value');
  expect(state.commands).toBe(3);
});

test('a request with several limits waits once for a hanging store', async () => {
  const limiter = { consume: () => new Promise<never>(() => undefined) };
  const failures = countedFailures();
  const counters = insured(() => limiter, { failures, timeoutMs: TIMEOUT_MS });
  const [byAddress, bySession] = [counters('address', 3), counters('session', 3)];

  const counts = await within(
    TIMEOUT_MS,
    byAddress('a').then(async one => [one, await bySession('b')]),
  );

  expect(counts).toMatchObject([{ remaining: 2 }, { remaining: 2 }]);
  expect(failures.reported).toHaveLength(2);
});

/** A limiter that refuses every client for half a minute, until it hangs. */
function refusingLimiter() {
  const state = { asked: 0, hangs: false };
  const consume = async () => {
    state.asked += 1;
    if (state.hangs) return new Promise<never>(() => undefined);
    throw new RateLimiterRes(0, 30_000, 4);
  };
  return { state, limiter: { consume } };
}

test('a refused client stays refused during a store outage until its minute ends', async () => {
  const { state, limiter } = refusingLimiter();
  const counter = insured(() => limiter, { failures: countedFailures(), timeoutMs: TIMEOUT_MS })('test', 3);

  const refused = await counter('a');
  state.hangs = true;
  await within(TIMEOUT_MS, counter('b'));
  await vi.advanceTimersByTimeAsync(1_000);
  const meanwhile = await within(0, counter('a'));
  const { asked } = state;
  await vi.advanceTimersByTimeAsync(29_000);
  const after = await within(TIMEOUT_MS, counter('a'));

  expect(refused).toMatchObject({ isRefused: true, remaining: 0, msLeft: 30_000 });
  expect(meanwhile).toMatchObject({ isRefused: true, limit: 3, remaining: 0 });
  expect(asked).toBe(2);
  expect(after).toMatchObject({ isRefused: false, remaining: 2 });
});
