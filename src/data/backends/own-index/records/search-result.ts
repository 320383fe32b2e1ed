import type { Address, Hash } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { BlockRow } from '#indexer/read/blocks/blocks.ts';
import { checksummed, timestamp } from '../parts/format.ts';
import type { Parties } from '../parts/parties.ts';

/** What a search names outright. `timestamp` is null while the transaction waits. */
export type ExactMatch =
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'block'; readonly row: BlockRow }
  | { readonly kind: 'transaction'; readonly hash: Hash; readonly timestamp: number | null };

type Result = ExplorerSchemas['SearchResult'];

/** Nothing weighs more than anything else: the order of a page is all there is. */
const PRIORITY = 0;

/** What an address is to a search: a token, if it is one, and itself. */
export function addressResults(address: Address, parties: Parties): Result[] {
  return [...tokenResults(address, parties), addressResult(address, parties)];
}

/** A token; none when there is no token at the address any more. */
export function tokenResults(address: Address, parties: Parties): Result[] {
  const token = parties.token(address);
  if (token === null) return [];
  return [
    {
      type: 'token',
      name: token.name,
      symbol: token.symbol,
      address_hash: token.address,
      token_type: token.type,
      token_url: `/token/${token.address}`,
      address_url: `/address/${token.address}`,
      icon_url: token.icon_url,
      is_smart_contract_verified: parties.address(address).is_verified,
      is_verified_via_admin_panel: null,
      exchange_rate: token.exchange_rate,
      total_supply: token.total_supply,
      circulating_market_cap: token.circulating_market_cap,
      priority: PRIORITY,
    },
  ];
}

export function addressResult(address: Address, parties: Parties): Result {
  const { name, is_contract: isContract, is_verified: isVerified } = parties.address(address);
  return {
    type: isContract === true ? 'contract' : 'address',
    name,
    address_hash: checksummed(address),
    url: `/address/${checksummed(address)}`,
    is_smart_contract_verified: isVerified,
    ens_info: null,
    priority: PRIORITY,
  };
}

/** A block or a transaction; an orphaned block has a page by its hash only. */
export function blockOrTransactionResult(match: Exclude<ExactMatch, { kind: 'address' }>): Result {
  if (match.kind === 'transaction') {
    return {
      type: 'transaction',
      transaction_hash: match.hash,
      url: `/tx/${match.hash}`,
      timestamp: match.timestamp === null ? null : timestamp(match.timestamp),
      priority: PRIORITY,
    };
  }
  const { row } = match;
  return {
    type: 'block',
    block_number: row.number,
    block_hash: row.hash,
    block_type: row.isCanonical ? 'block' : 'reorg',
    url: `/block/${row.isCanonical ? row.number : row.hash}`,
    timestamp: timestamp(row.timestamp),
    priority: PRIORITY,
  };
}

/** Where a search that names one thing leads; nulls where it names none. Decision 30. */
export function redirectRecord(match: ExactMatch | null): ExplorerSchemas['SearchRedirect'] {
  if (match === null) return { redirect: false, type: null, parameter: null };
  switch (match.kind) {
    case 'address':
      return { redirect: true, type: 'address', parameter: checksummed(match.address) };
    case 'block':
      return { redirect: true, type: 'block', parameter: match.row.hash };
    case 'transaction':
      return { redirect: true, type: 'transaction', parameter: match.hash };
  }
}
