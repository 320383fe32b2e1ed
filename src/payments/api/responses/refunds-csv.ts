import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { Owner } from '../../model/owner.ts';
import type { Refund } from '../../model/refund.ts';
import type { RefundFilters, RefundStore } from '../../refunds/refund-store.ts';
import { type CsvReply, csvExport } from './csv-export.ts';
import { refundBody } from './refund-bodies.ts';

/** Columns: the plain fields of a refund, in the order of its record (Decision 115). */
const COLUMNS = [
  'object',
  'id',
  'mode',
  'status',
  'session_id',
  'transaction_id',
  'unmatched_transfer_id',
  'chain_id',
  'token_address',
  'amount',
  'destination_address',
  'destination_source',
  'destination_proved',
  'payment_uri',
  'tx_hash',
  'confirmations',
  'required_confirmations',
  'failure_reason',
  'reason',
  'created_by',
  'completed_by',
  'cancelled_by',
  'cancelled_reason',
  'expires_at',
  'created_at',
  'updated_at',
  'completed_at',
  'cancelled_at',
] as const satisfies readonly (keyof Omit<PaymentsSchemas['Refund'], 'transaction_request'>)[];

/** All matching refunds as CSV. @throws HttpError as `csvExport` */
export function refundsCsv(store: RefundStore, owner: Owner, filters: RefundFilters): Promise<CsvReply> {
  return csvExport<Refund>({
    records: 'refunds',
    columns: COLUMNS,
    count: () => store.count(owner, filters),
    read: (limit, after) => store.export(owner, filters, limit, after),
    cells(refund) {
      const body = refundBody(refund);
      return COLUMNS.map(name => body[name]);
    },
  });
}
