import { type Binding, uintColumn, uintSumOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { tokensSweptWith } from '../../deposits/coin-tokens.ts';
import type { DepositAddress } from '../model/recipient.ts';
import { select } from '../tables/select.ts';

/** Token of an organization on a chain. */
export type HeldToken = Pick<DepositAddress, 'organizationId' | 'mode' | 'chainId' | 'tokenAddress'>;

/** Completed payments at an address. A simulated one moved no money. */
const PAYMENTS = `from transactions where recipient = ? and token_address = ? and chain_id = ?
  and status = 'completed' and matched_by <> 'simulation'`;
/** Confirmed transfers to an address that are no payments. */
const TRANSFERS = `from unmatched_transfers u where recipient = ? and token_address = ? and chain_id = ?
  and confirmed_at is not null and not exists (
    select 1 from transactions t where t.chain_id = u.chain_id and t.tx_hash = u.tx_hash
      and t.log_index = u.log_index and t.status = 'completed'
  )`;

/** Sums of what arrived at deposit addresses and what left them, in the tokens of their sessions (Decision 403). */
export function depositSums(handle: Handle) {
  const sumOf = async (rows: string, bindings: readonly Binding[]): Promise<bigint> => {
    const total = handle.dialect.exactSum('amount');
    const [row] = await select({ computed: { total: ['text', total] } }).rows(
      handle,
      `${rows} group by chain_id`,
      bindings,
    );
    return row === undefined ? 0n : uintSumOf(row.total);
  };

  return {
    /** Amount of a token of an organization that lies on its deposit addresses of a chain, as far as it is known. */
    async unsweptOf({ organizationId, mode, chainId, tokenAddress }: HeldToken): Promise<bigint> {
      const [row] = await select({
        computed: {
          received: ['text', handle.dialect.exactSum('amount_received')],
          swept: ['text', handle.dialect.exactSum('amount_swept')],
        },
      }).rows(
        handle,
        `from deposit_addresses where organization_id = ? and mode = ? and chain_id = ? and token_address = ?
           and amount_received > amount_swept group by chain_id`,
        [organizationId, mode, chainId, tokenAddress],
      );
      return row === undefined ? 0n : uintSumOf(row.received) - uintSumOf(row.swept);
    },

    /**
     * Adds up the sums of those of many addresses that were issued on a chain. Belongs into the transaction of each change
     * of their payments, transfers and sweeps.
     */
    async recount(chainId: number, addresses: readonly string[]): Promise<void> {
      const asked = [...new Set(addresses)];
      if (asked.length === 0) return;
      const rows = await select({ from: 'deposit_addresses', columns: ['address', 'token_address'] }).rows(
        handle,
        `where chain_id = ? and address in (${placeholders(asked.length)})`,
        [chainId, ...asked],
      );
      for (const { address, token_address: token } of rows) {
        const at = [address, token, chainId];
        const received = (await sumOf(PAYMENTS, at)) + (await sumOf(TRANSFERS, at));
        const tokens = tokensSweptWith(chainId, token);
        const swept = await sumOf(
          `from sweeps where address = ? and chain_id = ? and token_address in (${placeholders(tokens.length)})`,
          [address, chainId, ...tokens],
        );
        await execute(
          handle,
          'update deposit_addresses set amount_received = ?, amount_swept = ? where address = ?',
          [uintColumn(received), uintColumn(swept), address],
        );
      }
    },
  };
}
