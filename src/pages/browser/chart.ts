import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { h } from '#pages/browser/element.ts';
import { Table } from './table.ts';

/** Line of a chart: a number for each time, or null. */
export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Exact texts of the values, for the table; formatted by `format` when absent. */
  readonly texts?: readonly string[];
}

export interface ChartProps {
  /** Subject of the chart, for the heading of its table and for screen readers. */
  readonly label: string;
  /** UTC milliseconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly isBars?: boolean;
  /** Formats a value; the plain number when absent. */
  readonly format?: (value: number) => string;
}

const HEIGHT = 200;
const COLOURS = ['--busy', '--good', '--warning', '--bad'];
const DAY_MS = 86_400_000;
// The API's days are UTC days: in another time zone they would get a neighbouring date.
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const SHORT_DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
// Two decimals, or six significant digits if that is more precise: a small volume must not show as 0.
const NUMBER = new Intl.NumberFormat('en', {
  maximumFractionDigits: 2,
  maximumSignificantDigits: 6,
  roundingPriority: 'morePrecision',
});

/** Shows values over time as a chart. A table with the same values opens below on demand. */
export function Chart(props: ChartProps): VNode {
  const { label, times, series, format = plain } = props;
  const container = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    let plot: uPlot | undefined;
    let isGone = false;
    const redraw = async () => {
      const { default: Plot } = await import('uplot');
      plot?.destroy();
      plot = isGone ? undefined : drawn(Plot, element, props);
    };
    redraw();
    const resized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => {
      isGone = true;
      resized.disconnect();
      scheme.removeEventListener('change', redraw);
      plot?.destroy();
    };
  }, [times, series]);

  const rows = times.map((time, index) => ({
    time,
    texts: series.map(({ values, texts }) => {
      const value = values[index] ?? null;
      return texts?.[index] ?? (value === null ? '–' : format(value));
    }),
  }));
  return html`<figure class="chart">
    <div class="plot" ref=${container} role="img" aria-label=${`Chart: ${label}. The values are in the table below.`}></div>
    <details>
      <summary>${label} as a table</summary>
      ${h(Table<(typeof rows)[number]>, {
        label,
        items: rows,
        keyOf: row => String(row.time),
        columns: [
          {
            name: areDays(times) ? 'Day (UTC)' : 'Time',
            cell: row => timeText(times, row.time),
          },
          ...series.map((one, index) => ({
            name: one.label,
            isNumber: true,
            cell: (row: (typeof rows)[number]) => row.texts[index],
          })),
        ],
      })}
    </details>
  </figure>`;
}

function drawn(
  Plot: typeof uPlot,
  element: HTMLElement,
  { times, series, isBars = false, format = plain }: ChartProps,
): uPlot {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const axis = {
    stroke: colour('--soft'),
    font,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const bars = isBars ? Plot.paths.bars?.({ size: [0.7, 48], radius: 0.1 }) : undefined;
  const days = areDays(times);
  return new Plot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      cursor: { y: false, drag: { x: false } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          ...(days && {
            space: 64,
            incrs: [1, 2, 7, 14, 30, 90, 365].map(count => (count * DAY_MS) / 1000),
            values: (_: uPlot, values: number[]) => values.map(value => SHORT_DAY.format(value * 1000)),
          }),
        },
        {
          ...axis,
          size: 64,
          values: (_, values) => values.map(format),
          ...(areCounts(series) && { incrs: WHOLE_STEPS }),
        },
      ],
      ...(days && { tzDate: seconds => Plot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
      scales: {
        x: { range: (_, least, most) => (isBars ? nextToBars(times, least, most) : [least, most]) },
        y: {
          range: (_, least, most) =>
            isBars ? [Math.min(0, least), most === 0 ? 1 : most * 1.1] : aroundLine(least, most),
        },
      },
      series: [
        {
          label: days ? 'Day' : 'Time',
          // Without a pointer the legend has the last values.
          value: (_, value) => timeText(times, value === null ? (times.at(-1) ?? 0) : value * 1000),
        },
        ...series.map(({ label, values }, index) => ({
          label,
          stroke: colour(COLOURS[index % COLOURS.length] ?? '--ink'),
          width: bars ? 0 : 2,
          value: (_plot: uPlot, pointed: number | null, _series: number, at: number | null) => {
            const value = at === null ? (values.at(-1) ?? null) : pointed;
            return value === null ? '–' : format(value);
          },
          ...(bars && {
            paths: bars,
            points: { show: false },
            fill: colour(COLOURS[index % COLOURS.length] ?? '--ink'),
          }),
        })),
      ],
    },
    [times.map(time => time / 1000), ...series.map(({ values }) => [...values])],
    element,
  );
}

/** Range of the values of a line with a margin. It need not begin at 0, where small changes would look like none. */
function aroundLine(least: number, most: number): [number, number] {
  const margin = (most - least || Math.abs(most) || 1) / 10;
  const bottom = least - margin;
  return [least >= 0 && bottom < 0 ? 0 : bottom, most + margin];
}

/** Adds room for half a bar before the first and after the last one. In seconds, as used by uPlot. */
function nextToBars(times: readonly number[], least: number, most: number): [number, number] {
  const [first = 0, second = first + DAY_MS] = times;
  const half = (second - first) / 2_000;
  return [least - half, most + half];
}

/** Steps between the marks of an axis of counts, of which there are no fractions. */
const WHOLE_STEPS = Array.from({ length: 15 }, (_, power) =>
  [1, 2, 5].map(step => step * 10 ** power),
).flat();

function areCounts(series: readonly Series[]): boolean {
  return series.every(({ values }) => values.every(value => value === null || Number.isInteger(value)));
}

function areDays(times: readonly number[]): boolean {
  return times.every(time => time % DAY_MS === 0);
}

function timeText(times: readonly number[], time: number): string {
  return (areDays(times) ? DAY : TIME).format(time);
}

function plain(value: number): string {
  return NUMBER.format(value);
}
