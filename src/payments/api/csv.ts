/** What fits a cell. */
export type Cell = string | number | boolean | null;

/** Spreadsheets take such a cell for a formula. Decision 115. */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\r\n]/;

/** One line with its end; a null is an empty cell. Source: RFC 4180. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  const text = cell === null ? '' : String(cell);
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
