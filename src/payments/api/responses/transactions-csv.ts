import type { Handle } from '#db/open.ts';
import { sweepStore } from '../../deposits/sweep-store.ts';
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
const OTHERS = ['sweep_tx_hash', 'outcome'] as const;

interface ExportedTransaction extends PaymentTransaction {
  readonly sweepTxHash: string | null;
  readonly outcome: string | null;
}

/** All matching transactions as CSV, with their sweeps and the outcomes of their sessions. @throws HttpError as `csvExport` */
export function exportOf(handle: Handle, owner: Owner, filters: TransactionFilters): Promise<string> {
  const store = transactionStore(handle);
  return csvExport<ExportedTransaction>({
    records: 'transactions',
    columns: [...FIELDS, ...OTHERS],
    count: () => store.count(owner, filters),
    async read(limit, after) {
      const transactions = await store.export(owner, filters, limit, after);
      const ids = new Set(transactions.map(({ sessionId }) => sessionId));
      const outcomes = await sessionOutcomes(handle, [...ids]);
      const sweeps = await sweepStore(handle).hashesOf(transactions);
      return transactions.map(one => ({
        ...one,
        sweepTxHash: sweeps.get(one.id) ?? null,
        outcome: outcomes.get(one.sessionId) ?? null,
      }));
    },
    cells(transaction) {
      const plain = plainTransaction(transaction);
      return [...FIELDS.map(name => plain[name]), transaction.sweepTxHash, transaction.outcome];
    },
  });
}
