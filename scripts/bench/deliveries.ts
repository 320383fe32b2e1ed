import { claiming } from './deliveries/claiming.ts';
import { lag } from './deliveries/lag.ts';
import { rate } from './deliveries/rate.ts';
import type { Figure } from './figure.ts';

/** Webhook deliveries on SQLite to a receiver on the loopback interface. */
export async function benchDeliveries(): Promise<Figure[]> {
  return [await rate(), ...(await lag()), await claiming()];
}
