import { afterAll, describe, expect, test } from 'vitest';
import { openDatabase } from '#db/open.ts';
import type { Client } from '#http/client-address.ts';
import type { RequestCounters } from '#lib/request-counters.ts';
import { rateLimits } from '#payments/api/gate/rate-limits.ts';

const MINUTE_MS = 60_000;
const CLIENT: Client = { address: '203.0.113.1', protocol: 'http', host: 'shop.example', isExempt: false };
const NEIGHBOUR = { ...CLIENT, address: '203.0.113.2' };
const LOCAL = { ...CLIENT, isExempt: true };

const db = openDatabase({ kind: 'sqlite', file: ':memory:' });
afterAll(() => db.destroy());

/** Limits that refuse every request for a minute, and their clock. */
function refusingLimits() {
  const clock = { ms: 0 };
  const counters: RequestCounters = (_, limit) => async () => ({
    limit,
    remaining: 0,
    msLeft: MINUTE_MS,
    isRefused: true,
  });
  const limits = rateLimits(db, { standard: 3, elevated: 5 }, { counters, steady: () => clock.ms });
  return { clock, limits };
}

describe('the refusal of a key', () => {
  test.each([
    ['standard', 3],
    ['elevated', 5],
  ] as const)(
    'of the %s tier stands until its minute ends, with the time that is left',
    async (tier, limit) => {
      const { clock, limits } = refusingLimits();
      await limits.countKey('ak_a', tier);
      const refusal = { limit, remaining: 0, isRefused: true };

      expect(limits.beforeLookUp('ak_a', CLIENT)).toEqual({ ...refusal, msLeft: MINUTE_MS });
      clock.ms += MINUTE_MS - 1;
      expect(limits.beforeLookUp('ak_a', LOCAL)).toEqual({ ...refusal, msLeft: 1 });
      clock.ms += 1;
      expect(limits.beforeLookUp('ak_a', CLIENT)).toBeUndefined();
    },
  );

  test('does not affect another key, nor an unknown credential', async () => {
    const { limits } = refusingLimits();
    await limits.countKey('ak_a', 'standard');

    expect(limits.beforeLookUp('ak_b', CLIENT)).toBeUndefined();
    expect(limits.beforeLookUp(undefined, CLIENT)).toBeUndefined();
  });
});

describe('an address beyond its failures', () => {
  /** The number of unknown credentials that may be looked up at this time. */
  const lookUps = (limits: ReturnType<typeof refusingLimits>['limits'], client: Client) =>
    Array.from({ length: 30 }, () => limits.beforeLookUp(undefined, client)).filter(one => one === undefined)
      .length;

  test('has ten look-ups in a row, regains one every half second, and is free after its minute', async () => {
    const { clock, limits } = refusingLimits();
    await limits.countFailure(CLIENT);

    expect(lookUps(limits, CLIENT)).toBe(10);
    clock.ms += 499;
    expect(lookUps(limits, CLIENT)).toBe(0);
    clock.ms += 1;
    expect(lookUps(limits, CLIENT)).toBe(1);
    clock.ms += 30_000;
    expect(lookUps(limits, CLIENT)).toBe(10);
    clock.ms += 29_500;
    expect(lookUps(limits, CLIENT)).toBe(30);
  });

  test('takes no look-up from its neighbours, and known keys stay valid', async () => {
    const { limits } = refusingLimits();
    await limits.countFailure(CLIENT);
    await limits.countFailure(NEIGHBOUR);
    lookUps(limits, CLIENT);

    expect(limits.beforeLookUp('ak_a', CLIENT)).toBeUndefined();
    expect(limits.beforeLookUp(undefined, NEIGHBOUR)).toBeUndefined();
  });

  test('on this machine has no limit', async () => {
    const { limits } = refusingLimits();

    expect(await limits.countFailure(LOCAL)).toBeUndefined();
    expect(limits.beforeLookUp(undefined, LOCAL)).toBeUndefined();
  });
});
