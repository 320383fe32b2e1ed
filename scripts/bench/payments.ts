import type { Figure } from './figure.ts';
import { opening } from './payments/opening.ts';
import { creatingAndGetting } from './payments/over-http.ts';
import { overview } from './payments/overview.ts';
import { searching } from './payments/search.ts';
import { settling } from './payments/settling.ts';

/**
 * The payments service: on SQLite its API beside bare Koa, search over many links and many payments in one block, on
 * PostgreSQL many sessions at once, and on both the figures of many sessions.
 */
export async function benchPayments(): Promise<Figure[]> {
  return [
    ...(await creatingAndGetting()),
    ...(await opening()),
    ...(await searching()),
    ...(await overview()),
    ...(await settling()),
  ];
}
