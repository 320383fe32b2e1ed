import type { DashboardSchemas, PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { chainHandlers } from '../api/chains.ts';
import type { ApiCaller } from '../api/gate/api-context.ts';
import type { linkHandlers } from '../api/links/links.ts';
import type { sessionHandlers } from '../api/sessions.ts';
import type { setAsideHandlers } from '../api/set-aside.ts';
import type { statsHandlers } from '../api/stats.ts';
import type { transactionHandlers } from '../api/transactions.ts';
import type { transferHandlers } from '../api/transfers.ts';
import type { webhookHandlers } from '../api/webhooks.ts';

/** Operations that answer the parts of the overview. */
export type OverviewParts = Pick<ReturnType<typeof chainHandlers>, 'listPaymentChains'> &
  Pick<ReturnType<typeof statsHandlers>, 'getAnalyticsOverview' | 'getPaymentLinkStats'> &
  Pick<ReturnType<typeof sessionHandlers>, 'listCheckoutSessions'> &
  Pick<ReturnType<typeof transactionHandlers>, 'listPaymentTransactions'> &
  Pick<ReturnType<typeof transferHandlers>, 'listUnmatchedTransfers'> &
  Pick<ReturnType<typeof setAsideHandlers>, 'listSetAsideTransactions'> &
  Pick<ReturnType<typeof linkHandlers>, 'listPaymentLinks'> &
  Pick<ReturnType<typeof webhookHandlers>, 'listWebhooks' | 'listWebhookDeliveries'>;

type Period = PaymentsSchemas['AnalyticsOverview']['period'];

/** Records of each kind that the overview shows. */
const LATEST = { page: 1, limit: 5 } as const;
const ONE = { page: 1, limit: 1 } as const;
/** Webhooks among which those that need attention are looked for. */
const WEBHOOKS = { page: 1, limit: 100 } as const;

/** Reads the overview of an organization and mode (Decision 428). */
export function dashboardOverview(parts: OverviewParts) {
  return async (period: Period, caller: ApiCaller): Promise<DashboardSchemas['DashboardOverview']> => {
    const [chains, figures, open, confirming, unmatched, setAside, links, webhooks] = await Promise.all([
      parts.listPaymentChains({ path: {}, query: {} }, caller),
      parts.getAnalyticsOverview({ path: {}, query: { period } }, caller),
      parts.listCheckoutSessions({ path: {}, query: { status: 'active', ...LATEST } }, caller),
      parts.listPaymentTransactions({ path: {}, query: { status: 'confirming', ...LATEST } }, caller),
      parts.listUnmatchedTransfers({ path: {}, query: { status: 'open', ...ONE } }, caller),
      parts.listSetAsideTransactions({ path: {}, query: LATEST }, caller),
      mostPaidLinks(period, caller),
      webhooksInNeed(caller),
    ]);
    return {
      object: 'dashboard_overview',
      chains: chains.body,
      figures: figures.body,
      open: open.body,
      confirming: confirming.body,
      unmatched: unmatched.body.total_count,
      set_aside: setAside.body,
      links,
      webhooks,
    };
  };

  async function mostPaidLinks(period: Period, caller: ApiCaller) {
    const query = { sort: 'current_uses', order: 'desc', ...LATEST } as const;
    const links = await parts.listPaymentLinks({ path: {}, query }, caller);
    return Promise.all(
      links.body.data.map(async ({ id, name }) => {
        const stats = await parts.getPaymentLinkStats(
          { path: { payment_link_id: id }, query: { period } },
          caller,
        );
        return { id, name, sessions: stats.body.sessions };
      }),
    );
  }

  async function webhooksInNeed(caller: ApiCaller) {
    const { data } = (await parts.listWebhooks({ path: {}, query: WEBHOOKS }, caller)).body;
    const inNeed = [...data].sort((a, b) => Number(a.is_active) - Number(b.is_active)).slice(0, LATEST.limit);
    return Promise.all(
      inNeed.map(async webhook => {
        const path = { webhook_id: webhook.id };
        const failed = await parts.listWebhookDeliveries(
          { path, query: { status: 'failed', ...ONE } },
          caller,
        );
        return { webhook, failed: failed.body };
      }),
    );
  }
}
