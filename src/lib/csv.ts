/** Cell of a CSV file. `decimal` is a number as text, which may be negative; null is an empty cell. */
export type CsvCell = string | number | bigint | boolean | null | { readonly decimal: string };

/** Start of a text that spreadsheets would run as a formula. Such a cell gets an apostrophe (Decision 115). */
const FORMULA = /^[=+\-@\t\r]/;
/** The same behind a `;`, which separates cells in many countries. Quotes do not keep such a text together there. */
const FORMULA_WITHIN = /;(?="*[=+\-@])/g;
const QUOTED = /[",\r\n]/;

/** One line with its line break. Source: RFC 4180. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'object') return cell.decimal;
  if (typeof cell !== 'string') return String(cell);
  const within = cell.replace(FORMULA_WITHIN, ";'");
  const harmless = FORMULA.test(within) ? `'${within}` : within;
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
