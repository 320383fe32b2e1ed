import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import { type Figure, figureOf, median } from '../figure.ts';
import { loadWith, startServer } from '../server-process.ts';
import { aLink, CREATION } from './link.ts';
import { filledShop, NO_NODE } from './shop.ts';

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 32;
const LEAST_PER_SECOND = 300;

/** Rates of opening sessions at one recipient on PostgreSQL, one after the other and many at a time. */
export async function opening(): Promise<Figure[]> {
  await using postgres = await startOwnPostgres();
  const shop = await filledShop({ kind: 'postgres', url: postgres.url }, owner => [aLink(owner, Date.now())]);
  await using service = await startServer('payments', postgres.url, NO_NODE, CREATION.token_address);
  const rateWith = async (connections: number) => {
    const request = {
      method: 'POST',
      path: '/api/v1/checkout-sessions',
      headers: { ...shop.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ payment_link_id: shop.linkIds[0] }),
    } as const;
    const { requestsPerSecond } = await loadWith(service, {
      requests: [request],
      seconds: SECONDS,
      connections,
    });
    return requestsPerSecond;
  };
  const rates: { alone: number; many: number }[] = [];
  await rateWith(CONNECTIONS);
  for (let round = 0; round < ROUNDS; round++)
    rates.push({ alone: await rateWith(1), many: await rateWith(CONNECTIONS) });
  const alone = median(rates.map(rate => rate.alone));
  const times = median(rates.map(rate => rate.many / rate.alone));
  return [
    figureOf({
      name: `sessions opened at one recipient on PostgreSQL, ${CONNECTIONS} at a time, per second`,
      rounds: rates.map(({ many }) => many),
      wanted: { atLeast: LEAST_PER_SECOND },
      note: `${Math.round(alone)}/s one after the other, ${times.toFixed(1)} times as many`,
    }),
  ];
}
