import type { Handle } from '../../db/open.ts';
import { BOUND } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { DepositAddress } from '../model/recipient.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';

/** Deposit addresses that were ever issued. None is ever removed (Decision 396). */
export function depositAddressStore(handle: Handle) {
  return {
    async insert(address: DepositAddress): Promise<void> {
      await handle('deposit_addresses').insert(depositAddressForm.rowOf(address));
    },

    /** A deposit address of any owner. */
    async find(address: string): Promise<DepositAddress | undefined> {
      const [row] = await select({ from: 'deposit_addresses', columns: ['*'] }).rows(
        handle,
        'where address = ?',
        [address],
      );
      return row && depositAddressForm.recordOf(row);
    },

    /** Time at which the first address of a chain was issued, in UTC milliseconds; undefined when there is none. */
    async oldest(chainId: number): Promise<number | undefined> {
      const [row] = await select({
        from: 'deposit_addresses',
        computed: { oldest: ['time?', 'min(created_at)'] },
      }).rows(handle, 'where chain_id = ?', [chainId]);
      return row?.oldest ?? undefined;
    },

    /** All deposit addresses of a chain, in lists of at most `size`. */
    async *ofChain(chainId: number, size: number): AsyncGenerator<readonly string[]> {
      for (let after = ''; ; ) {
        const rows = await select({ from: 'deposit_addresses', columns: ['address'] }).rows(
          handle,
          `where chain_id = ? and address > ? order by address limit ${BOUND}`,
          [chainId, after, size],
        );
        const last = rows.at(-1);
        if (last === undefined) return;
        yield rows.map(({ address }) => address);
        after = last.address;
      }
    },

    /** Those of many addresses that are deposit addresses, of any chain and owner, by address. */
    async findMany(addresses: readonly string[]): Promise<ReadonlyMap<string, DepositAddress>> {
      const asked = [...new Set(addresses)];
      if (asked.length === 0) return new Map();
      const rows = await select({ from: 'deposit_addresses', columns: ['*'] }).rows(
        handle,
        `where address in (${placeholders(asked.length)})`,
        asked,
      );
      return new Map(rows.map(row => [row.address, depositAddressForm.recordOf(row)]));
    },
  };
}

export const depositAddressForm = recordForm<DepositAddress>({
  address: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  chainId: 'plain',
  tokenAddress: 'plain',
  recipientAddress: 'plain',
  factoryVersion: 'plain',
  epoch: 'plain',
  number: 'plain',
  salt: 'plain',
  sessionId: 'plain',
  amount: 'uint256',
  clientReferenceId: 'plain',
  createdAt: 'plain',
  amountReceived: 'uint256',
  amountSwept: 'uint256',
});
