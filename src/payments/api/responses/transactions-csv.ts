import type { Owner } from '../../model/owner.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import type { TransactionFilters, TransactionStore } from '../../store/transaction-store.ts';
import { csvExport } from './csv-export.ts';
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
  'assigned_at',
  'assigned_by',
  'assigned_reason',
  'moved_from',
] as const satisfies readonly (keyof PlainTransaction)[];

/** All matching transactions as CSV. @throws HttpError as `csvExport` */
export function exportOf(
  store: Pick<TransactionStore, 'count' | 'export'>,
  owner: Owner,
  filters: TransactionFilters,
): Promise<string> {
  return csvExport<PaymentTransaction>({
    records: 'transactions',
    columns: COLUMNS,
    count: () => store.count(owner, filters),
    read: (limit, after) => store.export(owner, filters, limit, after),
    cells(transaction) {
      const plain = plainTransaction(transaction);
      return COLUMNS.map(name => plain[name]);
    },
  });
}
