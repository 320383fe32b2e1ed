import type { Address } from 'viem';
import { bytesColumn, type RowOf, uintColumn } from '../../db/columns.ts';
import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { JudgedBlock } from '../fetch/fetched-block.ts';
import type { DIRTY_MARK_COLUMNS, MOVED_TOKEN_COLUMNS } from '../schema/columns.ts';
import { coinOf, type Dirty, dirtyRow, instanceOf, tokenBalanceOf, tokenOf } from '../schema/stale-state.ts';
import { tokenTypeColumn } from '../schema/transaction-types.ts';
import type { InternalCall } from './internal-transactions.ts';
import type { TokenTransfer } from './token-transfers.ts';
import type { Withdrawal } from './withdrawals.ts';

/** Tokens that moved in a block, and all state that the block may have changed, without duplicates. */
export function touchedBy(content: BlockContent): {
  tokens: RowOf<typeof MOVED_TOKEN_COLUMNS>[];
  dirty: RowOf<typeof DIRTY_MARK_COLUMNS>[];
} {
  const tokens = new Map<Address, RowOf<typeof MOVED_TOKEN_COLUMNS>>();
  const dirty = new Map<string, Dirty>();
  const mark = (entry: Dirty) => dirty.set(Object.values(entry).join(), entry);

  for (const address of coinAddresses(content)) mark(coinOf(address));
  for (const { token, type, from, to, tokenId } of content.transfers) {
    const isNew = !tokens.has(token);
    if (isNew) {
      const { number } = content.fetched;
      tokens.set(token, { address: bytesColumn(token), type: tokenTypeColumn(type), first_block: number });
    }
    // The supply changes only by minting and burning. A new token is read completely in any case.
    if (isNew || from === ZERO_ADDRESS || to === ZERO_ADDRESS) mark(tokenOf(token));
    if (type === 'ERC-721' && tokenId !== null) mark(instanceOf(token, uintColumn(tokenId)));
    for (const holder of [from, to]) {
      if (holder === ZERO_ADDRESS) continue;
      const id = type === 'ERC-1155' && tokenId !== null ? uintColumn(tokenId) : '';
      mark(tokenBalanceOf({ token, holder, tokenId: id }));
    }
  }
  return {
    tokens: [...tokens.values()],
    dirty: [...dirty.values()].map(entry => dirtyRow(entry, content.fetched.number)),
  };
}

/** Addresses that may have gained or lost coins or become a contract. */
function coinAddresses({ fetched, transfers, internals, withdrawals }: BlockContent): Set<Address> {
  const addresses = new Set<Address>();
  const add = (address: Address | null | undefined) => {
    if (address !== null && address !== undefined) addresses.add(address);
  };
  add(fetched.block.miner);
  for (const { transaction, receipt } of fetched.transactions) {
    add(transaction.from);
    add(transaction.to);
    add(receipt?.contractAddress);
    for (const { address } of receipt?.logs ?? []) add(address);
  }
  for (const { from, to, createdContract } of internals) {
    add(from);
    add(to);
    add(createdContract);
  }
  for (const { from, to } of transfers) {
    add(from);
    add(to);
  }
  for (const { address } of withdrawals) add(address);
  for (const address of fetched.touched) add(address);
  return addresses;
}

/** Contents of a block, decoded but not yet in the form of rows. */
export interface BlockContent {
  fetched: JudgedBlock;
  transfers: TokenTransfer[];
  internals: InternalCall[];
  withdrawals: Withdrawal[];
}
