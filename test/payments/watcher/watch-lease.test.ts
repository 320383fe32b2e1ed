import { beforeEach, expect, test } from 'vitest';
import { silentLogger } from '#lib/logger.ts';
import { LeadershipLost } from '#payments/watcher/look/look.ts';
import { LookStandsStill, type WatchLease, watchLease } from '#payments/watcher/watch-lease.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenConnections } from '../../support/given-database.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const LEASE_MS = 30_000;

bothDatabases('the lease of a watcher', databases => {
  const given = givenConnections(databases, { isShared: true, template: 'payments' });
  let clock: ManualClock;
  let chainId = 0;
  let lease: WatchLease;
  let other: WatchLease;

  beforeEach(() => {
    clock = manualClock();
    chainId += 1;
    const common = { chainId, leaseMs: LEASE_MS, clock, onElected: () => {}, log: silentLogger() };
    lease = watchLease({ ...common, db: given.db });
    other = watchLease({ ...common, db: given.other });
  });

  /** Attempts of another process to take the lease, just before it ends and when it ends. */
  async function takenBefore(endMs: number) {
    clock.advance(endMs - 1);
    const early = await other.hold();
    clock.advance(1);
    return [early, await other.hold()];
  }

  test('is held by one process until it ends', async () => {
    expect([await lease.hold(), await other.hold()]).toEqual([true, false]);
    expect(await takenBefore(LEASE_MS)).toEqual([false, true]);
  });

  test('is extended between looks after a third, and not before', async () => {
    await lease.hold();
    clock.advance(LEASE_MS / 3 - 1);
    const before = lease.isDue();
    await lease.hold();
    clock.advance(1);

    expect([before, lease.isDue()]).toEqual([false, true]);
    expect(await lease.hold()).toBe(true);
    expect(lease.isDue()).toBe(false);
    expect(await takenBefore(LEASE_MS)).toEqual([false, true]);
  });

  test('is extended after two thirds while the next look is late', async () => {
    await lease.hold();

    expect(await lease.renew(undefined)).toBe(LEASE_MS / 3);
    clock.advance((LEASE_MS * 2) / 3 - 1_000);
    expect(await lease.renew(undefined)).toBe(1_000);
    clock.advance(1_000);
    expect(await lease.renew(undefined)).toBe(LEASE_MS / 3);

    expect(await takenBefore(LEASE_MS)).toEqual([false, true]);
  });

  test('is extended after a third of it during a look', async () => {
    await lease.hold();

    clock.advance(LEASE_MS / 3 - 1_000);
    expect(await lease.renew(7)).toBe(1_000);
    clock.advance(1_000);
    expect(await lease.renew(8)).toBe(LEASE_MS / 3);

    expect(await takenBefore(LEASE_MS)).toEqual([false, true]);
  });

  test('that another process took is lost', async () => {
    await lease.hold();
    clock.advance(LEASE_MS);
    await other.hold();

    await expect(lease.renew(1)).rejects.toThrow(LeadershipLost);
    expect(await lease.renew(1)).toBe(LEASE_MS / 3);
    expect(await lease.hold()).toBe(false);
  });

  test('is given up when a look does not move for 40 seconds and five calls', async () => {
    await lease.hold();
    const waits = [];
    for (let call = 0; call < 5; call += 1) {
      waits.push(await lease.renew(7));
      clock.advance(LEASE_MS / 3);
    }

    await expect(lease.renew(7)).rejects.toThrow(LookStandsStill);
    expect(waits).toHaveLength(5);
    expect(await other.hold()).toBe(true);
  });

  test.each<[string, (call: number) => Promise<unknown> | unknown]>([
    ['asks a node', call => lease.renew(call)],
    [
      'changes something',
      async () => {
        lease.changed(clock.now(), { isExtended: false });
        await lease.renew(7);
      },
    ],
  ])('is kept while a look %s', async (_, renewAt) => {
    await lease.hold();

    for (let call = 0; call < 12; call += 1) {
      await renewAt(call);
      clock.advance(LEASE_MS / 3);
    }

    expect(await other.hold()).toBe(false);
  });

  test('is not given up by a computer that slept during a look', async () => {
    await lease.hold();
    await lease.renew(7);
    clock.advance(3_600_000);

    expect(await lease.renew(7)).toBe(LEASE_MS / 3);
    expect(await other.hold()).toBe(false);
  });
});
