import type { Figure } from './figure.ts';
import { creatingAndGetting } from './payments/over-http.ts';
import { searching } from './payments/search.ts';
import { settling } from './payments/settling.ts';

/** The payments service on SQLite: its API beside bare Koa, search over many links, many payments in one block. */
export async function benchPayments(): Promise<Figure[]> {
  return [...(await creatingAndGetting()), ...(await searching()), ...(await settling())];
}
