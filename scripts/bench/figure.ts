const LEAST_ROUNDS = 3;

/** One measured figure and its goal, made by `figureOf`. */
export interface Figure {
  readonly name: string;
  /** Median of all rounds. */
  readonly value: number;
  /** Least and greatest value of all rounds. */
  readonly spread: readonly [least: number, greatest: number];
  /** The goal as text: a bound with `≥` or `≤`, or `any`. */
  readonly target: string;
  readonly ok: boolean;
  readonly note?: string;
}

/** Bound that a figure must keep. */
export type Wanted = { readonly atLeast: number } | { readonly atMost: number };

/**
 * Makes a figure from several rounds: their median and their spread.
 *
 * @throws RangeError for fewer than three rounds, because their spread means nothing
 */
export function figureOf(measured: {
  name: string;
  /** The value of each round. */
  rounds: readonly number[];
  /** Absent when there is no goal; then lower is better. */
  wanted?: Wanted | undefined;
  note?: string;
}): Figure {
  const { name, rounds, wanted, note } = measured;
  if (rounds.length < LEAST_ROUNDS) throw new RangeError(`${name}: ${rounds.length} rounds`);
  const value = median(rounds);
  return {
    name,
    value,
    spread: [Math.min(...rounds), Math.max(...rounds)],
    ...goal(value, wanted),
    ...(note === undefined ? {} : { note }),
  };
}

function goal(value: number, wanted: Wanted | undefined): Pick<Figure, 'target' | 'ok'> {
  if (wanted === undefined) return { target: 'any', ok: true };
  if ('atLeast' in wanted) return { target: `≥ ${wanted.atLeast}`, ok: value >= wanted.atLeast };
  return { target: `≤ ${wanted.atMost}`, ok: value <= wanted.atMost };
}

/** The middle of an odd number of values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

/** Formats the figures as a Markdown table, which `slowdowns` can read. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ name, value, spread, target, ok, note = '' }) =>
      `| ${name} | ${shown(value)} | ${spread.map(shown).join(' to ')} | ${target} | ${ok ? 'yes' : '**no**'} | ${note} |`,
  );
  return ['| Figure | Measured | Spread | Wanted | Reached | |', '|---|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

const ROW =
  /^\| (?<name>.+?) \| (?<value>-?[\d.]+) \| (?<least>-?[\d.]+) to (?<greatest>-?[\d.]+) \| (?<target>.+?) \| (?:yes|\*\*no\*\*) \|/;

/** Reads the figures of a printed table, by name. Ignores all other lines. */
function figuresIn(text: string): Map<string, Pick<Figure, 'value' | 'spread' | 'target'>> {
  const rows = text.split('\n').flatMap(line => {
    const { name, value, least, greatest, target } = ROW.exec(line)?.groups ?? {};
    if (name === undefined || target === undefined) return [];
    const spread = [Number(least), Number(greatest)] as const;
    return [[name, { value: Number(value), target, spread }] as const];
  });
  return new Map(rows);
}

/** Lists each figure that is worse than in an earlier table by more than the spread of either run. */
export function slowdowns(figures: readonly Figure[], earlier: string): string[] {
  const before = figuresIn(earlier);
  return figures.flatMap(figure => {
    const old = before.get(figure.name);
    if (old === undefined) return [];
    const isRate = figure.target.startsWith('≥');
    const worseBy = isRate ? old.value - figure.value : figure.value - old.value;
    const isMeasured = Number.isFinite(figure.value);
    if (isMeasured && worseBy <= Math.max(width(old), width(figure))) return [];
    return [`${figure.name}: ${shown(figure.value)}, ${shown(old.value)} before`];
  });
}

/** Names of the figures that an earlier table lacks, so that `slowdowns` cannot compare them. */
export function newFigures(figures: readonly Figure[], earlier: string): string[] {
  const before = figuresIn(earlier);
  return figures.map(({ name }) => name).filter(name => !before.has(name));
}

function width({ spread: [least, greatest] }: Pick<Figure, 'spread'>): number {
  return greatest - least;
}

function shown(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
