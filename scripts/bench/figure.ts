/** One measured figure beside what it should be. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly target: string;
  readonly ok: boolean;
  readonly note?: string;
}

/** The figures as a Markdown table. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ name, value, target, ok, note = '' }) =>
      `| ${name} | ${shown(value)} | ${target} | ${ok ? 'yes' : '**no**'} | ${note} |`,
  );
  return ['| Figure | Measured | Wanted | Reached | |', '|---|---|---|---|---|', ...rows].join('\n');
}

function shown(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
