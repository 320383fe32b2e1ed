import { DAY_MS } from '../../lib/clock.ts';
import { chainFigures, periodFigures, tokenFigures, transactionCounts, volumes } from '../stats/figures.ts';
import { dayNumber, firstDayOf } from '../stats/periods.ts';
import { refundedSince } from '../stats/refund-tallies.ts';
import {
  linkSessionTallies,
  linkTransactionTallies,
  ownerTallies,
  transactionTallies,
} from '../stats/tallies.ts';
import { paymentTotals } from '../stats/totals.ts';
import { linkStore } from '../store/link-store.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { periodOf, resourceNotFound } from './responses/answers.ts';
import { requestedPeriods, totalsBody, totalsCsv } from './responses/totals.ts';

/** Operations on statistics. Their figures agree with the lists (Decisions 223 and 450). */
export function statsHandlers({ db, clock, chains }: Pick<PaymentsContext, 'db' | 'clock' | 'chains'>) {
  return {
    async getPaymentLinkStats({ path: { payment_link_id: id }, query: { period } }, caller) {
      const link = await linkStore(db).find(caller, id);
      if (link === undefined) throw resourceNotFound('payment_link', id);
      const now = clock.now();
      const firstDay = firstDayOf(period, now);
      const [sessions, transactions] = await Promise.all([
        linkSessionTallies(db, link, firstDay),
        linkTransactionTallies(db, id, firstDay),
      ]);
      const figures = periodFigures({ sessions, transactions }, { period, now, chains });
      return { status: 200, body: { object: 'payment_link_stats', payment_link_id: id, ...figures } };
    },

    async getPaymentTransactionStats(
      { query: { chain_id, payment_link_id, session_id, ...period } },
      caller,
    ) {
      const { from, to } = periodOf(period);
      const filters = { chainId: chain_id, paymentLinkId: payment_link_id, sessionId: session_id, from, to };
      const dayAgo = clock.now() - DAY_MS;
      const [all, recent] = await Promise.all([
        transactionTallies(db, caller, filters),
        transactionTallies(db, caller, { ...filters, from: Math.max(from ?? dayAgo, dayAgo) }),
      ]);
      return {
        status: 200,
        body: {
          object: 'transaction_stats',
          transactions: transactionCounts(all),
          volume: volumes(all, chains),
          last_24_hours: { transactions: transactionCounts(recent), volume: volumes(recent, chains) },
        },
      };
    },

    async getAnalyticsOverview({ query: { period } }, caller) {
      const now = clock.now();
      const firstDay = firstDayOf(period, now);
      const tallies = await ownerTallies(db, caller, { firstDay, today: dayNumber(now) });
      return {
        status: 200,
        body: {
          object: 'analytics_overview',
          mode: caller.mode,
          ...periodFigures(tallies, { period, now, chains }),
          refunded: await refundedSince(db, caller, { firstDay, chains }),
          by_token: tokenFigures(tallies, chains),
          by_chain: chainFigures(tallies, chains),
        },
      };
    },

    async getPaymentTotals({ query }, caller) {
      const totals = await paymentTotals(db, caller, requestedPeriods(query, clock.now()));
      return { status: 200, body: totalsBody(totals, { mode: caller.mode, chains, query }) };
    },

    async exportPaymentTotals({ query }, caller) {
      const totals = await paymentTotals(db, caller, requestedPeriods(query, clock.now()));
      return totalsCsv(totals, { timeZone: query.time_zone, chains });
    },
  } satisfies ApiHandlers;
}
