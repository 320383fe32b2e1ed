import { html } from 'htm/preact';
import { Fragment, type VNode } from 'preact';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { askOverview, type DashboardOverview, type Payments } from '../api.ts';
import { ChainsProvider, useChains } from '../chains.ts';
import { oneOf } from '../filters.ts';
import { openPage } from '../frame.ts';
import { SetAsideBlocksWarning, SetAsideNotice } from '../payments/set-aside.ts';
import { Figures } from './figures.ts';
import { Health } from './health.ts';
import { LinkConversion } from './link-conversion.ts';
import { Present } from './present.ts';

type Period = Payments['AnalyticsOverview']['period'];

const PERIODS: readonly (readonly [period: Period, name: string])[] = [
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['all', 'All time'],
];

const RENEW_MS = 10_000;
/** The figures of all days take longer to read and to send. */
const RENEW_ALL_MS = 60_000;

/** Overview page: figures of the period, current activity, and problems. */
function Overview(): VNode {
  const period = oneOf('period', PERIODS) ?? '30d';
  const everyMs = period === 'all' ? RENEW_ALL_MS : RENEW_MS;
  const overview = useAnswer(signal => askOverview(period, signal), [period], { everyMs });
  return html`
    <div class="title">
      <h1>Overview</h1>
      <nav class="row" aria-label="Period">
        ${PERIODS.map(
          ([name, text]) =>
            html`<a href=${`?period=${name}`} aria-current=${name === period ? 'true' : undefined}>${text}</a>`,
        )}
      </nav>
    </div>
    ${h(Awaited<DashboardOverview>, {
      loading: overview,
      children: body =>
        h(ChainsProvider, {
          value: body.chains.data,
          children: h(Parts, { of: body, reload: overview.reload }),
        }),
    })}
  `;
}

function Parts({ of, reload }: { of: DashboardOverview; reload: () => void }): VNode {
  return h(Fragment, {
    children: html`
      ${h(LateChains, {})}
      ${h(SetAsideBlocksWarning, {})}
      ${h(SetAsideNotice, { waiting: of.set_aside, done: reload })}
      ${h(Present, { open: of.open, confirming: of.confirming })}
      ${h(Figures, { figures: of.figures })}
      <div class="grid">
        ${h(LinkConversion, { links: of.links })}
        ${h(Health, { unmatched: of.unmatched, webhooks: of.webhooks })}
      </div>
    `,
  });
}

/** Warns that payments on a chain are detected late. */
function LateChains(): VNode | null {
  const late = useChains()?.filter(({ is_late }) => is_late) ?? [];
  if (late.length === 0) return null;
  return html`<p class="notice warning" role="status">
    Payments on ${late.map(({ name }) => name).join(', ')} are detected with a delay, because the nodes of the chain do not
    answer in time. A payment that was sent is not lost.
  </p>`;
}

openPage('Overview', Overview, { hasChains: true });
