import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { DepositFilters, DepositListing } from '../../deposits/deposit-listing.ts';
import type { Owner } from '../../model/owner.ts';
import type { DepositAddress } from '../../model/recipient.ts';
import { type CsvReply, csvExport } from '../responses/csv-export.ts';
import { depositBody } from './deposit-address-body.ts';

/** Columns: the plain fields of a deposit address that do not depend on its session, in the order of its record. */
const COLUMNS = [
  'object',
  'mode',
  'address',
  'chain_id',
  'token_address',
  'recipient_address',
  'factory_version',
  'epoch',
  'number',
  'salt',
  'session_id',
  'client_reference_id',
  'amount',
  'amount_received',
  'amount_swept',
  'amount_unswept',
  'created_at',
] as const satisfies readonly (keyof PaymentsSchemas['DepositAddress'])[];

/** All matching deposit addresses as CSV. @throws HttpError as `csvExport` */
export function depositAddressesCsv(
  listing: DepositListing,
  owner: Owner,
  filters: DepositFilters,
): Promise<CsvReply> {
  return csvExport<DepositAddress>({
    records: 'deposit addresses',
    columns: COLUMNS,
    count: () => listing.count(owner, filters),
    read: (limit, after) => listing.export(owner, filters, limit, after),
    cells(deposit) {
      const body = depositBody({ deposit, state: undefined, sweeps: [] });
      return COLUMNS.map(name => body[name]);
    },
  });
}
