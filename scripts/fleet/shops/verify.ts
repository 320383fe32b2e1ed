import { arrivalJudge } from './arrival-log.ts';
import { deliveriesOf, eventsOf, isHealthy, takenAt, type Webhook, webhooksOf } from './books.ts';
import type { Arrival } from './receivers.ts';
import type { Sale } from './sales.ts';
import type { Hook, Shop } from './shops.ts';

/** Result of a run. */
export interface Reckoning {
  readonly violations: readonly string[];
  readonly events: number;
  /** Pairs of an event and a healthy webhook subscribed to it; `reached` counts those that were delivered. */
  readonly wanted: number;
  readonly reached: number;
  /** Requests for an event that the receiver had already accepted. */
  readonly repeated: number;
  readonly disabled: number;
}

/** Consecutive failures after which a webhook is disabled. Source: document 3, "Webhook activity". */
const DISABLED_AFTER = 10;

/** Compares the arrivals and the API's records with the sales. Call it only when no delivery is in progress. */
export async function reckon(
  shops: readonly { shop: Shop; sales: readonly Sale[] }[],
  arrivals: readonly Arrival[],
): Promise<Reckoning> {
  const taken = takenAt(arrivals);
  const violations: string[] = [];
  const total = { events: 0, wanted: 0, reached: 0, disabled: 0 };
  for (const [index, { shop, sales }] of shops.entries()) {
    const events = await eventsOf(shop);
    total.events += events.length;
    violations.push(...unsaid(sales, events));
    const judge = arrivalJudge(shop, events);
    const own = arrivals.filter(({ path }) => path.split('/')[1] === String(index));
    for (const arrival of own) violations.push(...judge(arrival));

    const webhooks = await webhooksOf(shop);
    for (const hook of shop.hooks) {
      const webhook = webhooks.get(hook.id);
      if (webhook?.is_active === false) total.disabled += 1;
      const due = events.filter(({ event }) => hook.isSubscribed(event));
      if (!isHealthy(hook)) {
        violations.push(...wrongOfSick(hook, webhook, due.length));
        continue;
      }
      const missed = due.filter(({ id }) => !taken.has(`${hook.path} ${id}`));
      total.wanted += due.length;
      total.reached += due.length - missed.length;
      violations.push(...missed.map(({ id, event }) => `${hook.path} ${id}: ${event} never arrived`));
      violations.push(...wrongOfHealthy(hook, webhook, due.length));
      const listed = await deliveriesOf(shop, hook, 'success');
      if (listed !== due.length)
        violations.push(`${hook.path}: ${listed} deliveries of ${due.length} succeeded`);
    }
  }
  const strays = arrivals.filter(({ path }) => !(Number(path.split('/')[1]) < shops.length));
  violations.push(...strays.map(({ path }) => `${path}: nothing may arrive here`));
  const repeated = arrivals.filter(({ isTaken }) => isTaken).length - taken.size;
  return { violations, ...total, repeated };
}

/** Finds sessions whose events in the API differ from the expected ones. Each event must be listed once. */
function unsaid(sales: readonly Sale[], events: Awaited<ReturnType<typeof eventsOf>>): string[] {
  const told = Map.groupBy(events, ({ data }) => data.checkoutSession?.id);
  return sales.flatMap(({ sessionId, events: wanted }) => {
    const got = (told.get(sessionId) ?? []).map(({ event }) => event).toReversed();
    return got.join() === wanted.join()
      ? []
      : [`${sessionId}: has ${got.join() || 'no event'}, not ${wanted}`];
  });
}

function wrongOfHealthy({ path }: Hook, webhook: Webhook | undefined, due: number): string[] {
  const { is_active: isActive, success_count: successes } = webhook ?? {};
  return [
    ...(isActive === true ? [] : [`${path}: is not active`]),
    ...(successes === due ? [] : [`${path}: counts ${successes} successes of ${due}`]),
  ];
}

function wrongOfSick({ kind, path }: Hook, webhook: Webhook | undefined, due: number): string[] {
  const { is_active: isActive, disabled_reason: reason, success_count: successes } = webhook ?? {};
  const shouldBeOff = kind !== 'silent' && due >= DISABLED_AFTER;
  return [
    ...(successes === 0 ? [] : [`${path}: counts ${successes} successes of none`]),
    ...(!shouldBeOff || (isActive === false && reason === 'too_many_failures')
      ? []
      : [`${path}: was not disabled`]),
  ];
}
