import type { Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import type { Mode, Owner } from '../model/owner.ts';
import type { Place } from '../model/place.ts';

/** Where transfers are looked for: every place that a session was ever opened for. */
export interface WatchedStore {
  /** Repeating it changes nothing. */
  watch(owner: Owner, place: Place): Promise<void>;
  /** Each once, however many are paid there. */
  recipients(chainId: number): Promise<Place[]>;
  /** Who has or had sessions there. */
  ownersOf(place: Place): Promise<Owner[]>;
}

export function watchedStore(handle: Handle): WatchedStore {
  return {
    async watch({ organizationId, mode }, { chainId, tokenAddress, recipientAddress }) {
      await execute(
        handle,
        `insert into watched_recipients (organization_id, mode, chain_id, token_address, recipient_address)
         values (?, ?, ?, ?, ?) on conflict do nothing`,
        [organizationId, mode, chainId, tokenAddress, recipientAddress],
      );
    },

    async recipients(chainId) {
      const rows = await rowsOf<{ token_address: string; recipient_address: string }>(
        handle,
        `select distinct token_address, recipient_address from watched_recipients
         where chain_id = ? order by token_address, recipient_address`,
        [chainId],
      );
      return rows.map(row => ({
        chainId,
        tokenAddress: row.token_address,
        recipientAddress: row.recipient_address,
      }));
    },

    async ownersOf({ chainId, tokenAddress, recipientAddress }) {
      const rows = await rowsOf<{ organization_id: string; mode: Mode }>(
        handle,
        `select organization_id, mode from watched_recipients
         where chain_id = ? and token_address = ? and recipient_address = ? order by organization_id, mode`,
        [chainId, tokenAddress, recipientAddress],
      );
      return rows.map(row => ({ organizationId: row.organization_id, mode: row.mode }));
    },
  };
}
