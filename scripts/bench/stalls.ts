import type { Figure } from './figure.ts';
import { dataStalls } from './stalls/data-kinds.ts';
import { paymentsStalls } from './stalls/payments-kinds.ts';

/** Longest time for which each kind of request keeps the event loop from all others, with nothing cached. */
export async function benchStalls(): Promise<Figure[]> {
  return [...(await dataStalls()), ...(await paymentsStalls())];
}
