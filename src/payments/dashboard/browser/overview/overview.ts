import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { api, type Payments } from '../api.ts';
import { useChains } from '../chains.ts';
import { oneOf } from '../filters.ts';
import { openPage } from '../frame.ts';
import { SetAsideBlocksWarning, SetAsideWarning } from '../payments/set-aside.ts';
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

/** Overview page: figures of the period, current activity, and problems. */
function Overview(): VNode {
  const period = oneOf('period', PERIODS) ?? '30d';
  const figures = useAnswer(
    signal => api.GET('/api/v1/analytics/overview', { params: { query: { period } }, signal }),
    [period],
  );
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
    ${h(LateChains, {})}
    ${h(SetAsideBlocksWarning, {})}
    ${h(SetAsideWarning, {})}
    ${h(Present, {})}
    ${h(Awaited<Payments['AnalyticsOverview']>, {
      loading: figures,
      children: body => h(Figures, { figures: body }),
    })}
    <div class="grid">
      ${h(LinkConversion, { period })}
      ${h(Health, {})}
    </div>
  `;
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

openPage('Overview', Overview);
