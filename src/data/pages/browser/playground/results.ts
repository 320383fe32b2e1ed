import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, Empty, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import type { Insights } from '../api.ts';
import { Source } from '../frame.ts';
import { GroupsChart } from './groups.ts';
import { type Query, requestOf } from './query.ts';
import { type Row, Rows } from './rows.ts';

/** Answer to a query: either records or groups. */
interface QueryAnswer {
  readonly data?: readonly Row[];
  readonly aggregations?: readonly Row[];
  readonly meta: Insights['Meta'];
}

/** Longest JSON that the page shows, in characters. */
const LONGEST_JSON = 200_000;

/** Answer to the form's request. `turnTo` requests another page. */
export function Results({ query, turnTo }: { query: Query; turnTo: (page: number) => void }): VNode {
  const request = requestOf(query);
  const loading = useAnswer(signal => requested(request, signal), [request]);
  return h(Card, {
    title: 'Result',
    children: h(Awaited<QueryAnswer>, {
      loading,
      children: (answer, headers) => html`${h(Answer, { answer, turnTo })}
      ${h(Source, { headers })}`,
    }),
  });
}

function Answer({ answer, turnTo }: { answer: QueryAnswer; turnTo: (page: number) => void }): VNode {
  const { data, aggregations, meta } = answer;
  const rows = aggregations ?? data ?? [];
  if (rows.length === 0) {
    return h(Empty, { children: 'No results. Remove a filter, or select another chain.' });
  }
  const json = JSON.stringify(answer, null, 2);
  return html`
    ${aggregations !== undefined && h(GroupsChart, { groups: aggregations })}
    ${h(Rows, {
      label: aggregations === undefined ? 'Rows' : 'Groups',
      rows,
      chainId: meta.chain_ids.length === 1 ? meta.chain_ids[0] : undefined,
    })}
    <nav class="pager" aria-label="Result pages">
      <button type="button" disabled=${meta.page === 0} onClick=${() => turnTo(meta.page - 1)}>Previous</button>
      <span>Page ${grouped(meta.page + 1)} of ${grouped(meta.total_pages)}, ${grouped(meta.total_items)} in all</span>
      <button type="button" disabled=${meta.page + 1 >= meta.total_pages} onClick=${() => turnTo(meta.page + 1)}>Next</button>
    </nav>
    <details>
      <summary>Result as JSON</summary>
      <pre tabindex="0" aria-label="Result as JSON">${json.slice(0, LONGEST_JSON)}${json.length > LONGEST_JSON && '…'}</pre>
    </details>
  `;
}

/** Sends a request built by the form. The typed client is not used, because path and parameters vary. */
async function requested(request: string, signal: AbortSignal) {
  const response = await fetch(request, { signal });
  const body = await response.json();
  const data: QueryAnswer | undefined = response.ok ? body : undefined;
  return { response, error: body, ...(data && { data }) };
}
