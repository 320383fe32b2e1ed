import { setImmediate } from 'node:timers/promises';
import { formatUnits } from 'viem';
import type { StreamedBody } from '#contract/contracts/operations.ts';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { type CsvCell, csvLine } from '#lib/csv.ts';
import { type PaymentChains, tokenOf } from '../../model/payment-chain.ts';

/** Records to be written as CSV, newest first. */
export interface CsvSource<Row> {
  /** Name of the records in sentences. */
  readonly records: string;
  readonly columns: readonly string[];
  /** Most rows; `MAX_ROWS` when absent. */
  readonly mostRows?: number;
  count(): Promise<number>;
  /** Up to `limit` rows. Continues after a given one, or begins with the newest. */
  read(limit: number, after: Row | undefined): Promise<Row[]>;
  /** Cells of a row in the order of the columns. */
  cells(row: Row): readonly CsvCell[];
}

/** Answer of an operation that exports. */
export interface CsvReply {
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  readonly streamed: StreamedBody;
}

const MAX_ROWS = 50_000;
/** Rows that one statement reads. */
const ROWS_READ = 1_000;
/** Rows written before the event loop serves other requests. */
const ROWS_WRITTEN = 250;

/**
 * All rows as CSV with a header, written while the client reads (Decision 431).
 * @throws HttpError 400 for more than the most rows
 */
export async function csvExport<Row>(source: CsvSource<Row>): Promise<CsvReply> {
  const { records, mostRows = MAX_ROWS } = source;
  if ((await source.count()) > mostRows) throw tooMany(records, mostRows);
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    streamed: { chunks: linesOf(source), close: () => undefined },
  };
}

async function* linesOf<Row>(source: CsvSource<Row>): AsyncGenerator<string> {
  yield csvLine(source.columns);
  let after: Row | undefined;
  do {
    const part = await source.read(ROWS_READ, after);
    for (let written = 0; written < part.length; written += ROWS_WRITTEN) {
      await setImmediate();
      const lines = part.slice(written, written + ROWS_WRITTEN).map(row => csvLine(source.cells(row)));
      yield lines.join('');
    }
    after = part.length < ROWS_READ ? undefined : part.at(-1);
  } while (after !== undefined);
}

function tooMany(records: string, mostRows: number) {
  return paymentsError(
    'invalid_field_value',
    `More than ${mostRows} ${records} match. Narrow the filter, for example by 'from' and 'to'.`,
  );
}

/** Token of an exported record, for columns with whole tokens. A token that is not configured has no decimals. */
export function exportedToken(
  chains: PaymentChains,
  { chainId, tokenAddress }: { readonly chainId: number; readonly tokenAddress: string },
) {
  const chain = chains.all.find(({ id }) => id === chainId);
  const token = chain && tokenOf(chain, tokenAddress);
  return {
    symbol: token?.symbol ?? null,
    decimals: token?.decimals ?? null,
    whole: (units: bigint): CsvCell =>
      token === undefined ? null : { decimal: formatUnits(units, token.decimals) },
  };
}
