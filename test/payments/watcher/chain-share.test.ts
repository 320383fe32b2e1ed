import { expect, test } from 'vitest';
import { chainShare } from '#payments/watcher/chain-share.ts';
import { manualClock } from '../../support/manual-clock.ts';

const HOUR_MS = 3_600_000;
const isFree = async () => true;
const isTaken = async () => false;

/** The share of a process of two chains that one other process may watch too. */
function half() {
  const clock = manualClock();
  return { clock, share: chainShare({ chainIds: [1, 2], others: () => ['other'], clock }) };
}

test('a process takes its share at once, and a free chain beyond it after five seconds', async () => {
  const { clock, share } = half();

  const first = await share.admits(1, isTaken);
  const second = [await share.admits(2, isFree), share.isWaitingFor(2)];
  clock.advance(4_999);
  second.push(await share.admits(2, isFree));
  clock.advance(1);
  second.push(await share.admits(2, isFree), share.isWaitingFor(2));

  expect(first).toBe(true);
  expect(second).toEqual([false, true, false, true, false]);
});

test('a chain that another process takes meanwhile is left to it, and its time begins again', async () => {
  const { clock, share } = half();
  await share.admits(1, isFree);
  await share.admits(2, isFree);
  clock.advance(5_000);

  expect(await share.admits(2, isTaken)).toBe(false);
  expect(share.isWaitingFor(2)).toBe(false);
  expect(await share.admits(2, isFree)).toBe(false);
});

test('a chain that no other process took is kept for an hour, then offered again', async () => {
  const { clock, share } = half();
  await share.admits(1, isFree);
  await share.admits(2, isFree);
  clock.advance(5_000);
  await share.admits(2, isFree);

  clock.advance(HOUR_MS - 1);
  expect([share.keeps(1), share.keeps(2)]).toEqual([true, true]);
  clock.advance(1);
  expect([share.keeps(1), share.keeps(2)]).toEqual([false, false]);
  share.leave(2);
  expect(share.keeps(1)).toBe(true);
});

test('a process without others keeps every chain', async () => {
  const share = chainShare({ chainIds: [1, 2], others: () => [], clock: manualClock() });

  expect([await share.admits(1, isTaken), await share.admits(2, isTaken)]).toEqual([true, true]);
  expect([share.keeps(1), share.keeps(2)]).toEqual([true, true]);
});

test('shares of three processes add up to all chains', async () => {
  const share = chainShare({ chainIds: [1, 2, 3], others: () => ['a', 'b'], clock: manualClock() });

  const admitted = [await share.admits(1, isTaken), await share.admits(2, isTaken)];

  expect(admitted).toEqual([true, false]);
});
