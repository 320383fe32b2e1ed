/** Cell of a CSV file. `decimal` is a number as text, which may be negative; null is an empty cell. */
export type CsvCell = string | number | bigint | boolean | null | { readonly decimal: string };

/** Start of a text that spreadsheets would run as a formula. Such a cell gets an apostrophe (Decision 115). */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\r\n]/;

/** One line with its line break. Source: RFC 4180. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'object') return cell.decimal;
  if (typeof cell !== 'string') return String(cell);
  const harmless = FORMULA.test(cell) ? `'${cell}` : cell;
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
