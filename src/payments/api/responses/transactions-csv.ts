import type { Handle } from '#db/open.ts';
import type { Owner } from '../../model/owner.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import { sessionOutcomes } from '../../sessions/session-store.ts';
import { type TransactionFilters, transactionStore } from '../../store/transaction-store.ts';
import { csvExport } from './csv-export.ts';
import { type PlainTransaction, plainTransaction } from './record-bodies.ts';

/** The plain fields of a transaction, in the order of its record (Decision 115). */
const FIELDS = [
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
  'proven',
] as const satisfies readonly (keyof PlainTransaction)[];

type ExportedTransaction = PaymentTransaction & { readonly outcome: string | null };

/** All matching transactions as CSV, with the outcomes of their sessions. @throws HttpError as `csvExport` */
export function exportOf(handle: Handle, owner: Owner, filters: TransactionFilters): Promise<string> {
  const store = transactionStore(handle);
  return csvExport<ExportedTransaction>({
    records: 'transactions',
    columns: [...FIELDS, 'outcome'],
    count: () => store.count(owner, filters),
    async read(limit, after) {
      const transactions = await store.export(owner, filters, limit, after);
      const ids = new Set(transactions.map(({ sessionId }) => sessionId));
      const outcomes = await sessionOutcomes(handle, [...ids]);
      return transactions.map(one => ({ ...one, outcome: outcomes.get(one.sessionId) ?? null }));
    },
    cells(transaction) {
      const plain = plainTransaction(transaction);
      return [...FIELDS.map(name => plain[name]), transaction.outcome];
    },
  });
}
