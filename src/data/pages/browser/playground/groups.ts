import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { Chart } from '#pages/browser/chart.ts';
import { h } from '#pages/browser/element.ts';
import { clipped, shortened } from '#pages/browser/reference.ts';
import type { Row } from './rows.ts';

const BUCKETS = ['minute', 'hour', 'day', 'week', 'month'];
const ISO_TIME = /^\d{4}-\d\d-\d\dT/;
const LONGEST_NAME = 40;

/** Chart of groups: over time if the groups are periods, else one bar per group. */
export function GroupsChart({ groups }: { groups: readonly Row[] }): VNode | null {
  const names = Object.keys(groups[0] ?? {});
  const isNumber = (name: string) => groups.every(group => isCount(group[name]));
  const time = names.find(name => groups.every(group => ISO_TIME.test(String(group[name]))));
  const values = names.filter(name => name !== time && name !== 'chain_id' && isNumber(name));
  if (groups.length < 2 || values[0] === undefined) return null;
  const isOneSeries = new Set(groups.map(group => String(group[time ?? '']))).size === groups.length;
  if (time !== undefined && isOneSeries) {
    return html`<div class="grid wide">${values.map(name =>
      h(OverTime, { key: name, groups, time, value: name }),
    )}</div>`;
  }
  return h(Bars, { groups, names: names.filter(name => !values.includes(name)), value: values[0] });
}

function OverTime({ groups, time, value }: { groups: readonly Row[]; time: string; value: string }): VNode {
  const { times, series } = useMemo(() => {
    const sorted = groups
      .map(group => [Date.parse(String(group[time])), Number(group[value])] as const)
      .toSorted(([one], [other]) => one - other);
    return {
      times: sorted.map(([at]) => at),
      series: [{ label: value, values: sorted.map(([, amount]) => amount) }],
    };
  }, [groups, time, value]);
  return html`<div>
    <h3>${value}</h3>
    ${h(Chart, {
      label: `${value} by ${time}`,
      times,
      series,
      isBars: BUCKETS.includes(time),
      format: short,
    })}
  </div>`;
}

function Bars({
  groups,
  names,
  value,
}: {
  groups: readonly Row[];
  names: readonly string[];
  value: string;
}): VNode {
  const most = Math.max(...groups.map(group => Number(group[value])));
  return html`<div class="stack">
    <h3>${value}</h3>
    <ul class="plain bars">
      ${groups.map((group, index) => {
        const amount = Number(group[value]);
        const name = names.map(part => nameOf(group[part])).join(' · ');
        return html`<li key=${index}>
          <span class="clip" title=${name}>${name}</span>
          <progress max=${most || 1} value=${Math.max(0, amount)} aria-label=${`${value} of ${name}`}></progress>
          <span class="number">${short(amount)}</span>
        </li>`;
      })}
    </ul>
  </div>`;
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value));
}

function nameOf(value: unknown): string {
  const text = value === null ? 'none' : String(value);
  return text.startsWith('0x') ? shortened(text) : clipped(text, LONGEST_NAME);
}

function short(value: number): string {
  return value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 2 });
}
