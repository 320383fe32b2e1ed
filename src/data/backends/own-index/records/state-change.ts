import type { Address } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { CoinChange } from '#node/node-reads.ts';
import { amount } from '../parts/format.ts';
import type { Parties } from '../parts/parties.ts';
import type { Balances } from '../parts/token-balances.ts';
import type { TokenChange } from '../parts/token-changes.ts';

type StateChange = ExplorerSchemas['StateChange'];

/** How a transaction changed a balance of the native coin. */
export function coinChange(
  { address, before, after }: CoinChange,
  { parties, miner }: { parties: Parties; miner: Address },
): StateChange {
  return {
    address: parties.address(address),
    is_miner: address === miner,
    type: 'coin',
    token: null,
    token_id: null,
    balance_before: before.toString(),
    balance_after: after.toString(),
    change: (after - before).toString(),
  };
}

/** How a transaction changed a balance of a token. The ids of ERC-721 are in `change`. */
export function tokenChange(
  { token, tokenType, holder, tokenId, difference, nfts }: TokenChange,
  { parties, miner, balances }: { parties: Parties; miner: Address; balances: Balances | null },
): StateChange {
  const moved = balances === null ? difference : balances.after - balances.before;
  return {
    address: parties.address(holder),
    is_miner: holder === miner,
    type: 'token',
    token: parties.token(token),
    token_id: amount(tokenId),
    balance_before: amount(balances?.before ?? null),
    balance_after: amount(balances?.after ?? null),
    change:
      tokenType === 'ERC-721'
        ? nfts.map(nft => ({ direction: nft.direction, total: { token_id: nft.tokenId.toString() } }))
        : moved.toString(),
  };
}
