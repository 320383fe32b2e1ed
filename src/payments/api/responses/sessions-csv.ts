import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { CheckoutSession } from '../../model/session.ts';
import { foundSessions, type Search } from '../../search/session-search.ts';
import type { SessionFilters } from '../../sessions/session-filters.ts';
import type { PaymentsContext } from '../gate/api-context.ts';
import { type CsvReply, csvExport, exportedToken } from './csv-export.ts';
import { sessionBody } from './record-bodies.ts';
import { NO_FEE } from './transactions-csv.ts';

/** Columns: plain fields of a session, in the order of its record, without those of an open one (Decision 115). */
const FIELDS = [
  'object',
  'id',
  'mode',
  'status',
  'payment_status',
  'outcome',
  'payment_link_id',
  'product_name',
  'clientReferenceId',
  'customer_id',
  'customerEmail',
  'customerName',
  'chain_id',
  'token_address',
  'recipient_address',
  'subtotal',
  'amount',
  'amount_due',
  'amount_received',
  'amount_refunded',
  'amount_overpaid',
  'payer_address',
  'tx_hash',
  'transaction_id',
  'ended_reason',
  'accepted_at',
  'accepted_by',
  'accepted_reason',
  'created_at',
  'expires_at',
  'completed_at',
] as const satisfies readonly (keyof PaymentsSchemas['CheckoutSession'])[];
const OTHERS = [
  'amount_decimal',
  'amount_received_decimal',
  'amount_refunded_decimal',
  'amount_overpaid_decimal',
  'token_symbol',
  'token_decimals',
  'fee',
] as const;

/** All matching sessions as CSV (Decision 431). @throws HttpError as `csvExport` */
export function sessionsCsv(
  context: Pick<PaymentsContext, 'db' | 'seals' | 'chains' | 'publicUrl'>,
  search: Search,
  filters: SessionFilters,
): Promise<CsvReply> {
  const found = { handle: context.db, seals: context.seals };
  /** Null after the last page. */
  let cursor: string | null | undefined;
  return csvExport<CheckoutSession>({
    records: 'checkout sessions',
    columns: [...FIELDS, ...OTHERS],
    count: async () => (await foundSessions(found, search, filters, { page: 1, limit: 1 })).total,
    async read(limit) {
      if (cursor === null) return [];
      const page = { page: 1, limit, cursor, isCounted: false };
      const { data, next } = await foundSessions(found, search, filters, page);
      cursor = next;
      return data;
    },
    cells(session) {
      const body = sessionBody(session, context);
      const { symbol, decimals, whole } = exportedToken(context.chains, session);
      const { amount, amountReceived, amountRefunded, amountOverpaid } = session;
      const amounts = [amount, amountReceived, amountRefunded, amountOverpaid].map(whole);
      return [...FIELDS.map(name => body[name]), ...amounts, symbol, decimals, NO_FEE];
    },
  });
}
