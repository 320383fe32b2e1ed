import { setImmediate } from 'node:timers/promises';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { type CsvCell, csvLine } from '#lib/csv.ts';

/** Records to be written as CSV, newest first. */
export interface CsvSource<Row> {
  /** Name of the records in sentences. */
  readonly records: string;
  readonly columns: readonly string[];
  count(): Promise<number>;
  /** Up to `limit` rows. Continues after a given one, or begins with the newest. */
  read(limit: number, after: Row | undefined): Promise<Row[]>;
  /** Cells of a row in the order of the columns. */
  cells(row: Row): readonly CsvCell[];
}

const MAX_ROWS = 50_000;
/** Rows that one statement reads. */
const ROWS_READ = 1_000;
/** Rows written before the event loop serves other requests. */
const ROWS_WRITTEN = 250;

/**
 * All rows as CSV with a header. Rows recorded during the export are left out.
 * @throws HttpError 400 for more than 50,000
 */
export async function csvExport<Row>(source: CsvSource<Row>): Promise<string> {
  if ((await source.count()) > MAX_ROWS) throw tooMany(source);
  const lines = [csvLine(source.columns)];
  let after: Row | undefined;
  do {
    const part = await source.read(ROWS_READ, after);
    for (let written = 0; written < part.length; written += ROWS_WRITTEN) {
      await setImmediate();
      lines.push(...part.slice(written, written + ROWS_WRITTEN).map(row => csvLine(source.cells(row))));
    }
    after = part.length < ROWS_READ ? undefined : part.at(-1);
  } while (after !== undefined);
  return lines.join('');
}

function tooMany({ records }: Pick<CsvSource<unknown>, 'records'>) {
  return paymentsError(
    'invalid_field_value',
    `More than ${MAX_ROWS} ${records} match. Narrow the filter, for example by 'from' and 'to'.`,
  );
}
