import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { Table } from './list.ts';

/** One line of a chart: a number for each time, null where there is none. */
export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** What the chart shows, for the heading of its table and for screen readers. */
  readonly label: string;
  /** UTC milliseconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly isBars?: boolean;
  /** Text of a value; the plain number when absent. */
  readonly format?: (value: number) => string;
}

const HEIGHT = 180;
const COLOURS = ['--busy', '--good', '--warning', '--bad'];
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** Figures over time as a chart. The same figures are in a table below, which opens on demand. */
export function Chart(props: ChartProps): VNode {
  const { label, times, series, format = plain } = props;
  const place = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let plot = drawn(element, props);
    const redraw = () => {
      plot.destroy();
      plot = drawn(element, props);
    };
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => {
      resized.disconnect();
      scheme.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [times, series]);

  const rows = times.map((time, index) => ({
    time,
    values: series.map(({ values }) => values[index] ?? null),
  }));
  return html`<figure class="chart">
    <div ref=${place} role="img" aria-label=${`Chart: ${label}. The figures are in the table below.`}></div>
    <details>
      <summary>Figures of ${label}</summary>
      <${Table}
        label=${label}
        items=${rows}
        keyOf=${(row: { time: number }) => String(row.time)}
        columns=${[
          { name: 'Day', cell: (row: { time: number }) => DAY.format(row.time) },
          ...series.map((one, index) => ({
            name: one.label,
            isNumber: true,
            cell: ({ values }: { values: readonly (number | null)[] }) => {
              const value = values[index] ?? null;
              return value === null ? '–' : format(value);
            },
          })),
        ]}
      />
    </details>
  </figure>`;
}

function drawn(element: HTMLElement, { times, series, isBars = false, format = plain }: ChartProps): uPlot {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line') },
    ticks: { stroke: colour('--line') },
  };
  const bars = isBars ? uPlot.paths.bars?.({ size: [0.7, 40] }) : undefined;
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: series.length > 1 },
      cursor: { y: false },
      axes: [axis, { ...axis, size: 64, values: (_, values) => values.map(format) }],
      scales: { y: { range: (_, least, most) => [Math.min(0, least), most === 0 ? 1 : most * 1.1] } },
      series: [
        {},
        ...series.map(({ label }, index) => ({
          label,
          stroke: colour(COLOURS[index % COLOURS.length] ?? '--ink'),
          width: 2,
          ...(bars && { paths: bars, fill: colour(`${COLOURS[index % COLOURS.length]}-tint`) }),
        })),
      ],
    },
    [times.map(time => time / 1000), ...series.map(({ values }) => [...values])],
    element,
  );
}

function plain(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 2 });
}
