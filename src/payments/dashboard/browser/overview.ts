import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { Card } from '#pages/browser/layout.ts';
import { dashboard } from './addresses.ts';
import { api, type Payments } from './api.ts';
import { openPage } from './frame.ts';

/** How the shop does. */
function Overview(): VNode {
  const figures = useAnswer(
    signal => api.GET('/api/v1/analytics/overview', { params: { query: { period: '30d' } }, signal }),
    [],
  );
  return html`
    <h1>Overview</h1>
    <${Awaited} loading=${figures}>
      ${({ sessions }: Payments['AnalyticsOverview']) => html`<${Card} title="Checkouts of the last 30 days">
        <p class="figure">${sessions.completed} of ${sessions.total}</p>
        <p class="small">were paid. <a href=${dashboard.payments}>See all payments</a></p>
      <//>`}
    <//>
  `;
}

openPage('Overview', Overview);
