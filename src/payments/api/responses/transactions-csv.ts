import type { CsvCell } from '#lib/csv.ts';
import { sweepStore } from '../../deposits/sweep-store.ts';
import { outcomeOf } from '../../model/outcome.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import type { CheckoutSession } from '../../model/session.ts';
import type { Search } from '../../search/session-search.ts';
import { foundTransactions } from '../../search/transaction-search.ts';
import { sessionStore } from '../../sessions/session-store.ts';
import type { TransactionFilters } from '../../store/transaction-store.ts';
import type { PaymentsContext } from '../gate/api-context.ts';
import { type CsvReply, csvExport, exportedToken } from './csv-export.ts';
import { type PlainTransaction, plainTransaction } from './record-bodies.ts';

/** The plain fields of a transaction, in the order of its record (Decision 115). */
const FIRST_FIELDS = [
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
] as const satisfies readonly (keyof PlainTransaction)[];
const SESSION_FIELDS = [
  'product_name',
  'clientReferenceId',
  'customer_id',
  'customerEmail',
  'customerName',
] as const;
const LAST_FIELDS = [
  'discount_code',
  'created_at',
  'confirmed_at',
  'completed_at',
  'assigned_at',
  'assigned_by',
  'assigned_reason',
  'moved_from',
  'proven',
] as const satisfies readonly (keyof PlainTransaction)[];
const OTHERS = [
  'sweep_tx_hash',
  'amount_decimal',
  'overpaid_amount_decimal',
  'token_symbol',
  'token_decimals',
  'fee',
  'session_amount_refunded',
  'session_amount_refunded_decimal',
  'outcome',
] as const;

interface ExportedTransaction {
  readonly transaction: PaymentTransaction;
  /** Undefined when retention has removed it since. */
  readonly session: CheckoutSession | undefined;
  readonly sweepTxHash: string | null;
}

/** All matching transactions as CSV, with their sessions and sweeps (Decision 431). @throws HttpError as `csvExport` */
export function exportOf(
  { db, seals, chains }: Pick<PaymentsContext, 'db' | 'seals' | 'chains'>,
  search: Search,
  filters: TransactionFilters,
): Promise<CsvReply> {
  const context = { handle: db, seals };
  /** Null after the last page. */
  let cursor: string | null | undefined;
  return csvExport<ExportedTransaction>({
    records: 'transactions',
    columns: [...FIRST_FIELDS, ...SESSION_FIELDS, ...LAST_FIELDS, ...OTHERS],
    count: async () => (await foundTransactions(context, search, filters, { page: 1, limit: 1 })).total,
    async read(limit) {
      if (cursor === null) return [];
      const page = { page: 1, limit, cursor, isCounted: false };
      const { data, next } = await foundTransactions(context, search, filters, page);
      cursor = next;
      const sessions = await sessionStore(db, seals).findMany(data.map(({ sessionId }) => sessionId));
      const sweeps = await sweepStore(db).hashesOf(data);
      return data.map(transaction => ({
        transaction,
        session: sessions.get(transaction.sessionId),
        sweepTxHash: sweeps.get(transaction.id) ?? null,
      }));
    },
    cells({ transaction, session, sweepTxHash }) {
      const plain = plainTransaction(transaction);
      const { symbol, decimals, whole } = exportedToken(chains, transaction);
      const { overpaidAmount } = transaction;
      const sold: readonly CsvCell[] =
        session === undefined
          ? SESSION_FIELDS.map(() => null)
          : [
              session.presentation.name,
              session.clientReferenceId,
              session.customerId || null,
              session.customerEmail,
              session.customerName,
            ];
      return [
        ...FIRST_FIELDS.map(name => plain[name]),
        ...sold,
        ...LAST_FIELDS.map(name => plain[name]),
        sweepTxHash,
        whole(transaction.amount),
        overpaidAmount === null ? null : whole(overpaidAmount),
        symbol,
        decimals,
        NO_FEE,
        session === undefined ? null : session.amountRefunded.toString(),
        session === undefined ? null : whole(session.amountRefunded),
        session === undefined ? null : outcomeOf(session),
      ];
    },
  });
}

/** The platform takes none. */
export const NO_FEE = '0';
