import { setImmediate } from 'node:timers/promises';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { Owner } from '../../model/owner.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import type { TransactionFilters, TransactionStore } from '../../store/transaction-store.ts';
import { type PlainTransaction, plainTransaction } from './record-bodies.ts';

/** Columns: the plain fields of a transaction, in the order of its record (Decision 115). */
const COLUMNS = [
  'object',
  'id',
  'mode',
  'status',
  'payment_link_id',
  'session_id',
  'chain_id',
  'token_address',
  'amount',
  'sender_address',
  'recipient_address',
  'tx_hash',
  'log_index',
  'block_number',
  'block_hash',
  'confirmations',
  'required_confirmations',
  'matched_by',
  'failure_reason',
  'late',
  'duplicate',
  'partial',
  'overpaid_amount',
  'discount_code',
  'created_at',
  'confirmed_at',
  'completed_at',
] as const satisfies readonly (keyof PlainTransaction)[];

const MAX_ROWS = 50_000;
/** Rows that one statement reads. */
const ROWS_READ = 1_000;
/** Rows written before the event loop serves other requests. */
const ROWS_WRITTEN = 250;

/**
 * All matching transactions, newest first, as CSV with a header. Transactions recorded during the export are left out.
 * @throws HttpError 400 for more than 50,000
 */
export async function exportOf(
  store: Pick<TransactionStore, 'count' | 'export'>,
  owner: Owner,
  filters: TransactionFilters,
): Promise<string> {
  if ((await store.count(owner, filters)) > MAX_ROWS) throw tooMany();
  const lines = [csvLine(COLUMNS)];
  let after: PaymentTransaction | undefined;
  do {
    const part = await store.export(owner, filters, ROWS_READ, after);
    for (let written = 0; written < part.length; written += ROWS_WRITTEN) {
      await setImmediate();
      lines.push(...part.slice(written, written + ROWS_WRITTEN).map(lineOf));
    }
    after = part.length < ROWS_READ ? undefined : part.at(-1);
  } while (after !== undefined);
  return lines.join('');
}

function lineOf(transaction: PaymentTransaction): string {
  const plain = plainTransaction(transaction);
  return csvLine(COLUMNS.map(name => plain[name]));
}

function tooMany() {
  return paymentsError(
    'invalid_field_value',
    `More than ${MAX_ROWS} transactions match. Narrow the filter, for example by 'from' and 'to'.`,
  );
}

type Cell = string | number | boolean | null;

/** Start of a cell that spreadsheets would run as a formula. Such cells get an apostrophe (Decision 115). */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\r\n]/;

/** One line with its line break; null is an empty cell. Source: RFC 4180. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  const text = cell === null ? '' : String(cell);
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
