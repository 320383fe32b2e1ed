import type { Figure } from './figure.ts';
import { opening } from './payments/opening.ts';
import { creatingAndGetting } from './payments/over-http.ts';
import { overview } from './payments/overview.ts';
import { searching } from './payments/search.ts';
import { settling } from './payments/settling.ts';

/**
 * Figures of the payments service. On SQLite: its API compared with bare Koa, and many payments in one block. On
 * PostgreSQL: many sessions at once. On both: search in many links, and the overview of many sessions.
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
