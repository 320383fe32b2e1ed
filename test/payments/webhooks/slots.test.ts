import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fairShares, inFlight, type Slots, type WaitingWork } from '#payments/webhooks/slots.ts';

const NONE: ReadonlyMap<string, number> = new Map();
const slots = (changes: Partial<Slots>): Slots => ({
  perWebhook: 5,
  free: 100,
  idle: 1_000,
  byWebhook: NONE,
  byOrganization: NONE,
  ...changes,
});
const one = (webhookId: string, organizationId: string, dueSince = 0): WaitingWork => ({
  webhookId,
  organizationId,
  dueSince,
});
const limits = (waiting: readonly WaitingWork[], given: Slots) =>
  Object.fromEntries(fairShares(waiting, given).map(({ webhookId, limit }) => [webhookId, limit]));

test('a single webhook gets its full allowance', () => {
  expect(limits([one('a', 'A')], slots({}))).toEqual({ a: 5 });
});

test('with few slots an organization with many webhooks gets no more than one with a single webhook', () => {
  const many = Array.from({ length: 20 }, (_, index) => one(`a${index}`, 'A', index));

  const dealt = limits([...many, one('b', 'B', 99)], slots({ free: 10 }));

  expect(dealt).toEqual({ a0: 1, a1: 1, a2: 1, a3: 1, a4: 1, b: 5 });
});

test('attempts under way count: the webhook with the most comes last', () => {
  const byWebhook = new Map([['a1', 5]]);
  const byOrganization = new Map([['A', 5]]);
  const waiting = [one('a1', 'A'), one('a2', 'A'), one('b', 'B')];

  expect(limits(waiting, slots({ free: 4, byWebhook, byOrganization }))).toEqual({ b: 4 });
  expect(limits(waiting, slots({ free: 7, byWebhook, byOrganization }))).toEqual({ b: 5, a2: 2 });
});

test('an organization gets no more slots once it has as many as are idle, and another one does', () => {
  const byOrganization = new Map([['A', 6]]);
  const waiting = [one('a1', 'A'), one('a2', 'A'), one('b', 'B')];

  expect(limits([one('a1', 'A')], slots({ free: 10, idle: 10, byOrganization }))).toEqual({ a1: 2 });
  expect(limits(waiting, slots({ free: 10, idle: 6, byOrganization }))).toEqual({ b: 3 });
});

test('a webhook that got a slot waits for those with as many attempts', () => {
  const waiting = [one('a', 'A', 1), one('b', 'A', 2)];

  expect(limits(waiting, slots({ free: 3 }))).toEqual({ a: 2, b: 1 });
});

test('an attempt has a slot until its answer arrives, and ends when its result is written', async () => {
  const sending = inFlight();
  const counted = () => [sending.size(), sending.counts().byWebhook.get('a')];
  const result = Promise.withResolvers<void>();
  const before = counted();

  let leave = () => {};
  sending.add({ webhookId: 'a', organizationId: 'A' }, leaveSlot => {
    leave = leaveSlot;
    return result.promise;
  });
  const sent = counted();
  leave();
  const answered = counted();
  result.resolve();
  await sending.allEnded();

  expect([before, sent, answered, counted()]).toEqual([
    [0, undefined],
    [1, 1],
    [0, undefined],
    [0, undefined],
  ]);
});

test('no slot is dealt when none is free or no webhook waits', () => {
  expect([limits([one('a', 'A')], slots({ free: 0 })), limits([], slots({}))]).toEqual([{}, {}]);
});

test('in any case slots are dealt evenly, as many as possible and to no webhook more than allowed', () => {
  const waitingOf = fc.uniqueArray(
    fc.record({
      webhookId: fc.integer({ min: 0, max: 30 }),
      organization: fc.integer({ min: 0, max: 5 }),
      used: fc.integer({ min: 0, max: 6 }),
    }),
    { selector: ({ webhookId }) => webhookId, maxLength: 20 },
  );
  fc.assert(
    fc.property(
      waitingOf,
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 0, max: 60 }),
      (all, perWebhook, free) => {
        const byWebhook = new Map(all.map(({ webhookId, used }) => [`w${webhookId}`, used]));
        const byOrganization = new Map<string, number>();
        for (const { organization, used } of all) {
          byOrganization.set(`o${organization}`, (byOrganization.get(`o${organization}`) ?? 0) + used);
        }
        const waiting = all.map(({ webhookId, organization }) => one(`w${webhookId}`, `o${organization}`));

        const shares = fairShares(waiting, { perWebhook, free, idle: 1_000, byWebhook, byOrganization });

        const dealt = shares.reduce((sum, { limit }) => sum + limit, 0);
        const room = (id: string) => Math.max(0, perWebhook - (byWebhook.get(id) ?? 0));
        const possible = waiting.reduce((sum, { webhookId }) => sum + room(webhookId), 0);
        expect(dealt).toBe(Math.min(free, possible));
        expect(new Set(shares.map(({ webhookId }) => webhookId)).size).toBe(shares.length);
        for (const { webhookId, limit } of shares) {
          expect(limit).toBeGreaterThan(0);
          expect(limit).toBeLessThanOrEqual(room(webhookId));
        }
        const has = (organizationId: string) =>
          (byOrganization.get(organizationId) ?? 0) +
          shares
            .filter(share => share.organizationId === organizationId)
            .reduce((sum, { limit }) => sum + limit, 0);
        const isFull = (organizationId: string) =>
          waiting
            .filter(of => of.organizationId === organizationId)
            .every(({ webhookId }) => {
              const share = shares.find(found => found.webhookId === webhookId);
              return (share?.limit ?? 0) === room(webhookId);
            });
        for (const { organizationId: poor } of waiting) {
          if (isFull(poor)) continue;
          for (const { organizationId: rich } of shares) expect(has(rich)).toBeLessThanOrEqual(has(poor) + 1);
        }
      },
    ),
  );
});

test('within one organization a slot goes to a webhook with the fewest', () => {
  const webhooksOf = fc.uniqueArray(
    fc.record({ webhookId: fc.integer({ min: 0, max: 30 }), used: fc.integer({ min: 0, max: 10 }) }),
    { selector: ({ webhookId }) => webhookId, minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(webhooksOf, fc.integer({ min: 0, max: 40 }), (webhooks, free) => {
      const byWebhook = new Map(webhooks.map(({ webhookId, used }) => [`w${webhookId}`, used]));
      const byOrganization = new Map([['o', webhooks.reduce((sum, { used }) => sum + used, 0)]]);
      const waiting = webhooks.map(({ webhookId }) => one(`w${webhookId}`, 'o', webhookId));
      const given = slots({ perWebhook: 10, free, byWebhook, byOrganization });

      const dealt = limits(waiting, given);

      const has = (id: string) => (byWebhook.get(id) ?? 0) + (dealt[id] ?? 0);
      const fewest = Math.min(...waiting.map(({ webhookId }) => has(webhookId)));
      for (const id of Object.keys(dealt)) expect(has(id)).toBeLessThanOrEqual(fewest + 1);
    }),
  );
});
